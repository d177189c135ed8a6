//! What a clip costs, in CPU seconds of the whole process, as JSON; and without the threads that AAC is encoded on. The part of
//! `cargo xtask bench render` that is also built from earlier commits.
//!
//! `clip_costs WIDTH HEIGHT SECONDS PROMPT [--totals]`. It needs Linux. With `--totals` drawing alone and clips without sound are not measured, which
//! takes a third of the time.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a measuring program: a surprise ends it")]

use std::ops::ControlFlow;

use renderer::{Job, Look, Quality};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let job = Job {
        prompt: arguments[3].clone(),
        model: String::new(),
        width: arguments[0].parse().unwrap(),
        height: arguments[1].parse().unwrap(),
        frame_rate: 24,
        seconds: arguments[2].parse().unwrap(),
        seed: 1,
        first_frame: None,
        last_frame: None,
        references: Vec::new(),
        reference_videos: Vec::new(),
        reference_audio: None,
        generate_audio: true,
        camera_fixed: false,
        watermark: false,
        quality: Quality::Standard,
    };
    let kinds = [
        ("scene", Look::Scene, Quality::Standard),
        ("fast", Look::Scene, Quality::Fast),
        ("animatic", Look::Animatic, Quality::Standard),
    ];
    let with_shares = arguments.get(4).is_none_or(|argument| argument != "--totals");
    let costs = kinds.map(|(kind, look, quality)| {
        let job = Job { quality, ..job.clone() };
        let none = Seconds { process: 0.0, thread: 0.0 };
        let share = |work: &mut dyn FnMut()| if with_shares { cpu_seconds(work) } else { none };
        let drawing = share(&mut || look.draw(&job, &mut |_| Ok(())).unwrap());
        let render = |generate_audio: bool| {
            let job = Job { generate_audio, ..job.clone() };
            drop(look.renderer().render(&job, &mut |_| ControlFlow::Continue(())).unwrap());
        };
        let (silent, total) = (share(&mut || render(false)), cpu_seconds(|| render(true)));
        format!(
            r#""{kind}":{{"total":{},"thread":{},"drawing":{},"silent":{}}}"#,
            total.process, total.thread, drawing.thread, silent.thread
        )
    });
    println!("{{{}}}", costs.join(","));
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
