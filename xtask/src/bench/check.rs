//! How long a person waits for `runner check`, from the start of the process to its end.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SHOTS: usize = 50;
const WARM_UP: usize = 5;
const RUNS: usize = 60;
/// What the median run has to take less than.
const BOUND: Duration = Duration::from_millis(20);

pub(super) fn measure(root: &Path) -> Result<String, String> {
    let told = |error: &dyn std::fmt::Display| error.to_string();
    let built = Command::new("cargo")
        .args(["build", "--release", "--quiet", "-p", "runner"])
        .current_dir(root)
        .status()
        .map_err(|error| told(&error))?;
    if !built.success() {
        return Err("the runner cannot be built".to_owned());
    }
    let program = std::env::current_exe().map_err(|error| told(&error))?.with_file_name("runner");
    let project = tempfile::tempdir().map_err(|error| told(&error))?;
    fs_err::write(project.path().join("storyboard.yaml"), storyboard()).map_err(|error| told(&error))?;
    let check = || {
        let started = Instant::now();
        let ended = Command::new(&program)
            .args(["check", "storyboard.yaml"])
            .current_dir(project.path())
            .stdin(Stdio::null())
            .output()
            .map_err(|error| error.to_string())?;
        let took = started.elapsed();
        if ended.status.success() {
            Ok(took)
        } else {
            Err(String::from_utf8_lossy(&ended.stderr).into_owned())
        }
    };
    for _ in 0..WARM_UP {
        check()?;
    }
    let mut times = (0..RUNS).map(|_| check()).collect::<Result<Vec<Duration>, String>>()?;
    times.sort_unstable();
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    let (least, median, greatest) = (times[0], times[RUNS / 2], times[RUNS - 1]);
    let report = format!(
        "runner check of {SHOTS} shots, {RUNS} runs: median {:.1} ms, least {:.1} ms, greatest {:.1} ms (bound {} ms)",
        milliseconds(median),
        milliseconds(least),
        milliseconds(greatest),
        BOUND.as_millis(),
    );
    if median > BOUND { Err(report) } else { Ok(report) }
}

/// Five chains of ten shots, as a film maker writes them.
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
