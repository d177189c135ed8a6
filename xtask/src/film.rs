//! Whether a film is whole: by our own probe and, where it is at hand, by ffprobe.

use std::path::Path;
use std::process::Command;

/// Probes `file` and says what it is, or what is wrong with it.
pub(crate) fn check(file: &Path) -> Result<String, String> {
    let shown = file.display();
    let probe = media::probe(file).map_err(|error| format!("{shown}: {error}"))?;
    let video = probe.video.as_ref().ok_or_else(|| format!("{shown}: holds no pictures"))?;
    let audio = probe.audio.as_ref().ok_or_else(|| format!("{shown}: holds no sound"))?;
    let seconds = probe.duration.as_secs_f64();
    if seconds < 1.0 || !probe.faststart {
        return Err(format!("{shown}: {seconds} s long, faststart {}", probe.faststart));
    }
    let apart = (audio.duration.as_secs_f64() - seconds).abs();
    if apart > 0.1 {
        return Err(format!("{shown}: sound and pictures end {apart:.3} s apart"));
    }
    let second_opinion = second_opinion(file, seconds)?;
    Ok(format!("{shown}: {seconds:.2} s, {}x{}, with sound; {second_opinion}", video.width, video.height))
}

fn second_opinion(file: &Path, seconds: f64) -> Result<String, String> {
    let asked = Command::new("ffprobe")
        .args([
            "-v",
            "error",
            "-show_entries",
            "format=duration",
            "-of",
            "default=noprint_wrappers=1:nokey=1",
        ])
        .arg(file)
        .output();
    let Ok(told) = asked else { return Ok("ffprobe is not at hand for a second opinion".to_owned()) };
    let complaints = String::from_utf8_lossy(&told.stderr);
    if !told.status.success() || !complaints.trim().is_empty() {
        return Err(format!("ffprobe complains: {complaints}"));
    }
    let length: f64 = String::from_utf8_lossy(&told.stdout)
        .trim()
        .parse()
        .map_err(|error| format!("ffprobe says no duration: {error}"))?;
    if (length - seconds).abs() > 0.1 {
        return Err(format!("ffprobe says {length} s, we say {seconds} s"));
    }
    Ok("ffprobe agrees".to_owned())
}
