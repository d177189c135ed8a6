//! The tests of the README's command, again and again: each has to pass every time, on a quiet machine and on a busy one.

use std::num::NonZero;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::available_parallelism;
use std::time::Instant;

use clap::Args;

/// Arguments of `cargo xtask suite`.
#[derive(Debug, Args)]
pub(crate) struct Suite {
    /// How often the tests are run.
    #[arg(long, default_value_t = 20)]
    runs: usize,
    /// How many of these, the last ones, are run while all processors are kept busy.
    #[arg(long, default_value_t = 10)]
    busy: usize,
}

/// Builds the tests and runs them. The error names each test that failed.
pub(crate) fn run(root: &Path, args: &Suite) -> Result<String, String> {
    test(root, &["--no-run"])?;
    let (mut failures, mut slowest) = (Vec::new(), 0);
    for number in 1..=args.runs {
        let is_busy = number + args.busy > args.runs;
        let begin = Instant::now();
        let outcome = if is_busy { beside_load(|| test(root, &[])) } else { test(root, &[]) };
        let seconds = begin.elapsed().as_secs();
        let (load, verdict) =
            (if is_busy { ", busy" } else { "" }, if outcome.is_ok() { "ok" } else { "FAILED" });
        eprintln!("suite: run {number} of {}{load}: {verdict}, {seconds} s", args.runs);
        slowest = slowest.max(if is_busy { 0 } else { seconds });
        failures.extend(outcome.err().map(|output| format!("run {number}{load}:\n{output}")));
    }
    if failures.is_empty() {
        return Ok(format!(
            "suite: {} runs, {} of them beside load, have no failure; the slowest without load took {slowest} s",
            args.runs, args.busy
        ));
    }
    Err(format!("{}\nsuite: {} of {} runs failed", failures.join("\n"), failures.len(), args.runs))
}

/// Runs `cargo test`; the error is what it printed of the failures.
fn test(root: &Path, arguments: &[&str]) -> Result<(), String> {
    let output = Command::new("cargo")
        .args(["test", "--quiet", "--locked", "--workspace", "--no-fail-fast"])
        .args(arguments)
        .current_dir(root)
        .output()
        .map_err(|error| format!("cargo cannot be run: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let failures = out.split("\nfailures:\n").skip(1).collect::<Vec<_>>().join("\n");
    Err(format!("{failures}\n{err}"))
}

/// Does `work` while a thread for each processor does nothing but compute.
fn beside_load<T>(work: impl FnOnce() -> T) -> T {
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let result = work();
        is_done.store(true, Ordering::Relaxed);
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beside_load_returns_the_result_and_ends_the_load() {
        assert_eq!(beside_load(|| 7), 7);
    }
}
