//! What a clip costs, in CPU seconds of the thread that renders, as JSON (AAC is encoded on threads of its own, which are not counted): the part of `cargo xtask bench render` that is also built from earlier commits.
//!
//! `clip_costs WIDTH HEIGHT SECONDS PROMPT`. It needs Linux.
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
    let costs = kinds.map(|(kind, look, quality)| {
        let job = Job { quality, ..job.clone() };
        let drawing = cpu_seconds(|| look.draw(&job, &mut |_| Ok(())).unwrap());
        let render = |generate_audio: bool| {
            let job = Job { generate_audio, ..job.clone() };
            cpu_seconds(|| drop(look.renderer().render(&job, &mut |_| ControlFlow::Continue(())).unwrap()))
        };
        let (silent, total) = (render(false), render(true));
        format!(r#""{kind}":{{"total":{total},"drawing":{drawing},"silent":{silent}}}"#)
    });
    println!("{{{}}}", costs.join(","));
}

fn cpu_seconds(work: impl FnOnce()) -> f64 {
    let before = nanoseconds();
    work();
    (nanoseconds() - before) / 1e9
}

/// The kernel's accounting of this thread.
fn nanoseconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split_whitespace().next().unwrap().parse().unwrap()
}
