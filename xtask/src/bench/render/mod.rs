//! CPU seconds per clip by scene and size, with the share of drawing; then several clips in parallel.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::time::Instant;

use renderer::{Job, Procedural, Quality, Renderer};

const SECONDS: f64 = 5.0;
const SCENES: [(&str, &str); 7] = [
    (
        "breakwater in a storm",
        "long stone breakwater at dusk, white lighthouse, storm, rain, a keeper with a lantern, 35 mm film",
    ),
    (
        "night sea in a storm",
        "drone flyover, night sea in a storm, rain, the beam of a lighthouse, 35 mm film",
    ),
    ("sunrise over the sea", "sunrise over a calm sea, lighthouse, gulls, thin fog, pull back, 35 mm film"),
    ("city at night in rain", "city at night in rain"),
    ("mountains at sunset", "drone flyover of mountains at sunset"),
    ("forest in mist", "pine forest in morning mist, dolly in"),
    ("dunes", "desert dunes at golden hour, pan left"),
];
const SMALL: (u32, u32) = (854, 480);
const LARGE: (u32, u32) = (1280, 720);

/// Renders every scene at 480p and the first at 720p, then the first scene on one and on two threads.
pub(crate) fn measure() -> Result<String, String> {
    let mut report = String::from(
        "| scene | size | CPU s | of which drawing | encoding, sound, last frame |\n|---|---|---|---|---|\n",
    );
    let clips = SCENES.map(|scene| (scene, SMALL)).into_iter().chain([(SCENES[0], LARGE)]);
    for ((name, prompt), (width, height)) in clips {
        let job = job(prompt, width, height);
        let (drawing, drawn) = cpu_seconds(|| Procedural.draw(&job, &mut |_| Ok(())))?;
        let (total, rendered) = cpu_seconds(|| render(&job))?;
        drawn.map_err(|error| error.to_string())?;
        rendered?;
        let rest = (total - drawing).max(0.0);
        let _ = writeln!(report, "| {name} | {width}x{height} | {total:.2} | {drawing:.2} | {rest:.2} |");
    }
    let job = job(SCENES[0].1, SMALL.0, SMALL.1);
    let (one, two) = (parallel_seconds(&job, 1)?, parallel_seconds(&job, 2)?);
    let _ = writeln!(
        report,
        "\n{} at {}x{}: one clip in {one:.2} s, two at once in {two:.2} s: {:.2} times as many clips a second; peak memory {} MiB",
        SCENES[0].0,
        job.width,
        job.height,
        2.0 * one / two,
        peak_memory()? >> 20
    );
    Ok(report)
}

fn render(job: &Job) -> Result<(), String> {
    Procedural.render(job, &mut |_| ControlFlow::Continue(())).map(drop).map_err(|error| error.to_string())
}

/// Wall-clock seconds that `count` threads take for one clip each.
fn parallel_seconds(job: &Job, count: usize) -> Result<f64, String> {
    let started = Instant::now();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(|| render(job))).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|_| Err("a rendering panicked".to_owned())))
    })?;
    Ok(started.elapsed().as_secs_f64())
}

/// CPU seconds of this thread for `work`, from the kernel's accounting.
fn cpu_seconds<T>(work: impl FnOnce() -> T) -> Result<(f64, T), String> {
    let before = thread_nanoseconds()?;
    let outcome = work();
    Ok(((thread_nanoseconds()? - before) as f64 / 1e9, outcome))
}

fn thread_nanoseconds() -> Result<u64, String> {
    read_number("/proc/thread-self/schedstat", |text| text.split_whitespace().next().map(str::to_owned))
}

/// Peak resident memory of this process in bytes.
fn peak_memory() -> Result<u64, String> {
    let kibibytes = read_number("/proc/self/status", |text| {
        let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
        line.split_whitespace().nth(1).map(str::to_owned)
    })?;
    Ok(kibibytes * 1024)
}

fn read_number(path: &str, pick: impl Fn(&str) -> Option<String>) -> Result<u64, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}; this needs Linux"))?;
    pick(&text)
        .and_then(|number| number.parse().ok())
        .ok_or_else(|| format!("{path} has an unexpected format"))
}

fn job(prompt: &str, width: u32, height: u32) -> Job {
    Job {
        prompt: prompt.to_owned(),
        model: String::new(),
        width,
        height,
        frame_rate: 24,
        seconds: SECONDS,
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
    }
}
