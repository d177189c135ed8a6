//! `runner run` under load, against a service that only waits: real processes, real HTTP, real videos, a durable ledger.
//!
//! The service runs in this process and the runner in a child process, so that the runner's CPU time can be measured separately.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::polling::Rng;
use super::stub::{Settings, StubService};
use crate::release::release_runner;

/// Clock ticks per second (`USER_HZ`), the unit of CPU time in proc(5).
const TICKS_PER_SECOND: f64 = 100.0;

/// A run to measure.
pub(super) struct Workload {
    pub(super) name: &'static str,
    pub(super) tasks: usize,
    /// Whether each shot continues the one before.
    pub(super) chained: bool,
    /// Tasks that the service renders in parallel; the others are queued there, first in, first out.
    pub(super) parallel: usize,
    /// The runner's limit on tasks in flight. With more than `parallel` the service never idles.
    pub(super) jobs: usize,
    pub(super) render_time: RenderTime,
    pub(super) bounds: Bounds,
    /// Repetitions.
    pub(super) runs: usize,
    /// A rate of polls (`--max-polls-per-second`) of further runs, as many: the difference of the CPU time is the cost of polling.
    pub(super) few_polls_per_second: Option<u32>,
}

/// How long the service renders a task.
pub(super) enum RenderTime {
    Fixed(Duration),
    /// Median in seconds, and standard deviation of the logarithm; the same sequence in each run.
    Lognormal {
        median: f64,
        sigma: f64,
    },
}

impl RenderTime {
    /// The render times of the first `count` tasks.
    pub(super) fn sequence(&self, count: usize) -> Vec<Duration> {
        match *self {
            Self::Fixed(time) => vec![time; count],
            Self::Lognormal { median, sigma } => {
                let mut random = Rng::new(1);
                (0..count)
                    .map(|_| Duration::from_secs_f64(random.render_time(&[(1.0, median, sigma)])))
                    .collect()
            }
        }
    }
}

/// Upper bounds of the medians.
pub(super) struct Bounds {
    /// The makespan, as a multiple of the service's own time.
    pub(super) ratio: f64,
    /// CPU time of the runner, in seconds.
    pub(super) cpu: Option<f64>,
    /// CPU time of polling, in seconds.
    pub(super) polling: Option<f64>,
    /// Peak resident memory of the runner, in megabytes.
    pub(super) megabytes: Option<f64>,
}

impl Bounds {
    fn hold(&self, run: &Figures) -> bool {
        run.ratio <= self.ratio
            && self.cpu.is_none_or(|bound| run.cpu <= bound)
            && self.megabytes.is_none_or(|bound| run.megabytes <= bound)
    }
}

/// What is measured of a run.
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

    /// CPU time of a poll in seconds, beside runs of the same tasks with fewer polls.
    fn cpu_per_poll(&self, fewer: &Self) -> f64 {
        (self.cpu - fewer.cpu) / (self.polls - fewer.polls)
    }
}

impl Workload {
    /// Makespan that the service alone needs, in seconds.
    fn baseline(&self) -> f64 {
        let times = self.render_time.sequence(self.tasks);
        if self.chained {
            return times.iter().sum::<Duration>().as_secs_f64();
        }
        let mut renderers: BinaryHeap<Reverse<Duration>> =
            (0..self.parallel).map(|_| Reverse(Duration::ZERO)).collect();
        let mut end = Duration::ZERO;
        for time in times {
            let start = renderers.pop().map_or(Duration::ZERO, |Reverse(free)| free);
            renderers.push(Reverse(start + time));
            end = end.max(start + time);
        }
        end.as_secs_f64()
    }
}

/// A folder below which ext4 spreads folders over the disk (`chattr +T`), where that can be set. Otherwise they lie together, and new files
/// have to get past the inodes that earlier benchmarks have freed, which are not used again for minutes.
fn spread_folder() -> Result<tempfile::TempDir, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    // Other file systems neither know the attribute nor need it.
    let _ = Command::new("chattr").arg("+T").arg(folder.path()).stderr(Stdio::null()).status();
    Ok(folder)
}

pub(super) fn measure(root: &Path, workloads: &[Workload]) -> Result<String, String> {
    let program = release_runner(root)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let (mut report, mut exceeded) = (String::new(), false);
    let folder = spread_folder()?;
    // Kept until the end: ext4 does not reuse freed blocks immediately, and removing the files of one run slows the next.
    let mut projects = Vec::new();
    for workload in workloads {
        let baseline = workload.baseline();
        let mut measured = |few_polls: Option<u32>| -> Result<Figures, String> {
            let service = runtime.block_on(StubService::start(Settings {
                parallel: workload.parallel,
                render_times: workload.render_time.sequence(workload.tasks),
                chained: workload.chained,
                submissions_per_second: None,
                failing_share: None,
            }))?;
            let project = tempfile::tempdir_in(folder.path()).map_err(|error| error.to_string())?;
            let run = run(&program, workload, few_polls, &service, project.path())?;
            projects.push(project);
            let calls = service.counts();
            let (first, last) = service.busy_interval();
            let ratio = run.elapsed.as_secs_f64() / baseline;
            let _ = writeln!(
                report,
                "{}: {:.3} s, {ratio:.3} x the service's own {baseline:.3} s, {:.2} s of CPU time, {:.0} MB; {} POSTs, {} polls, {} downloads; \
                 ends seen after {:.1} ms; {:.3} s until the first task was accepted, {:.3} s until the last one ended, {:.3} s after it",
                workload.name,
                run.elapsed.as_secs_f64(),
                run.cpu,
                run.megabytes,
                calls.accepted,
                calls.polls,
                calls.downloads,
                service.mean_lag().as_secs_f64() * 1e3,
                first.duration_since(run.started).as_secs_f64(),
                last.duration_since(first).as_secs_f64(),
                (run.started + run.elapsed).duration_since(last).as_secs_f64(),
            );
            exceeded |= calls.accepted != workload.tasks;
            Ok(Figures { ratio, cpu: run.cpu, megabytes: run.megabytes, polls: calls.polls as f64 })
        };
        // One after the other, so that both series find the same machine.
        let (mut runs, mut fewer) = (Vec::new(), Vec::new());
        for _ in 0..workload.runs {
            runs.push(measured(None)?);
            if workload.few_polls_per_second.is_some() {
                fewer.push(measured(workload.few_polls_per_second)?);
            }
        }
        let median = Figures::median(&runs);
        let bound = |bound: Option<f64>| bound.map(|bound| format!(" (bound {bound})")).unwrap_or_default();
        let _ = writeln!(
            report,
            "  median: {:.3} x (bound {}), {:.2} s of CPU time{}, {:.0} MB{}",
            median.ratio,
            workload.bounds.ratio,
            median.cpu,
            bound(workload.bounds.cpu),
            median.megabytes,
            bound(workload.bounds.megabytes),
        );
        if !fewer.is_empty() {
            let fewer = Figures::median(&fewer);
            let each = median.cpu_per_poll(&fewer);
            let polling = each * median.polls;
            let _ = writeln!(
                report,
                "  polling: {polling:.2} s of CPU time{}, {:.3} ms for each of {} polls; with {} polls the run takes {:.2} s of CPU time",
                bound(workload.bounds.polling),
                each * 1e3,
                median.polls,
                fewer.polls,
                fewer.cpu,
            );
            exceeded |= workload.bounds.polling.is_some_and(|bound| polling > bound);
        }
        exceeded |= !workload.bounds.hold(&median);
    }
    if exceeded { Err(report) } else { Ok(report) }
}

pub(super) fn median(values: impl Iterator<Item = f64>) -> f64 {
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
    /// Peak resident memory in megabytes.
    megabytes: f64,
}

fn run(
    program: &Path,
    workload: &Workload,
    few_polls: Option<u32>,
    service: &StubService,
    project: &Path,
) -> Result<Run, String> {
    fs_err::write(project.join("load.yaml"), workflow(workload.tasks, workload.chained))
        .map_err(|error| error.to_string())?;
    let cpu_before = children_cpu_seconds()?;
    let started = Instant::now();
    let mut runner = Command::new(program)
        .args(["run", "load.yaml", "--jobs", &workload.jobs.to_string(), "--format", "json"])
        .args(few_polls.map(|rate| format!("--max-polls-per-second={rate}")))
        .current_dir(project)
        .env("RUNNER_BASE_URL", service.base_url())
        .env("RUNNER_API_KEY", "sk-bench")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let watch = watch_memory(runner.id());
    let mut errors = String::new();
    let read = runner.stderr.take().map(|mut stderr| stderr.read_to_string(&mut errors));
    let status = runner.wait().map_err(|error| error.to_string())?;
    let elapsed = started.elapsed();
    read.transpose().map_err(|error| error.to_string())?;
    if !status.success() {
        return Err(errors);
    }
    let megabytes = watch.join().map_err(|_| "the memory could not be watched")?;
    Ok(Run { started, elapsed, cpu: children_cpu_seconds()? - cpu_before, megabytes })
}

/// Peak resident memory of a process, in megabytes, as of its last look before the process ends: ten in a second.
fn watch_memory(process: u32) -> JoinHandle<f64> {
    std::thread::spawn(move || {
        let mut peak = 0.0;
        while let Some(megabytes) = super::peak_megabytes(process) {
            peak = megabytes;
            std::thread::sleep(Duration::from_millis(100));
        }
        peak
    })
}

/// A workflow whose shots have the prompts "scene 0", "scene 1" and so on.
pub(super) fn workflow(tasks: usize, chained: bool) -> String {
    let mut text = String::from(
        "version: 1\nname: load\ndefaults: { model: modela-video-2-0-260128, seconds: 4, resolution: 480p, ratio: \"16:9\" }\nshots:\n",
    );
    if chained {
        for shot in 0..tasks {
            let _ = writeln!(text, "  - id: s{shot}\n    prompt: scene {shot}");
            if shot > 0 {
                let _ = writeln!(text, "    continues: s{}", shot - 1);
            }
        }
    } else {
        let _ = writeln!(
            text,
            "  - id: shot\n    prompt: \"scene {{{{ number }}}}\"\n    matrix:\n      number: {{ from: 0, to: {} }}",
            tasks.saturating_sub(1)
        );
    }
    text
}

/// CPU seconds of the child processes that were waited for (proc(5), fields 16 and 17 of `stat`).
pub(super) fn children_cpu_seconds() -> Result<f64, String> {
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
