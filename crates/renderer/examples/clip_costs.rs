//! What a clip costs, in CPU seconds of the whole process and of the thread that renders, as JSON. The part of `cargo xtask bench render` that is also
//! built from earlier commits.
//!
//! `clip_costs WIDTH HEIGHT SECONDS PROMPT`. It needs Linux.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a measuring program: a surprise ends it")]

use std::ops::ControlFlow;

use renderer::{Animatic, Job, Renderer};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let size = (arguments[0].parse().unwrap(), arguments[1].parse().unwrap());
    let job = Job::new(&arguments[3], size, arguments[2].parse().unwrap());
    let render = |generate_audio: bool| {
        let job = Job { generate_audio, ..job.clone() };
        drop(Animatic.render(&job, &mut |_| ControlFlow::Continue(())).unwrap());
    };
    let (silent, total) = (cpu_seconds(|| render(false)), cpu_seconds(|| render(true)));
    println!(r#"{{"total":{},"silent":{}}}"#, total.process, silent.thread);
}

#[derive(Clone, Copy)]
struct Seconds {
    process: f64,
    /// Of the thread that renders.
    thread: f64,
}

/// The mean of two runs, because the kernel states the time of a process in hundredths of a second.
fn cpu_seconds(mut work: impl FnMut()) -> Seconds {
    const RUNS: u8 = 2;
    let before = clocks();
    (0..RUNS).for_each(|_| work());
    let after = clocks();
    let mean = |before: f64, after: f64| (after - before) / f64::from(RUNS);
    Seconds { process: mean(before.process, after.process), thread: mean(before.thread, after.thread) }
}

/// The kernel's accounting.
fn clocks() -> Seconds {
    const TICKS_PER_SECOND: f64 = 100.0;
    let read = |path: &str| std::fs::read_to_string(path).unwrap();
    let stat = read("/proc/self/stat");
    // The name of the program, in parentheses, may have spaces; after it, user and system time are the 12th and 13th field.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks = |field: usize| fields[field].parse::<f64>().unwrap();
    let nanoseconds: f64 =
        read("/proc/thread-self/schedstat").split_whitespace().next().unwrap().parse().unwrap();
    Seconds { process: (ticks(11) + ticks(12)) / TICKS_PER_SECOND, thread: nanoseconds / 1e9 }
}
