//! CPU seconds per clip of the embedded service by kind of shot and size, beside an earlier commit if one is named, and several clips in parallel.

mod program;

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use renderer::{Animatic, Job, Renderer};

use self::program::Program;

const SECONDS: f64 = 5.0;
/// What moves decides what a shot costs.
const SHOTS: [(&str, &str); 4] = [
    ("nothing moves", "A lone keeper climbs the stairs of a lighthouse at dusk. He looks out over the sea."),
    ("the camera", "A lone keeper climbs the stairs of a lighthouse at dusk. Slow push in."),
    ("rain", "A lone keeper climbs the stairs of a lighthouse at night, in the rain."),
    ("camera and snow", "It is snowing. A lone keeper climbs the stairs of a lighthouse. Orbit."),
];
const SIZES: [(u32, u32); 3] = [(854, 480), (1280, 720), (1920, 1080)];
/// How many times as fast as the other commit each clip is wanted at the first size.
const MIN_RATIO: f64 = 2.0;
/// How many times as fast as it plays a clip without sound is wanted at the last size.
const MIN_SPEED: f64 = 6.0;

/// Measures every shot at each size, then the second on one and on two threads. The error is the report where a bound is exceeded.
pub(crate) fn measure(root: &Path, against: Option<&str>) -> Result<String, String> {
    let own = Program::own(root)?;
    let other = against.map(|commit| Program::from_commit(root, commit)).transpose()?;
    let mut report = String::from(
        "| what moves | size | CPU s | of it sound | times as fast as it plays | as the other commit |\n|---|---|---|---|---|---|\n",
    );
    let mut is_met = true;
    for (size, (name, prompt)) in SIZES.into_iter().flat_map(|size| SHOTS.map(|shot| (size, shot))) {
        let cost = own.measure(prompt, size, SECONDS)?;
        // One after the other, so that what else the machine does slows both.
        let before = other.as_ref().map(|other| other.measure(prompt, size, SECONDS)).transpose()?;
        let ratio = before.map(|before| before.total / cost.total);
        is_met &= size != SIZES[0] || ratio.is_none_or(|ratio| ratio >= MIN_RATIO);
        let speed = SECONDS / cost.silent;
        is_met &= size != SIZES[2] || speed >= MIN_SPEED;
        let _ = writeln!(
            report,
            "| {name} | {}x{} | {:.2} | {:.0} % | {speed:.1} | {} |",
            size.0,
            size.1,
            cost.total,
            100.0 * (cost.total - cost.silent).max(0.0) / cost.total,
            ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}")),
        );
    }
    let (one_clip, two_clips) = (parallel_seconds(1)?, parallel_seconds(2)?);
    let _ = writeln!(
        report,
        "\none clip at {}x{} in {one_clip:.2} s, two at once in {two_clips:.2} s: {:.2} times as many clips a second; peak memory {:.0} MB",
        SIZES[0].0,
        SIZES[0].1,
        2.0 * one_clip / two_clips,
        super::peak_megabytes(std::process::id()).unwrap_or(f64::NAN)
    );
    if is_met { Ok(report) } else { Err(format!("{report}\na bound is exceeded")) }
}

/// Wall-clock seconds that `count` threads take for one clip each.
fn parallel_seconds(count: usize) -> Result<f64, String> {
    let job = Job { generate_audio: true, ..Job::new(SHOTS[1].1, SIZES[0], SECONDS) };
    let render = || {
        let rendered = Animatic.render(&job, &mut |_| ControlFlow::Continue(()));
        rendered.map(drop).map_err(|error| error.to_string())
    };
    let started = Instant::now();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(render)).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|_| Err("a rendering panicked".to_owned())))
    })?;
    Ok(started.elapsed().as_secs_f64())
}
