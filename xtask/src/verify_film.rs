//! Verifies a film file: with this project's probe and, where it is installed, with ffprobe.

use std::path::Path;
use std::process::Command;

/// Tolerance between durations that have to agree.
const MAX_GAP_SECONDS: f64 = 0.1;

/// A summary of the film, or what is wrong with it.
pub(crate) fn verify(file: &Path) -> Result<String, String> {
    let name = file.display();
    let probe = media::probe(file).map_err(|error| format!("{name}: {error}"))?;
    let video = probe.video.as_ref().ok_or_else(|| format!("{name}: has no video track"))?;
    let audio = probe.audio.as_ref().ok_or_else(|| format!("{name}: has no audio track"))?;
    let seconds = probe.duration.as_secs_f64();
    if seconds < 1.0 || !probe.is_faststart {
        return Err(format!("{name}: {seconds} s long, faststart {}", probe.is_faststart));
    }
    let gap = (audio.duration.as_secs_f64() - seconds).abs();
    if gap > MAX_GAP_SECONDS {
        return Err(format!("{name}: video and audio end {gap:.3} s apart"));
    }
    let ffprobe = ffprobe(file, seconds)?;
    Ok(format!("{name}: {seconds:.2} s, {}x{}, with audio; {ffprobe}", video.width, video.height))
}

fn ffprobe(file: &Path, seconds: f64) -> Result<String, String> {
    let result = Command::new("ffprobe")
        .args("-v error -show_entries format=duration -of default=noprint_wrappers=1:nokey=1".split(' '))
        .arg(file)
        .output();
    let Ok(output) = result else { return Ok("ffprobe is not installed, skipped".to_owned()) };
    let errors = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || !errors.trim().is_empty() {
        return Err(format!("ffprobe reports: {errors}"));
    }
    let duration: f64 = String::from_utf8_lossy(&output.stdout)
        .trim()
        .parse()
        .map_err(|error| format!("ffprobe reports no duration: {error}"))?;
    if (duration - seconds).abs() > MAX_GAP_SECONDS {
        return Err(format!("ffprobe reports {duration} s, `media::probe` {seconds} s"));
    }
    Ok("ffprobe agrees".to_owned())
}
