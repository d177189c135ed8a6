//! CPU seconds per clip by scene, kind and size, with the shares of drawing, encoding and sound, beside an earlier commit if one is named; then the
//! seam of a chain, and several clips in parallel.

mod program;
mod seam;

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use renderer::{Job, Procedural, Renderer};

use self::program::{Measurement, Program};

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

/// Kinds of clips, with how many times as fast as f1391e9 each is wanted.
const KINDS: [(&str, f64); 3] = [("scene", 4.0), ("fast", 8.0), ("animatic", 8.0)];

/// Measures every scene at 480p and the first at 720p, then seams, then the first scene on one and on two threads. The error is the report where
/// a bound is exceeded.
pub(crate) fn measure(root: &Path, against: Option<&str>) -> Result<String, String> {
    let own = Program::own(root)?;
    let other = against.map(|commit| Program::from_commit(root, commit)).transpose()?;
    let mut report = String::from(
        "| scene | size | kind | CPU s | drawing | encoding, last frame | sound | AAC | times as fast | without AAC |\n|---|---|---|---|---|---|---|---|---|---|\n",
    );
    let mut slowest = [f64::INFINITY; KINDS.len()];
    let clips = SCENES.map(|scene| (scene, SMALL)).into_iter().chain([(SCENES[0], LARGE)]);
    for ((name, prompt), size) in clips {
        let costs = own.measure(prompt, size, SECONDS, Measurement::All)?;
        // One after the other, so that what else the machine does slows both.
        let before = other.as_ref().map(|other| other.measure(prompt, size, SECONDS, Measurement::Totals));
        let before = before.transpose()?;
        for ((kind, _), slowest) in KINDS.iter().zip(&mut slowest) {
            let row_start = report.len();
            let cost = costs.get(*kind).ok_or("a kind of clip was not measured")?;
            // An animatic replaces what there was, which had no such look.
            let earlier = before.as_ref().and_then(|before| before.get(*kind));
            let ratio = earlier.map(|earlier| earlier.total / cost.total);
            let without_aac = earlier.map(|earlier| earlier.thread / cost.thread);
            *slowest = slowest.min(ratio.unwrap_or(f64::NAN));
            let times = |ratio: Option<f64>| ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}"));
            let share = |part: f64| format!("{:.0} %", 100.0 * part.max(0.0) / cost.total);
            let _ = writeln!(
                report,
                "| {name} | {}x{} | {kind} | {:.2} | {} | {} | {} | {} | {} | {} |",
                size.0,
                size.1,
                cost.total,
                share(cost.drawing),
                share(cost.silent - cost.drawing),
                share(cost.thread - cost.silent),
                share(cost.total - cost.thread),
                times(ratio),
                times(without_aac),
            );
            // All of them take minutes.
            eprint!("{}", &report[row_start..]);
        }
    }
    let mut is_met = true;
    if against.is_some() {
        for ((kind, min_ratio), slowest) in KINDS.iter().zip(slowest) {
            is_met &= slowest >= *min_ratio;
            let verdict = if slowest >= *min_ratio { "kept" } else { "not kept" };
            let _ = writeln!(
                report,
                "{kind}: at least {slowest:.2} times as fast; {min_ratio} is wanted: {verdict}"
            );
        }
    }
    let seam = seam::measure(&job(SCENES[0].1, SMALL.0, SMALL.1))?;
    is_met &= seam.is_continuous;
    report.push_str(&seam.report);
    let job = job(SCENES[0].1, SMALL.0, SMALL.1);
    let (one_clip, two_clips) = (parallel_seconds(&job, 1)?, parallel_seconds(&job, 2)?);
    let _ = writeln!(
        report,
        "\n{} at {}x{}: one clip in {one_clip:.2} s, two at once in {two_clips:.2} s: {:.2} times as many clips a second; peak memory {:.0} MB",
        SCENES[0].0,
        job.width,
        job.height,
        2.0 * one_clip / two_clips,
        super::peak_megabytes(std::process::id()).unwrap_or(f64::NAN)
    );
    if is_met { Ok(report) } else { Err(format!("{report}\na bound is exceeded")) }
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

fn job(prompt: &str, width: u32, height: u32) -> Job {
    Job { generate_audio: true, ..Job::new(prompt, (width, height), SECONDS) }
}
