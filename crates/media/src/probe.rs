//! Probing: duration, tracks and codecs of a file. Reads the index only, decodes nothing.

use std::path::Path;
use std::time::Duration;

use crate::h264::DecoderConfig;
use crate::mp4::{AudioConfig, Movie, Track, audio_config};
use crate::presentation::Presentation;
use crate::rate::duration;
use crate::{FrameRate, MediaError};

/// Duration and tracks of a file.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Probe {
    /// Presentation duration: that of the longest track, edit lists applied.
    pub duration: Duration,
    /// The first video track.
    pub video: Option<VideoTrack>,
    /// The first audio track.
    pub audio: Option<AudioTrack>,
    /// The index precedes the samples, so that playback can start before the whole file has arrived.
    pub is_faststart: bool,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct VideoTrack {
    /// `H.264`, `HEVC`, `AV1`, `VP9`, or the four letters of the file.
    pub codec: String,
    /// The profile where it is known, e.g. `High`.
    pub profile: Option<String>,
    /// Presented width in square pixels, after the display matrix.
    pub width: u32,
    /// Presented height in square pixels, after the display matrix.
    pub height: u32,
    /// The mean frame rate.
    pub frame_rate: FrameRate,
    /// Presented frames.
    pub frames: u64,
    /// How long the track plays, from its first frame on.
    pub duration: Duration,
    /// How long after the beginning of the file its first frame is presented.
    pub start: Duration,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct AudioTrack {
    /// `AAC`, `MP3`, `Opus`, or the four letters of the file.
    pub codec: String,
    /// Samples per second and channel.
    pub sample_rate: u32,
    pub channels: u16,
    /// How long the track plays.
    pub duration: Duration,
}

/// Probes an MP4 file with any codecs.
///
/// # Errors
/// [`MediaError::NotMedia`] for anything but MP4, [`MediaError::Damaged`] for an index that contradicts itself or the file's length,
/// [`MediaError::Io`] when it cannot be read; all of them name the file.
pub fn probe(path: &Path) -> Result<Probe, MediaError> {
    Movie::open(path).and_then(|movie| describe(&movie)).map_err(|error| error.at(path))
}

/// The same for a file in memory.
///
/// # Errors
/// As [`probe`], without a file to name.
pub fn probe_bytes(bytes: &[u8]) -> Result<Probe, MediaError> {
    describe(&Movie::from_bytes(bytes.to_vec())?)
}

pub(crate) fn describe(movie: &Movie) -> Result<Probe, MediaError> {
    let video = movie.video.as_ref().map(video_track).transpose()?;
    let audio = movie.audio.as_ref().map(audio_track);
    if video.is_none() && audio.is_none() {
        return Err(MediaError::damaged("it has neither video nor sound"));
    }
    let tracks = [video.as_ref().map(|v| v.duration), audio.as_ref().map(|a| a.duration)];
    let duration = tracks.into_iter().flatten().max().unwrap_or_default();
    Ok(Probe { duration, video, audio, is_faststart: movie.is_faststart })
}

fn video_track(track: &Track) -> Result<VideoTrack, MediaError> {
    let field = |offset: usize| {
        track
            .entry
            .get(offset..offset + 2)
            .map_or(0, |side| u32::from(u16::from_be_bytes([side[0], side[1]])))
    };
    let (mut width, mut height, mut profile) = (field(32), field(34), None);
    if let Some(avcc) = track.configuration(*b"avcC") {
        let config = DecoderConfig::parse(avcc)?;
        (width, height) = (config.sps.width, config.sps.height);
        profile = Some(config.sps.profile_name());
    }
    let (width, height) = Presentation::from_track(track).size((width, height));
    let gap: i64 = track.edits.iter().take_while(|edit| edit.media.is_none()).map(|edit| edit.length).sum();
    let start = duration(gap.max(0) as u128, track.timescale);
    Ok(VideoTrack {
        codec: coding_name(track.coding()),
        profile,
        width,
        height,
        frame_rate: frame_rate(track),
        frames: track.samples.iter().filter(|sample| track.is_presented(sample)).count() as u64,
        duration: length(track).saturating_sub(start),
        start,
    })
}

pub(crate) fn audio_track(track: &Track) -> AudioTrack {
    let number = |offset: usize| {
        track.entry.get(offset..offset + 2).map_or(0, |field| u16::from_be_bytes([field[0], field[1]]))
    };
    let mut described = AudioTrack {
        codec: coding_name(track.coding()),
        sample_rate: u32::from(number(32)),
        channels: number(24),
        duration: length(track),
    };
    if let Some(AudioConfig { object_type, specific }) = aac_config(track) {
        match object_type {
            0x69 | 0x6b => "MP3".clone_into(&mut described.codec),
            0x40 | 0x66..=0x68 => {}
            unknown => described.codec = format!("MPEG-4 sound of type 0x{unknown:02x}"),
        }
        // The decoder configuration overrides the box.
        if let Ok(stream) = rusty_aac::config::parse(&specific) {
            described.sample_rate = if stream.sbr { stream.ext_sample_rate } else { stream.sample_rate };
            described.channels = if stream.ps { 2 } else { stream.channels() as u16 };
        }
    }
    described
}

/// The decoder set-up of an `mp4a` track.
pub(crate) fn aac_config(track: &Track) -> Option<AudioConfig> {
    (track.coding() == *b"mp4a").then(|| track.configuration(*b"esds").and_then(audio_config)).flatten()
}

/// A name for people.
pub(crate) fn coding_name(coding: [u8; 4]) -> String {
    match &coding {
        b"avc1" | b"avc3" => "H.264",
        b"hvc1" | b"hev1" | b"dvh1" | b"dvhe" => "HEVC",
        b"av01" => "AV1",
        b"vp09" => "VP9",
        b"vp08" => "VP8",
        b"mp4v" => "MPEG-4 Visual",
        b"mp4a" => "AAC",
        b".mp3" => "MP3",
        b"sowt" | b"twos" | b"lpcm" | b"raw " | b"in24" | b"in32" | b"fl32" | b"fl64" | b"ipcm" | b"fpcm" => {
            "PCM"
        }
        b"apco" | b"apcs" | b"apcn" | b"apch" | b"ap4h" | b"ap4x" => "ProRes",
        b"mjpa" | b"mjpb" | b"jpeg" => "Motion JPEG",
        b"Opus" => "Opus",
        b"fLaC" => "FLAC",
        b"ac-3" => "AC-3",
        b"ec-3" => "E-AC-3",
        other => return other.escape_ascii().to_string(),
    }
    .to_owned()
}

fn length(track: &Track) -> Duration {
    duration(track.presented().max(0) as u128, track.timescale)
}

/// The exact rate where all frames last equally long, a near common one otherwise.
fn frame_rate(track: &Track) -> FrameRate {
    let durations = || track.samples.iter().map(|s| s.duration);
    // The last one often differs: nothing follows that would fix its end.
    let body = track.samples.len().saturating_sub(1).max(1);
    let first = durations().next().unwrap_or(0);
    if let (true, Some(rate)) =
        (durations().take(body).all(|d| d == first), FrameRate::new(track.timescale, first))
    {
        return rate;
    }
    let ticks: u64 = durations().map(u64::from).sum();
    nearest_rate(track.samples.len() as f64 * f64::from(track.timescale) / ticks.max(1) as f64)
}

/// A rate that was measured, as a fraction: a common one when it is near enough.
pub(crate) fn nearest_rate(measured: f64) -> FrameRate {
    let common =
        [(24_000, 1001), (24, 1), (25, 1), (30_000, 1001), (30, 1), (50, 1), (60_000, 1001), (60, 1)];
    common
        .into_iter()
        .filter_map(|(numerator, denominator)| FrameRate::new(numerator, denominator))
        .find(|rate| (rate.as_f64() - measured).abs() < rate.as_f64() * 0.0004)
        .or_else(|| FrameRate::new((measured * 1000.0).round().clamp(1.0, 1e6) as u32, 1000))
        .unwrap_or(FrameRate::CINEMA)
}
