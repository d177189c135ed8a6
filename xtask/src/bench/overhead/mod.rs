//! Overhead of `runner run` over the service's own time: real processes, real HTTP, real videos, a durable ledger.
//!
//! The service runs in this process and the runner in a child process, so that the runner's CPU time can be measured separately.

mod service;

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use service::StubService;

/// Clock ticks per second (`USER_HZ`), the unit of CPU time in proc(5).
const TICKS_PER_SECOND: f64 = 100.0;

struct Workload {
    name: &'static str,
    tasks: usize,
    /// Whether each shot continues the one before.
    chained: bool,
    /// Tasks that the service renders in parallel; the others are queued there, first in, first out.
    parallel: usize,
    /// The runner's limit on tasks in flight: larger than `parallel`, so that the service never idles.
    jobs: usize,
    render_time: Duration,
    /// Upper bound of the median makespan, as a multiple of the service's own time.
    max_ratio: f64,
    /// Upper bound of the runner's median CPU time, in seconds.
    max_cpu: Option<f64>,
    /// Repetitions.
    runs: usize,
}

impl Workload {
    /// Makespan that the service alone needs, in seconds.
    fn baseline(&self) -> f64 {
        let rounds = if self.chained { self.tasks as f64 } else { self.tasks as f64 / self.parallel as f64 };
        rounds * self.render_time.as_secs_f64()
    }

    fn cpu_bound(&self) -> String {
        self.max_cpu.map(|bound| format!(" of CPU time (bound {bound})")).unwrap_or_default()
    }
}

const WORKLOADS: [Workload; 2] = [
    Workload {
        name: "1,000 tasks of 50 ms, 64 at once",
        tasks: 1_000,
        chained: false,
        parallel: 64,
        jobs: 128,
        render_time: Duration::from_millis(50),
        max_ratio: 1.25,
        max_cpu: Some(1.5),
        runs: 5,
    },
    Workload {
        name: "a chain of 20 tasks of 0.5 s",
        tasks: 20,
        chained: true,
        parallel: 64,
        jobs: 64,
        render_time: Duration::from_millis(500),
        max_ratio: 1.05,
        max_cpu: None,
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
    let (mut report, mut exceeded) = (String::new(), false);
    // Kept until the end: ext4 does not reuse freed blocks immediately, and removing the files of one run slows the next.
    let mut projects = Vec::new();
    for workload in &WORKLOADS {
        let baseline = workload.baseline();
        let mut runs = Vec::new();
        for _ in 0..workload.runs {
            let service = runtime.block_on(StubService::start(workload.parallel, workload.render_time))?;
            let project = tempfile::tempdir().map_err(|error| error.to_string())?;
            let run = run(workload, &service, project.path())?;
            projects.push(project);
            let calls = service.calls();
            let (first, last) = service.busy_interval();
            let ratio = run.elapsed.as_secs_f64() / baseline;
            let _ = writeln!(
                report,
                "{}: {:.3} s, {ratio:.3} x the service's own {baseline:.3} s, {:.2} s of CPU time; {} POSTs, {} polls, {} downloads; \
                 {:.3} s until the first task was accepted, {:.3} s until the last one ended, {:.3} s after it",
                workload.name,
                run.elapsed.as_secs_f64(),
                run.cpu,
                calls.posts,
                calls.polls,
                calls.downloads,
                first.duration_since(run.started).as_secs_f64(),
                last.duration_since(first).as_secs_f64(),
                (run.started + run.elapsed).duration_since(last).as_secs_f64(),
            );
            exceeded |= calls.posts != workload.tasks;
            runs.push((ratio, run.cpu));
        }
        let ratio = median(runs.iter().map(|(ratio, _)| *ratio));
        let cpu = median(runs.iter().map(|(_, cpu)| *cpu));
        let _ = writeln!(
            report,
            "  median: {ratio:.3} x (bound {}), {cpu:.2} s{}",
            workload.max_ratio,
            workload.cpu_bound()
        );
        exceeded |= ratio > workload.max_ratio || workload.max_cpu.is_some_and(|bound| cpu > bound);
    }
    if exceeded { Err(report) } else { Ok(report) }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// One `runner run`.
struct Run {
    started: Instant,
    /// From the start of its process to its end.
    elapsed: Duration,
    /// CPU time in seconds.
    cpu: f64,
}

fn run(workload: &Workload, service: &StubService, project: &Path) -> Result<Run, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?.with_file_name("runner");
    fs_err::write(project.join("load.yaml"), workflow(workload)).map_err(|error| error.to_string())?;
    let cpu_before = children_cpu_seconds()?;
    let started = Instant::now();
    let output = Command::new(program)
        .args(["run", "load.yaml", "--jobs", &workload.jobs.to_string(), "--format", "json"])
        .current_dir(project)
        .env("RUNNER_BASE_URL", service.base_url())
        .env("RUNNER_API_KEY", "sk-bench")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    let elapsed = started.elapsed();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(Run { started, elapsed, cpu: children_cpu_seconds()? - cpu_before })
}

fn workflow(workload: &Workload) -> String {
    let mut text = String::from(
        "version: 1\nname: load\ndefaults: { model: modela-video-2-0-260128, seconds: 4, resolution: 480p, ratio: \"16:9\" }\nshots:\n",
    );
    if workload.chained {
        for shot in 0..workload.tasks {
            let _ = writeln!(text, "  - id: s{shot}\n    prompt: \"a harbour, scene {shot}\"");
            if shot > 0 {
                let _ = writeln!(text, "    continues: s{}", shot - 1);
            }
        }
    } else {
        let _ = writeln!(
            text,
            "  - id: shot\n    prompt: \"a harbour, take {{{{ number }}}}\"\n    matrix:\n      number: {{ from: 1, to: {} }}",
            workload.tasks
        );
    }
    text
}

/// CPU seconds of the child processes that were waited for (proc(5), fields 16 and 17 of `stat`).
fn children_cpu_seconds() -> Result<f64, String> {
    let stat =
        std::fs::read_to_string("/proc/self/stat").map_err(|error| format!("{error}; this needs Linux"))?;
    // The process name in parentheses may contain blanks and parentheses.
    let fields: Vec<&str> =
        stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().collect()).unwrap_or_default();
    let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<f64>().ok());
    match (ticks(13), ticks(14)) {
        (Some(user), Some(system)) => Ok((user + system) / TICKS_PER_SECOND),
        _ => Err("/proc/self/stat has an unexpected format".to_owned()),
    }
}
