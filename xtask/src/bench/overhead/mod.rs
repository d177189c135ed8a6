//! What the runner adds to the time that a service imposes: real processes, real HTTP, real videos, a durable ledger.
//!
//! The service is in this process and the runner in one of its own, so that its processor time can be told apart.

mod service;

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use service::Plain;

/// Ticks of the kernel's clock a second, as Linux tells processor time.
const TICKS: f64 = 100.0;

struct Load {
    name: &'static str,
    tasks: usize,
    /// Whether each shot continues the one before.
    chained: bool,
    /// How many the service renders at once; the others wait there in order.
    at_once: usize,
    /// How many the runner keeps out: more, so that the service never waits for it.
    jobs: usize,
    takes: Duration,
    /// The median makespan may be this many times what the service imposes.
    bound: f64,
    /// Seconds of processor time that the runner may take, in the median.
    cpu: Option<f64>,
    /// How often it is run.
    runs: usize,
}

impl Load {
    /// Seconds that the service needs for it, whoever asks.
    fn imposed(&self) -> f64 {
        let rounds = if self.chained { self.tasks as f64 } else { self.tasks as f64 / self.at_once as f64 };
        rounds * self.takes.as_secs_f64()
    }

    fn told_cpu(&self) -> String {
        self.cpu.map(|bound| format!(" of processor time (bound {bound})")).unwrap_or_default()
    }
}

const LOADS: [Load; 2] = [
    Load {
        name: "1,000 tasks of 50 ms, 64 at once",
        tasks: 1_000,
        chained: false,
        at_once: 64,
        jobs: 128,
        takes: Duration::from_millis(50),
        bound: 1.25,
        cpu: Some(1.5),
        runs: 5,
    },
    Load {
        name: "a chain of 20 tasks of 0.5 s",
        tasks: 20,
        chained: true,
        at_once: 64,
        jobs: 64,
        takes: Duration::from_millis(500),
        bound: 1.05,
        cpu: None,
        runs: 1,
    },
];

pub(super) fn measure(root: &Path) -> Result<String, String> {
    let cargo = ["build", "--release", "--quiet", "-p", "runner"];
    let built = Command::new("cargo").args(cargo).current_dir(root).status();
    if !built.map_err(|error| error.to_string())?.success() {
        return Err("the runner cannot be built".to_owned());
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let (mut said, mut broken) = (String::new(), false);
    // Until the end, so that no run has to look for room among the files that one before it left (ext4 does not give out at once what is freed).
    let mut projects = Vec::new();
    for load in &LOADS {
        let imposed = load.imposed();
        let mut runs = Vec::new();
        for _ in 0..load.runs {
            let service = runtime.block_on(Plain::start(load.at_once, load.takes))?;
            let project = tempfile::tempdir().map_err(|error| error.to_string())?;
            let run = run(load, &service, project.path())?;
            projects.push(project);
            let calls = service.calls();
            let (first, last) = service.busy();
            let ratio = run.took.as_secs_f64() / imposed;
            let _ = writeln!(
                said,
                "{}: {:.3} s, {ratio:.3} x the {imposed:.3} s that the service imposes, {:.2} s of processor time; {} POSTs, {} polls, {} downloads; \
                 {:.3} s until the first task was accepted, {:.3} s until the last one ended, {:.3} s after it",
                load.name,
                run.took.as_secs_f64(),
                run.cpu,
                calls.posts,
                calls.polls,
                calls.downloads,
                first.duration_since(run.started).as_secs_f64(),
                last.duration_since(first).as_secs_f64(),
                (run.started + run.took).duration_since(last).as_secs_f64(),
            );
            broken |= calls.posts != load.tasks;
            runs.push((ratio, run.cpu));
        }
        let ratio = median(runs.iter().map(|(ratio, _)| *ratio));
        let cpu = median(runs.iter().map(|(_, cpu)| *cpu));
        let _ =
            writeln!(said, "  median: {ratio:.3} x (bound {}), {cpu:.2} s{}", load.bound, load.told_cpu());
        broken |= ratio > load.bound || load.cpu.is_some_and(|bound| cpu > bound);
    }
    if broken { Err(said) } else { Ok(said) }
}

fn median(of: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = of.collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// One `runner run`.
struct Run {
    started: Instant,
    /// From the start of its process to its end.
    took: Duration,
    /// Seconds of processor time.
    cpu: f64,
}

fn run(load: &Load, service: &Plain, project: &Path) -> Result<Run, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?.with_file_name("runner");
    fs_err::write(project.join("load.yaml"), workflow(load)).map_err(|error| error.to_string())?;
    let cpu_before = cpu_of_children()?;
    let started = Instant::now();
    let ended = Command::new(program)
        .args(["run", "load.yaml", "--jobs", &load.jobs.to_string(), "--format", "json"])
        .current_dir(project)
        .env("RUNNER_BASE_URL", service.base_url())
        .env("RUNNER_API_KEY", "sk-bench")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    let took = started.elapsed();
    if !ended.status.success() {
        return Err(String::from_utf8_lossy(&ended.stderr).into_owned());
    }
    Ok(Run { started, took, cpu: cpu_of_children()? - cpu_before })
}

fn workflow(load: &Load) -> String {
    let mut text = String::from(
        "version: 1\nname: load\ndefaults: { model: modela-video-2-0-260128, seconds: 4, resolution: 480p, ratio: \"16:9\" }\nshots:\n",
    );
    if load.chained {
        for shot in 0..load.tasks {
            let _ = writeln!(text, "  - id: s{shot}\n    prompt: \"a harbour, scene {shot}\"");
            if shot > 0 {
                let _ = writeln!(text, "    continues: s{}", shot - 1);
            }
        }
    } else {
        let _ = writeln!(
            text,
            "  - id: shot\n    prompt: \"a harbour, take {{{{ number }}}}\"\n    matrix:\n      number: {{ from: 1, to: {} }}",
            load.tasks
        );
    }
    text
}

/// Seconds of processor time of this process's children that have ended, as Linux tells it (proc(5), fields 16 and 17 of `stat`).
fn cpu_of_children() -> Result<f64, String> {
    let stat =
        std::fs::read_to_string("/proc/self/stat").map_err(|error| format!("{error}; this needs Linux"))?;
    // The name before the closing parenthesis may hold anything.
    let fields: Vec<&str> =
        stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().collect()).unwrap_or_default();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok());
    match (ticks(13), ticks(14)) {
        (Some(user), Some(system)) => Ok((user + system) / TICKS),
        _ => Err("/proc/self/stat has another form".to_owned()),
    }
}
