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
    jobs: usize,
    task: Duration,
}

const SWEEPS: [Sweep; 2] = [
    Sweep { name: "makespan", cells: 200, jobs: 32, task: Duration::from_secs(2) },
    Sweep { name: "throughput", cells: 1_000, jobs: 200, task: Duration::from_millis(100) },
];

pub(super) fn run(server: &ServerProgram, program: &Path) -> Result<String, String> {
    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    let mut report = String::new();
    for sweep in SWEEPS {
        let Sweep { name, cells, jobs, task } = sweep;
        let behavior =
            Behavior { lost_answers: 0, lost_requests: 0, throttled: 0, latency: Duration::ZERO, task };
        let service = runtime.block_on(CountingService::start(1, behavior))?;
        let cluster = Cluster::start(server, program, 2, service.base_url(), KEY, &[])?;
        let text = format!(
            "version: 1\nname: {name}\ndefaults: {{model: modelb-video-480p, seconds: 4}}\nshots:\n  - id: c\n    prompt: \"cell {{{{ x }}}}\"\n    matrix:\n      x: {{from: 1, to: {cells}}}\n"
        );
        fs_err::write(cluster.folder().join("sweep.yaml"), text).map_err(|error| error.to_string())?;
        let (jobs_text, begin) = (jobs.to_string(), Instant::now());
        let limits = [
            "--max-submits-per-minute",
            "100000",
            "--max-polls-per-second",
            "10000",
            "--max-downloads",
            "32",
        ];
        let arguments = [&["run", "sweep.yaml", "--jobs", jobs_text.as_str()], limits.as_slice()].concat();
        let ran = cluster.output(&arguments)?;
        let took = begin.elapsed();
        if !ran.status.success() {
            return Err(format!("{name}: {}", String::from_utf8_lossy(&ran.stderr)));
        }
        let bound = task * u32::try_from(cells.div_ceil(jobs)).unwrap_or(u32::MAX);
        let workers: u64 = cluster.worker_ids().into_iter().filter_map(resident_mib).sum();
        let _ = writeln!(
            report,
            "{name}: {cells} tasks of {task:?}, {jobs} at once: {:.1} s, {:.2} times the bound of {:.1} s; {:.1} nodes/s; {:.1} polls a node; \
             memory: Restate {} MiB, workers {workers} MiB",
            took.as_secs_f64(),
            took.as_secs_f64() / bound.as_secs_f64(),
            bound.as_secs_f64(),
            cells as f64 / took.as_secs_f64(),
            service.polls() as f64 / cells as f64,
            resident_mib(cluster.server.id()).unwrap_or_default(),
        );
    }
    Ok(report.trim_end().to_owned())
}

/// The resident memory of a process, where the system tells it.
fn resident_mib(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024)
}
