//! Renders prompts to files for looking at: an MP4 of each and, beside it, its last frame as PNG.
//!
//! `cargo run --release -p renderer --example render_clip -- OUT [--size 854x480] [--seconds 5] [--seed 1] [--silent]
//! [--fixed] [--mark] [--model NAME]
//! [--still SECOND] [--first A.png] [--last B.png] [--reference C.png] PROMPT…`
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a tool at the rim: it talks, and a surprise ends it"
)]

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use renderer::{Animatic, Job, Renderer};

fn main() {
    let mut job = Job { generate_audio: true, ..Job::new("", (854, 480), 5.0) };
    let mut still = None;
    let mut prompts = Vec::new();
    let mut arguments = std::env::args().skip(1);
    let out = PathBuf::from(arguments.next().unwrap_or_else(|| "stills".to_owned()));
    let image = |path: String| media::decode_image(&std::fs::read(path).unwrap()).unwrap();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().unwrap();
        match argument.as_str() {
            "--size" => {
                let size = value();
                let (width, height) = size.split_once('x').unwrap();
                (job.width, job.height) = (width.parse().unwrap(), height.parse().unwrap());
            }
            "--seconds" => job.seconds = value().parse().unwrap(),
            "--seed" => job.seed = value().parse().unwrap(),
            "--first" => job.first_frame = Some(image(value())),
            "--last" => job.last_frame = Some(image(value())),
            "--reference" => job.references.push(image(value())),
            "--silent" => job.generate_audio = false,
            "--fixed" => job.camera_fixed = true,
            "--model" => job.model = value(),
            "--still" => still = Some(value().parse::<f64>().unwrap()),
            "--mark" => job.watermark = true,
            _ => prompts.push(argument),
        }
    }
    std::fs::create_dir_all(&out).unwrap();
    for (number, prompt) in prompts.into_iter().enumerate() {
        job.prompt = prompt;
        if let Some(second) = still {
            let frame = (second * f64::from(job.frame_rate)).round() as u32;
            let drawn = Animatic.draw_frame(&job, frame).unwrap();
            std::fs::write(out.join(format!("{number:02}.png")), media::encode_png(&drawn)).unwrap();
            continue;
        }
        let started = Instant::now();
        let rendering = Animatic.render(&job, &mut |_| ControlFlow::Continue(())).unwrap();
        let seconds = started.elapsed().as_secs_f64();
        let path = out.join(format!("{number:02}.mp4"));
        std::fs::write(&path, &rendering.mp4).unwrap();
        println!("{} {seconds:.2} s, {} kB: {}", path.display(), rendering.mp4.len() / 1000, job.prompt);
        let still = media::encode_png(&rendering.last_frame);
        std::fs::write(out.join(format!("{number:02}-last.png")), still).unwrap();
    }
}
