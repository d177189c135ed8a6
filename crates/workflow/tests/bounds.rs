//! What a small file may cost: 10 seconds of one core and 512 MB, whether it is accepted or refused.
//!
//! Each file is compiled in a process of its own, which measures itself. The bounds are those of a release build, where the files
//! have their full size (`cargo xtask nightly --only bounds`); a debug build compiles a third of the files, of a hundredth of the size.
// It measures with the processor clock of a process, which POSIX has.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that stops at the first surprise and says what it measured"
)]

mod expensive;

use std::num::NonZero;
use std::process::Command;
use std::sync::Mutex;
use std::thread::available_parallelism;

use contract::Contract;
use expensive::{Choices, Expensive};
use peak_alloc::PeakAlloc;
use rustix::time::{ClockId, clock_gettime};
use workflow::{InMemory, Options, check};

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

const SCALE: usize = if cfg!(debug_assertions) { 100 } else { 1 };
const MAX_SECONDS: f64 = 10.0;
const MAX_MEGABYTES: f64 = 512.0;
/// Of the listed files, one in so many.
const STEP: usize = if cfg!(debug_assertions) { 3 } else { 1 };
/// Random files, by the seed of their choices.
const RANDOM_FILES: u64 = if cfg!(debug_assertions) { 1 } else { 100 };
/// The variable that names the file which a child process compiles.
const FILE: &str = "EXPENSIVE_FILE";

/// The file of a name: a listed one, or `random-` and a seed.
fn file(name: &str) -> Expensive {
    if let Some(seed) = name.strip_prefix("random-") {
        let mut state: u64 = seed.parse().unwrap();
        let bytes: Vec<u8> = (0..4_096)
            .map(|_| {
                // SplitMix64 (Steele, Lea, Flood 2014).
                state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mut z = state;
                z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                (z ^ (z >> 31)) as u8
            })
            .collect();
        return expensive::random(&mut Choices::new(&bytes), SCALE);
    }
    expensive::listed(SCALE).into_iter().find(|file| file.name == name).unwrap()
}

/// Compiles the file that the parent process names, and prints seconds, megabytes and the outcome.
#[test]
fn expensive_file_child() {
    let Ok(name) = std::env::var(FILE) else { return };
    let Expensive { workflow, table, .. } = file(&name);
    let files = InMemory::default().with("t.csv", table);
    let time = || {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    };
    let contract = Contract::embedded();
    let before = time();
    let outcome = check(workflow.as_bytes(), "any.yaml", &files, &Options::default(), contract);
    let rendered = outcome.report.render(true);
    let seconds = time() - before;
    let megabytes = ALLOCATED.peak_usage_as_mb();
    let first = outcome.report.diagnostics.first().map(|diagnostic| diagnostic.message.clone());
    let instances = outcome.plan.as_ref().map(workflow::Plan::len);
    println!(
        "measured {seconds:.2} {megabytes:.0} {name}: {} KB, {instances:?} instances, {} bytes of report, {}",
        workflow.len() / 1024,
        rendered.len(),
        first.unwrap_or_default()
    );
}

fn measure(name: &str) -> (f64, f64, String) {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "expensive_file_child", "--nocapture"])
        .env(FILE, name)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&child.stdout).into_owned();
    let Some((_, measured)) = text.split_once("measured ") else {
        panic!("{name}: {:?} {text} {}", child.status, String::from_utf8_lossy(&child.stderr))
    };
    let line = measured.lines().next().unwrap();
    let mut numbers = line.split(' ').map(|number| number.parse::<f64>().unwrap_or(f64::NAN));
    (numbers.next().unwrap(), numbers.next().unwrap(), line.to_owned())
}

#[test]
fn expensive_files_stay_within_bounds() {
    let listed = expensive::listed(SCALE).into_iter().step_by(STEP).map(|file| file.name);
    let open: Vec<String> = listed.chain((0..RANDOM_FILES).map(|seed| format!("random-{seed}"))).collect();
    let (open, beyond) = (Mutex::new(open), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(|| {
                while let Some(name) = { open.lock().unwrap().pop() } {
                    let (seconds, megabytes, line) = measure(&name);
                    println!("{line}");
                    if seconds > MAX_SECONDS || megabytes > MAX_MEGABYTES {
                        beyond.lock().unwrap().push(line);
                    }
                }
            });
        }
    });
    let beyond = beyond.into_inner().unwrap();
    assert!(beyond.is_empty(), "{}", beyond.join("\n"));
}
