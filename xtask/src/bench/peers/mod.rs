//! The same work through what people use today and through `runner`, against one stub of the service: makespan, CPU time, memory, polls, and
//! what is lost or paid for twice.

mod tools;
mod workloads;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use self::tools::Tool;
use self::workloads::{WORKLOADS, Workload};
use super::process::{self, Usage};
use super::stub::{self, StubService};
use super::{median, runtime};

/// A run that takes longer is killed.
const TIMEOUT: Duration = Duration::from_mins(10);

#[derive(Debug, Args)]
pub(crate) struct Peers {
    /// Only this workload, such as `W1`.
    #[arg(long)]
    workload: Option<String>,
    /// Only these tools, such as `runner` or `httpx`.
    #[arg(long, num_args = 1..)]
    tools: Vec<String>,
    /// Repetitions of each run.
    #[arg(long, default_value_t = 3)]
    runs: usize,
}

/// What one run of a tool came to.
struct Outcome {
    /// The makespan as a multiple of what the service alone needs.
    ratio: f64,
    usage: Usage,
    polls: usize,
    /// Tasks without their video on disk.
    missing: usize,
    /// Accepted tasks beyond the first of the same work.
    paid_again: usize,
}

pub(super) fn measure(root: &Path, args: &Peers) -> Result<String, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let workloads: Vec<&Workload> = WORKLOADS
        .iter()
        .filter(|workload| args.workload.as_ref().is_none_or(|name| workload.name == name))
        .collect();
    if workloads.is_empty() || args.runs == 0 {
        let names: Vec<&str> = WORKLOADS.iter().map(|workload| workload.name).collect();
        return Err(format!("there is nothing to run; the workloads are {}", names.join(", ")));
    }
    let mut report = String::new();
    let mut tools = Vec::new();
    for (name, tool) in tools::prepare(root, folder.path()) {
        if !args.tools.is_empty() && !args.tools.iter().any(|selected| selected == name) {
            continue;
        }
        match tool {
            Ok(tool) => tools.push(tool),
            Err(reason) => {
                let _ = writeln!(report, "{name} is NOT measured: {reason}");
            }
        }
    }
    let runtime = runtime()?;
    let mut violations = 0;
    for workload in workloads {
        let _ = writeln!(
            report,
            "\n{}: {}; the service alone needs {:.1} s\n",
            workload.name,
            workload.text,
            workload.service.makespan()
        );
        report.push_str(
            "| tool | makespan, times the bound | CPU time | memory | polls | missing | paid again |\n|---|---|---|---|---|---|---|\n",
        );
        for tool in tools.iter().filter(|tool| tool.can(workload)) {
            let mut outcomes = Vec::new();
            for run in 0..args.runs {
                let directory = folder.path().join(format!("{}-{}-{run}", workload.name, tool.name));
                fs_err::create_dir_all(&directory).map_err(|error| error.to_string())?;
                let service = runtime.block_on(StubService::start(workload.service))?;
                outcomes.push(run_once(tool, workload, &service, &directory)?);
            }
            let row = row(tool.name, &outcomes);
            eprint!("{} {row}", workload.name);
            report.push_str(&row);
            if tool.name == tools::RUNNER {
                violations += outcomes.iter().map(|outcome| outcome.paid_again).sum::<usize>();
            }
        }
    }
    if violations > 0 {
        return Err(format!("{report}\n`runner` paid {violations} times again"));
    }
    Ok(report)
}

fn run_once(
    tool: &Tool,
    workload: &Workload,
    service: &StubService,
    directory: &Path,
) -> Result<Outcome, String> {
    let out = directory.join("out");
    fs_err::create_dir_all(&out).map_err(|error| error.to_string())?;
    let start = || tool.command(workload, service.base_url(), directory, &out);
    let usage = match workload.kill_after {
        None => process::run(&mut start()?, TIMEOUT)?,
        Some(after) => {
            let first = process::run(&mut start()?, after)?;
            first.and(process::run(&mut start()?, TIMEOUT)?)
        }
    };
    let numbers = videos(&out)?;
    let missing = (0..workload.service.tasks).filter(|number| !numbers.contains(number)).count();
    let counts = service.counts();
    Ok(Outcome {
        ratio: usage.elapsed.as_secs_f64() / workload.service.makespan(),
        usage,
        polls: counts.polls,
        missing,
        paid_again: counts.paid_again,
    })
}

/// The numbers of the tasks whose videos are in a folder and those below it.
fn videos(folder: &Path) -> Result<BTreeSet<usize>, String> {
    let text = |error: std::io::Error| error.to_string();
    let mut numbers = BTreeSet::new();
    let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder).map_err(text)? {
            let entry = entry.map_err(text)?;
            let path = entry.path();
            if entry.file_type().map_err(text)?.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "mp4") {
                numbers.extend(stub::number_in(&fs_err::read(&path).map_err(text)?));
            }
        }
    }
    Ok(numbers)
}

/// A row of the table: medians, and the smallest and the largest makespan.
fn row(name: &str, outcomes: &[Outcome]) -> String {
    let median_of = |value: &dyn Fn(&Outcome) -> f64| median(outcomes.iter().map(value));
    let ratios = || outcomes.iter().map(|outcome| outcome.ratio);
    let range = |value: &dyn Fn(&Outcome) -> usize| {
        let values = || outcomes.iter().map(value);
        let (min, max) = (values().min().unwrap_or_default(), values().max().unwrap_or_default());
        if min == max { min.to_string() } else { format!("{min} to {max}") }
    };
    format!(
        "| {name} | {:.2} ({:.2} to {:.2}) | {:.1} s | {:.0} MB | {:.0} | {} | {} |\n",
        median_of(&|outcome| outcome.ratio),
        ratios().fold(f64::INFINITY, f64::min),
        ratios().fold(0.0, f64::max),
        median_of(&|outcome| outcome.usage.cpu),
        median_of(&|outcome| outcome.usage.megabytes),
        median_of(&|outcome| outcome.polls as f64),
        range(&|outcome| outcome.missing),
        range(&|outcome| outcome.paid_again),
    )
}
