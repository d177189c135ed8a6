//! What a program leaves behind: a video, or frames from which one is encoded here.

use std::path::{Path, PathBuf};

use fs_err as fs;
use media::{AudioDecodeSpec, ClipSpec, ClipWriter, Ffmpeg, FrameRate, RgbImage};

use super::internal;
use crate::{AUDIO_SAMPLE_RATE, Job, RenderError, Rendering};

/// Names in the working directory.
pub(super) const OUTPUT: &str = "output.mp4";
pub(super) const FRAMES: &str = "frames";
pub(super) const SOUND: &str = "sound.wav";

/// Limit of the size of the video, and of the sound.
const MAX_OUTPUT_BYTES: u64 = 1 << 30;

fn invalid(why: impl std::fmt::Display) -> RenderError {
    let message = format!("the renderer succeeded but its video cannot be used: {why}");
    RenderError::Task { code: "render_failed", message }
}

/// Reads and validates the video, or encodes the frames if there is none.
pub(super) fn read(dir: &Path, job: &Job) -> Result<Rendering, RenderError> {
    let output = dir.join(OUTPUT);
    let frames = frames(&dir.join(FRAMES))?;
    if !frames.is_empty() && std::fs::symlink_metadata(&output).is_err() {
        return encode(&frames, &dir.join(SOUND), job);
    }
    read_video(&output, job)
}

/// The PNG, JPEG and WebP files of a folder in the order of their names.
fn frames(dir: &Path) -> Result<Vec<PathBuf>, RenderError> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Ok(Vec::new()) };
    let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut paths = paths.map_err(|error| internal("listing its frames", &error))?;
    let is_image = |path: &PathBuf| {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        ["png", "jpg", "jpeg", "webp"].contains(&extension.to_ascii_lowercase().as_str())
    };
    paths.retain(is_image);
    paths.sort();
    Ok(paths)
}

/// Encodes the frames, spread evenly over the video: if they are fewer than it has, each is held.
fn encode(frames: &[PathBuf], sound: &Path, job: &Job) -> Result<Rendering, RenderError> {
    let rate = FrameRate::new(job.frame_rate, 1).ok_or_else(|| invalid("its frame rate is 0"))?;
    let spec = ClipSpec::new(job.width, job.height, rate);
    let sound = if job.generate_audio { read_sound(sound)? } else { None };
    let mut writer = ClipWriter::new(match &sound {
        Some(_) => spec.with_audio(AUDIO_SAMPLE_RATE, 2),
        None => spec,
    })?;
    if let Some(samples) = &sound {
        writer.push_audio(samples)?;
    }
    let frames_total = job.frames_total();
    let mut shown = None;
    for frame in 0..frames_total {
        let index = (u64::from(frame) * frames.len() as u64 / u64::from(frames_total)) as usize;
        if shown == Some(index) {
            writer.repeat_frame()?;
            continue;
        }
        shown = Some(index);
        writer.push_frame(&read_frame(&frames[index], job)?)?;
    }
    let mp4 = writer.finish()?;
    let last_frame = media::last_frame_bytes(&mp4)?;
    Ok(Rendering { mp4, last_frame })
}

fn read_frame(path: &Path, job: &Job) -> Result<RgbImage, RenderError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let bytes = read_file(path, media::MAX_IMAGE_BYTES as u64)?;
    let image = media::decode_image(&bytes).map_err(|error| invalid(format!("{name}: {}", error.root())))?;
    if (image.width(), image.height()) != (job.width, job.height) {
        return Err(invalid(format!(
            "{name} is {}x{}, not {}x{}",
            image.width(),
            image.height(),
            job.width,
            job.height
        )));
    }
    Ok(image)
}

/// The samples of a WAV file; `None` if there is none.
fn read_sound(path: &Path) -> Result<Option<Vec<f32>>, RenderError> {
    if std::fs::symlink_metadata(path).is_err() {
        return Ok(None);
    }
    let bytes = read_file(path, MAX_OUTPUT_BYTES)?;
    let spec = AudioDecodeSpec {
        sample_rate: AUDIO_SAMPLE_RATE,
        channels: 2,
        max_duration: std::time::Duration::from_mins(2),
    };
    let sound = media::decode_audio(&bytes, &Ffmpeg::default(), spec)
        .map_err(|error| invalid(format!("{SOUND}: {}", error.root())))?;
    Ok(Some(sound.samples))
}

/// Reads a regular file. Links are rejected: they could point to any file of this machine.
fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>, RenderError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let size = std::fs::symlink_metadata(path).map_err(|_| invalid(format!("there is no {name}")))?;
    if !size.is_file() || size.len() > limit {
        return Err(invalid(format!("{name} must be a regular file of at most {} MiB", limit >> 20)));
    }
    fs::read(path).map_err(|error| internal("reading its video", &error))
}

/// Reads and validates a video: MP4 with a decodable last frame.
fn read_video(output: &Path, job: &Job) -> Result<Rendering, RenderError> {
    let mp4 = read_file(output, MAX_OUTPUT_BYTES)?;
    let invalid_video = |error: media::MediaError| invalid(error.root());
    let probe = media::probe_bytes(&mp4).map_err(invalid_video)?;
    let last_frame = media::last_frame_bytes(&mp4).map_err(invalid_video)?;
    if (last_frame.width(), last_frame.height()) != (job.width, job.height) {
        tracing::warn!(
            requested = format!("{}x{}", job.width, job.height),
            actual = format!("{}x{}", last_frame.width(), last_frame.height()),
            seconds = probe.duration.as_secs_f64(),
            "the size of the renderer's video differs from the requested one"
        );
    }
    Ok(Rendering { mp4, last_frame })
}
