//! Measurements that documents quote: each as a ratio or a bound within one run, never against yesterday's figure.

mod check;
mod ledger;
mod overhead;
mod polling;
mod render;
mod service;
mod storyboard;

use std::path::Path;

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    /// `runner check` of a storyboard of 50 shots, from the start of the process.
    Check,
    /// The example storyboard through the whole program, against rendering its shots alone on as many threads.
    Storyboard,
    /// Processor seconds a clip by scene and size, split into drawing and the rest; several clips at once.
    Render,
    /// Scheduling and ledger alone: 100,000 nodes in one run, every event durable.
    Ledger,
    /// What the runner adds to the time that a service imposes: a thousand short tasks, and a chain.
    Overhead,
    /// Polling that learns against fixed and doubling schedules, in simulated time.
    Polling,
    /// Polls of the service while 2,000 tasks wait and all workers render.
    Service,
}

pub(crate) fn bench(root: &Path, what: &Bench) -> Result<String, String> {
    if cfg!(debug_assertions) {
        return Err("figures are for release builds: cargo run --release -p xtask -- bench …".to_owned());
    }
    match what {
        Bench::Check => check::measure(root),
        Bench::Storyboard => storyboard::measure(root),
        Bench::Render => render::measure(),
        Bench::Ledger => ledger::measure(),
        Bench::Overhead => overhead::measure(root),
        Bench::Polling => polling::measure(),
        Bench::Service => service::measure(),
    }
}

/// Of this process; only Linux says so in a file.
fn resident_megabytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: f64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kibibytes * 1024.0 / 1e6)
}
