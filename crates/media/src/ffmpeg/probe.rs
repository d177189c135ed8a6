//! Probing with ffprobe, for containers that are not read natively.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use super::process::{file_url, restrictions};
use super::{Ffmpeg, tool};
use crate::presentation::Presentation;
use crate::probe::{coding_name, nearest_rate};
use crate::{AudioTrack, FrameRate, MediaError, Probe, VideoTrack};

impl Ffmpeg {
    /// Probes a file with ffprobe.
    pub(super) fn ffprobe(&self, path: &Path) -> Result<Probe, MediaError> {
        let mut arguments: Vec<OsString> = Vec::new();
        arguments.extend(["-v", "error", "-show_streams", "-show_format", "-of", "flat"].map(OsString::from));
        arguments.extend(restrictions());
        arguments.push(file_url(path));
        let (text, _) = self.text("ffprobe", self.ffprobe.as_deref(), &arguments)?;
        let mut probe =
            read_probe(&text).ok_or_else(|| tool("ffprobe", "found neither video nor sound in the file"))?;
        // Files that were written as a stream do not say how long they are.
        if let Some(video) = probe.video.as_mut().filter(|video| video.duration.is_zero()) {
            let decoded = self.decode_whole(path)?;
            (video.frames, video.duration) = (decoded.frames, decoded.duration);
            probe.duration = probe.duration.max(decoded.duration);
        }
        Ok(probe)
    }
}

/// Reads ffprobe's flat form: lines such as `streams.stream.0.width=854`.
fn read_probe(text: &str) -> Option<Probe> {
    let value = |key: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
            .map(|value| value.trim_matches('"'))
    };
    let seconds = |key: &str| {
        let seconds: f64 = value(key)?.parse().ok()?;
        Duration::try_from_secs_f64(seconds).ok()
    };
    let container_duration = seconds("format.duration").unwrap_or_default();
    let mut probe = Probe { duration: container_duration, video: None, audio: None, is_faststart: false };
    for stream in 0..16 {
        let key = |field: &str| format!("streams.stream.{stream}.{field}");
        let codec = || {
            let name = value(&key("codec_name")).unwrap_or("unknown");
            match name {
                "h264" => coding_name(*b"avc1"),
                "hevc" => coding_name(*b"hvc1"),
                "aac" => coding_name(*b"mp4a"),
                other => other.to_uppercase(),
            }
        };
        let number = |field: &str| value(&key(field)).and_then(|n| n.parse::<u32>().ok()).unwrap_or(0);
        let start = seconds(&key("start_time")).unwrap_or_default();
        // Matroska has a track's own end in a tag; the container lasts as long as the longest.
        let tagged = || Some(value(&key("tags.DURATION")).and_then(clock)?.saturating_sub(start));
        let duration = seconds(&key("duration")).or_else(tagged).unwrap_or(container_duration);
        match value(&key("codec_type")) {
            // The cover of a sound file is no video.
            Some("video") if value(&key("disposition.attached_pic")) == Some("1") => {}
            Some("video") if probe.video.is_none() => {
                let (numerator, denominator) =
                    value(&key("avg_frame_rate")).and_then(|rate| rate.split_once('/'))?;
                let frame_rate = FrameRate::new(numerator.parse().ok()?, denominator.parse().ok()?)
                    .unwrap_or_else(|| nearest_rate(25.0));
                let counted = value(&key("nb_frames")).and_then(|n| n.parse().ok());
                let pixel = value(&key("sample_aspect_ratio")).and_then(|ratio| ratio.split_once(':'));
                let pixel =
                    pixel.and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
                let rotation = (0..4)
                    .find_map(|data| value(&key(&format!("side_data_list.side_data.{data}.rotation"))))
                    .or_else(|| value(&key("tags.rotate")))
                    .and_then(|degrees| degrees.parse::<f64>().ok());
                let presentation = Presentation::from_rotation(rotation.unwrap_or(0.0), pixel);
                let (width, height) = presentation.size((number("width"), number("height")));
                probe.video = Some(VideoTrack {
                    codec: codec(),
                    profile: value(&key("profile")).map(str::to_owned),
                    width,
                    height,
                    frame_rate,
                    frames: counted.unwrap_or((duration.as_secs_f64() * frame_rate.as_f64()).round() as u64),
                    duration,
                    start: start.saturating_sub(seconds("format.start_time").unwrap_or_default()),
                });
            }
            Some("audio") if probe.audio.is_none() => {
                let (sample_rate, channels) = (number("sample_rate"), number("channels") as u16);
                probe.audio = Some(AudioTrack { codec: codec(), sample_rate, channels, duration });
            }
            _ => {}
        }
    }
    (probe.video.is_some() || probe.audio.is_some()).then_some(probe)
}

/// A time such as `00:00:01.480000000`.
fn clock(text: &str) -> Option<Duration> {
    let seconds = text.split(':').try_fold(0.0, |sum, part| Some(sum * 60.0 + part.parse::<f64>().ok()?))?;
    Duration::try_from_secs_f64(seconds).ok()
}
