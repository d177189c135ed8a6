//! `runner run` against a service that only waits: real processes, real HTTP, real videos, a durable ledger. CPU time of polling, tasks as many
//! as the service renders at once, and a hundred thousand tasks.
//!
//! The service runs in this process and the runner in a child process, so that the runner's CPU time can be measured separately.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::process::{self, Usage};
use super::stub::{self, RenderTime, Settings, StubService};
use super::{median, runtime};
use crate::release::release_runner;

/// A run that takes longer is killed.
const TIMEOUT: Duration = Duration::from_mins(20);

/// A run to measure, with upper bounds of the medians.
struct Workload {
    name: &'static str,
    /// As many tasks are in flight as it renders at once.
    service: Settings,
    /// Repetitions.
    runs: usize,
    /// A rate of polls (`--max-polls-per-second`) of further runs, as many: the difference of the CPU time is the cost of polling.
    few_polls_per_second: Option<u32>,
    /// The makespan, as a multiple of the service's own time.
    max_ratio: f64,
    /// CPU time of the runner, and that of polling, in seconds.
    max_cpu: f64,
    /// Peak resident memory of the runner, in megabytes.
    max_megabytes: f64,
}

const WORKLOADS: [Workload; 4] = [
    Workload {
        name: "200 tasks, lognormal with median 2 s and sigma 0.5, 32 at once",
        service: Settings::plain(200, 32, RenderTime::Lognormal { median: 2.0, sigma: 0.5 }),
        runs: 3,
        few_polls_per_second: Some(25),
        max_ratio: 1.05,
        max_cpu: 0.25,
        max_megabytes: f64::INFINITY,
    },
    Workload {
        name: "1,000 tasks of 50 ms, 64 at once and 64 out",
        service: Settings::plain(1_000, 64, RenderTime::Fixed(Duration::from_millis(50))),
        runs: 5,
        few_polls_per_second: None,
        max_ratio: 1.25,
        max_cpu: f64::INFINITY,
        max_megabytes: f64::INFINITY,
    },
    Workload {
        name: "20,000 tasks of 1 s, 1,000 at once and 1,000 out",
        service: Settings::plain(20_000, 1_000, RenderTime::Fixed(Duration::from_secs(1))),
        runs: 1,
        few_polls_per_second: None,
        max_ratio: 1.10,
        max_cpu: f64::INFINITY,
        max_megabytes: 400.0,
    },
    Workload {
        name: "100,000 tasks of 6 s, 5,000 at once and 5,000 out",
        service: Settings::plain(100_000, 5_000, RenderTime::Fixed(Duration::from_secs(6))),
        runs: 1,
        few_polls_per_second: None,
        max_ratio: 1.10,
        max_cpu: f64::INFINITY,
        max_megabytes: 400.0,
    },
];

/// Medians of runs, or one of them.
struct Figures {
    ratio: f64,
    cpu: f64,
    megabytes: f64,
    polls: f64,
}

impl Figures {
    fn median(runs: &[Self]) -> Self {
        let median_of = |figure: fn(&Self) -> f64| median(runs.iter().map(figure));
        Self {
            ratio: median_of(|run| run.ratio),
            cpu: median_of(|run| run.cpu),
            megabytes: median_of(|run| run.megabytes),
            polls: median_of(|run| run.polls),
        }
    }
}

pub(super) fn measure(root: &Path, only: Option<usize>) -> Result<String, String> {
    let workloads = match only {
        Some(number) => WORKLOADS.get(number.wrapping_sub(1)..number).ok_or("there is no such workload")?,
        None => &WORKLOADS,
    };
    let (program, runtime) = (release_runner(root)?, runtime()?);
    let (mut report, mut is_exceeded) = (String::new(), false);
    let folder = spread_folder()?;
    // Kept until the end: ext4 does not reuse freed blocks immediately, and removing the files of one run slows the next.
    let mut projects = Vec::new();
    for workload in workloads {
        let Workload { name, service: settings, .. } = workload;
        let baseline = settings.makespan();
        let mut measured = |few_polls: Option<u32>| -> Result<Figures, String> {
            let service = runtime.block_on(StubService::start(*settings))?;
            let project = tempfile::tempdir_in(folder.path()).map_err(|error| error.to_string())?;
            let usage = run(&program, settings, few_polls, &service, project.path())?;
            projects.push(project);
            let (seconds, counts) = (usage.elapsed.as_secs_f64(), service.counts());
            let ratio = seconds / baseline;
            let _ = writeln!(
                report,
                "{name}: {seconds:.3} s, {ratio:.3} x the service's own {baseline:.3} s, {:.2} s of CPU time, {:.0} MB; {} POSTs, {} polls; \
                 ends seen after {:.1} ms",
                usage.cpu,
                usage.megabytes,
                counts.accepted,
                counts.polls,
                service.mean_lag().as_secs_f64() * 1e3,
            );
            is_exceeded |= counts.accepted != settings.tasks;
            Ok(Figures { ratio, cpu: usage.cpu, megabytes: usage.megabytes, polls: counts.polls as f64 })
        };
        // One after the other, so that both series find the same machine.
        let (mut runs, mut fewer) = (Vec::new(), Vec::new());
        for _ in 0..workload.runs {
            runs.push(measured(None)?);
            if workload.few_polls_per_second.is_some() {
                fewer.push(measured(workload.few_polls_per_second)?);
            }
        }
        let (median, max_cpu) = (Figures::median(&runs), workload.max_cpu);
        let _ = writeln!(
            report,
            "  median: {:.3} x (bound {}), {:.2} s of CPU time (bound {max_cpu}), {:.0} MB (bound {})",
            median.ratio, workload.max_ratio, median.cpu, median.megabytes, workload.max_megabytes
        );
        is_exceeded |= median.ratio > workload.max_ratio
            || median.cpu > max_cpu
            || median.megabytes > workload.max_megabytes;
        if !fewer.is_empty() {
            let fewer = Figures::median(&fewer);
            let each = (median.cpu - fewer.cpu) / (median.polls - fewer.polls);
            let polling = each * median.polls;
            let _ = writeln!(
                report,
                "  polling: {polling:.2} s of CPU time (bound {max_cpu}), {:.3} ms for each of {} polls; with {} polls the run takes {:.2} s of CPU time",
                each * 1e3,
                median.polls,
                fewer.polls,
                fewer.cpu,
            );
            is_exceeded |= polling > max_cpu;
        }
    }
    if is_exceeded { Err(report) } else { Ok(report) }
}

/// A folder below which ext4 spreads folders over the disk (`chattr +T`), where that can be set. Otherwise they lie together, and new files
/// have to get past the inodes that earlier benchmarks have freed, which are not used again for minutes.
fn spread_folder() -> Result<tempfile::TempDir, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    // Other file systems neither know the attribute nor need it.
    let _ = Command::new("chattr").arg("+T").arg(folder.path()).stderr(Stdio::null()).status();
    Ok(folder)
}

fn run(
    program: &Path,
    settings: &Settings,
    few_polls: Option<u32>,
    service: &StubService,
    project: &Path,
) -> Result<Usage, String> {
    let errors = project.join("errors");
    let file = fs_err::File::create(&errors).map_err(|error| error.to_string())?.into_file();
    fs_err::write(project.join("load.yaml"), stub::workflow(settings)).map_err(|error| error.to_string())?;
    let mut runner = Command::new(program);
    runner
        .args(["run", "load.yaml", "--jobs", &settings.parallel.to_string(), "--format", "json"])
        .args(few_polls.map(|rate| format!("--max-polls-per-second={rate}")))
        .current_dir(project)
        .env("RUNNER_BASE_URL", service.base_url())
        .env("RUNNER_API_KEY", stub::KEY)
        .stderr(file);
    let usage = process::run(&mut runner, TIMEOUT)?;
    if usage.status.success() {
        Ok(usage)
    } else {
        Err(fs_err::read_to_string(errors).map_err(|error| error.to_string())?)
    }
}
