//! Benchmarks that docs/benchmarks.md quotes. Each compares with a bound or with a baseline of the same run, never with an earlier figure.

mod build;
mod check;
mod film;
mod ledger;
mod limits;
mod peers;
mod plan;
mod polling;
mod process;
mod render;
mod scale;
mod service;
mod stub;

use std::path::Path;

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    /// `runner check` of a storyboard of 50 shots, from the start of the process.
    Check,
    /// Time and CPU time of a clean release build. Takes some minutes.
    Build {
        /// Also builds this commit, and compares. The project wants 0.6 of f1391e9.
        #[arg(long, value_name = "COMMIT")]
        against: Option<String>,
    },
    /// CPU seconds per rehearsal by what moves in it and by size; several in parallel.
    Render {
        /// Also builds this commit's renderer, and measures both side by side. It stays below target/against.
        #[arg(long, value_name = "COMMIT")]
        against: Option<String>,
    },
    /// Time and memory to join films of up to two hours, with music and a loudness.
    Film,
    /// Throughput of scheduler and ledger: 100,000 nodes in one run, every event durable.
    Ledger,
    /// The same work through other tools and through `runner`. Needs Linux, curl, Python, Node and their registries.
    Peers(peers::Peers),
    /// From file to plan: sweeps and chains of 10,000 and 100,000 instances, with criterion.
    Plan,
    /// CPU time of polling, and runs of up to 100,000 tasks, against a service that only waits.
    Scale {
        /// Only this workload: 1 to 4.
        #[arg(long)]
        only: Option<usize>,
    },
    /// Learned limits on submissions against the same policy without learning, in simulated time.
    Limits,
    /// The poll schedule against a fixed and a doubling interval, in simulated time.
    Polling,
    /// Latency of polls while 2,000 tasks are queued and all workers render.
    Service,
}

pub(crate) fn run(root: &Path, bench: &Bench) -> Result<String, String> {
    // Clips are measured by a program that is built for it, and simulated time does not depend on the build.
    if cfg!(debug_assertions) && !matches!(bench, Bench::Render { .. } | Bench::Polling) {
        return Err("benchmarks need a release build: cargo run --release -p xtask -- bench …".to_owned());
    }
    match bench {
        Bench::Build { against } => build::measure(root, against.as_deref()),
        Bench::Check => check::measure(root),
        Bench::Render { against } => render::measure(root, against.as_deref()),
        Bench::Film => film::measure(),
        Bench::Ledger => ledger::measure(),
        Bench::Peers(args) => peers::measure(root, args),
        Bench::Plan => plan::measure(root),
        Bench::Scale { only } => scale::measure(root, *only),
        Bench::Limits => limits::measure(),
        Bench::Polling => polling::measure(),
        Bench::Service => service::measure(),
    }
}

/// A runtime for a stub of the service, which leaves the other processors to what is measured.
fn runtime() -> Result<tokio::runtime::Runtime, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    runtime.map_err(|error| error.to_string())
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Resident memory of this process; `None` where there is no `/proc` (other systems than Linux).
fn resident_megabytes() -> Option<f64> {
    megabytes("self", "VmRSS:")
}

/// Peak resident memory of a process; `None` where there is no `/proc`, and once the process has ended.
fn peak_megabytes(process: u32) -> Option<f64> {
    megabytes(&process.to_string(), "VmHWM:")
}

fn megabytes(process: &str, field: &str) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kibibytes: f64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kibibytes * 1024.0 / 1e6)
}
