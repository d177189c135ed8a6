//! Wall-clock time of `runner check`, from the start of the process to its end.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::release::release_runner;

const SHOTS: usize = 50;
const WARM_UP_RUNS: usize = 5;
const RUNS: usize = 60;
/// Upper bound of the median.
const MAX_MEDIAN: Duration = Duration::from_millis(20);

pub(super) fn measure(root: &Path) -> Result<String, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let program = release_runner(root)?;
    let project = tempfile::tempdir().map_err(|error| text(&error))?;
    fs_err::write(project.path().join("storyboard.yaml"), storyboard()).map_err(|error| text(&error))?;
    let check = || {
        let started = Instant::now();
        let output = Command::new(&program)
            .args(["check", "storyboard.yaml"])
            .current_dir(project.path())
            .stdin(Stdio::null())
            .output()
            .map_err(|error| error.to_string())?;
        let elapsed = started.elapsed();
        if output.status.success() {
            Ok(elapsed)
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    };
    for _ in 0..WARM_UP_RUNS {
        check()?;
    }
    let mut times = (0..RUNS).map(|_| check()).collect::<Result<Vec<Duration>, String>>()?;
    times.sort_unstable();
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    let (min, median, max) = (times[0], times[RUNS / 2], times[RUNS - 1]);
    let report = format!(
        "runner check of {SHOTS} shots, {RUNS} runs: median {:.1} ms, min {:.1} ms, max {:.1} ms (bound {} ms)",
        milliseconds(median),
        milliseconds(min),
        milliseconds(max),
        MAX_MEDIAN.as_millis(),
    );
    if median > MAX_MEDIAN { Err(report) } else { Ok(report) }
}

/// A workflow of five chains of ten shots.
fn storyboard() -> String {
    let mut text = String::from(
        "version: 1
name: scale
params:
  keeper: a grey-bearded lighthouse keeper in a worn yellow raincoat, brass lantern in hand
  look: 35 mm film, anamorphic, muted teal and slate palette, fine grain, natural motion
defaults: {model: modela-video-2-0-260128, resolution: 480p, ratio: \"16:9\", seconds: 5, generate_audio: true}
shots:
",
    );
    for shot in 0..SHOTS {
        let _ = writeln!(text, "  - id: shot-{shot}\n    seed: {shot}");
        if shot % 10 > 0 {
            let _ = writeln!(text, "    continues: shot-{}", shot - 1);
        }
        let _ = writeln!(
            text,
            "    prompt: \"{{{{ keeper }}}} in scene {shot}, the storm comes in. {{{{ look }}}}\""
        );
    }
    text
}
