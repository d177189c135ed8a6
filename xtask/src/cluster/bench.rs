//! The cost of the cluster: makespan against the service's bound, nodes per second, polls, memory.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use super::processes::Cluster;
use super::server::ServerProgram;
use super::service::{Behavior, CountingService};

const KEY: &str = "sk-cluster-0123456789";

/// A sweep to be measured.
struct Sweep {
    name: &'static str,
    cells: usize,
    /// Maximum number of tasks in flight.
    jobs: usize,
    /// How many of them the service renders at once. If there are more, one is ready when another ends.
    renderers: usize,
    task: Duration,
    /// What the makespan may be at most, in multiples of the service's bound. Holds for release builds on a machine with nothing else to do.
    max_ratio: Option<f64>,
    /// Whether it is measured only on request.
    is_wide: bool,
}

const SWEEPS: [Sweep; 4] = [
    Sweep {
        name: "makespan",
        cells: 200,
        jobs: 64,
        renderers: 32,
        task: Duration::from_secs(2),
        max_ratio: Some(1.05),
        is_wide: false,
    },
    Sweep {
        name: "makespan without a queue",
        cells: 200,
        jobs: 32,
        renderers: 32,
        task: Duration::from_secs(2),
        max_ratio: None,
        is_wide: false,
    },
    Sweep {
        name: "throughput",
        cells: 1_000,
        jobs: 200,
        renderers: 200,
        task: Duration::from_millis(100),
        max_ratio: None,
        is_wide: false,
    },
    Sweep {
        name: "wide",
        cells: 5_000,
        jobs: 200,
        renderers: 200,
        task: Duration::from_millis(100),
        max_ratio: None,
        is_wide: true,
    },
];

/// Measures the sweeps. With `is_release` a makespan above its bound is an error.
pub(super) fn run(
    server: &ServerProgram,
    program: &Path,
    is_release: bool,
    wide: bool,
) -> Result<String, String> {
    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    let (mut report, mut exceeded) = (String::new(), Vec::new());
    for sweep in SWEEPS.iter().filter(|sweep| wide || !sweep.is_wide) {
        let ratio = measure(sweep, server, program, &runtime, &mut report)?;
        if let Some(max) = sweep.max_ratio.filter(|max| is_release && ratio > *max) {
            exceeded.push(format!("{}: {ratio:.3} times the bound, and {max} is allowed", sweep.name));
        }
    }
    let report = report.trim_end().to_owned();
    if exceeded.is_empty() { Ok(report) } else { Err(format!("{report}\n{}", exceeded.join("\n"))) }
}

/// Measures a sweep; returns its makespan in multiples of the service's bound.
fn measure(
    sweep: &Sweep,
    server: &ServerProgram,
    program: &Path,
    runtime: &tokio::runtime::Runtime,
    report: &mut String,
) -> Result<f64, String> {
    let Sweep { name, cells, jobs, renderers, task, .. } = *sweep;
    let behavior = Behavior { renderers: Some(renderers), ..Behavior::without_faults(Duration::ZERO, task) };
    let service = runtime.block_on(CountingService::start(1, behavior))?;
    let cluster = Cluster::start(server, program, 2, service.base_url(), KEY, &[])?;
    let text = format!(
        "version: 1\nname: sweep\ndefaults: {{model: modelb-video-480p, seconds: 4}}\nshots:\n  - id: c\n    prompt: \"cell {{{{ x }}}}\"\n    matrix:\n      x: {{from: 1, to: {cells}}}\n"
    );
    fs_err::write(cluster.folder().join("sweep.yaml"), text).map_err(|error| error.to_string())?;
    let before = (
        processor_seconds(cluster.server.id()),
        cluster.worker_ids().into_iter().map(processor_seconds).sum::<f64>(),
    );
    let (jobs_text, begin) = (jobs.to_string(), Instant::now());
    let limits =
        ["--max-submits-per-minute", "100000", "--max-polls-per-second", "10000", "--max-downloads", "32"];
    let arguments = [&["run", "sweep.yaml", "--jobs", jobs_text.as_str()], limits.as_slice()].concat();
    let output = cluster.output(&arguments)?;
    let took = begin.elapsed();
    if !output.status.success() {
        return Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let bound = task * u32::try_from(cells.div_ceil(renderers)).unwrap_or(u32::MAX);
    let ratio = took.as_secs_f64() / bound.as_secs_f64();
    let workers: u64 = cluster.worker_ids().into_iter().filter_map(resident_mib).sum();
    let (unnoticed, unused) = service.idle_times(jobs);
    let busy = service.busy_times(renderers).ok_or("fewer tasks than renderers")?;
    let before_end = |time: Instant| (begin + took).saturating_duration_since(time).as_millis();
    let _ = writeln!(
        report,
        "{name}: {cells} tasks of {task:?}, {renderers} at once, {jobs} in flight: {:.1} s, {ratio:.3} times the bound of {:.1} s; {:.1} nodes/s; {:.1} polls a node; \
         the first renderer busy after {} ms and all after {} ms, idle between tasks for {} ms, the last task ended {} ms before the run, was noticed {} ms before and downloaded {} ms before; on average noticed after {} ms, replaced after {} ms; memory: Restate {} MiB, workers {workers} MiB; processor time: Restate {:.1} s, workers {:.1} s",
        took.as_secs_f64(),
        bound.as_secs_f64(),
        cells as f64 / took.as_secs_f64(),
        service.polls() as f64 / cells as f64,
        (busy.first - begin).as_millis(),
        (busy.all - begin).as_millis(),
        busy.between.as_millis(),
        before_end(busy.last),
        before_end(busy.last_noticed),
        before_end(busy.last_download),
        unnoticed.as_millis(),
        unused.as_millis(),
        resident_mib(cluster.server.id()).unwrap_or_default(),
        processor_seconds(cluster.server.id()) - before.0,
        cluster.worker_ids().into_iter().map(processor_seconds).sum::<f64>() - before.1,
    );
    Ok(ratio)
}

/// The processor time of a process so far, where the system tells it.
fn processor_seconds(process: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name, which comes first, may have spaces.
    let fields = stat.rsplit_once(')').map(|(_, fields)| fields.split_whitespace().collect::<Vec<_>>());
    let ticks = |index: usize| {
        fields.as_ref().and_then(|fields| fields.get(index)?.parse::<f64>().ok()).unwrap_or_default()
    };
    // A tick is a hundredth of a second on all Linux systems (`USER_HZ`).
    (ticks(11) + ticks(12)) / 100.0
}

/// The resident memory of a process, where the system tells it.
fn resident_mib(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024)
}
