//! Proxies: small versions of videos, of which many play at once.

use std::path::Path;

use crate::{Ffmpeg, FilmTags, Fit, JoinClip, JoinOptions, MediaError, Soundtrack, join};

/// The shorter side in pixels.
const SIDE: u32 = 180;
/// Frames from one key frame to the next: half a second of film, so that a position is found soon.
const KEY_INTERVAL: u32 = 12;

/// Whether a video of this size is so much larger than its proxy that it is worth one.
pub fn needs_proxy(width: u32, height: u32) -> bool {
    width.min(height) > SIDE * 3 / 2
}

/// Writes a small version of a video: the same frames at the same rate with 180 pixels on the shorter side, key frames every half a second,
/// and its sound. Returns `false`, and writes nothing, where the video is hardly larger than that ([`needs_proxy`]).
///
/// # Errors
/// As [`join`].
pub fn write_proxy(video: &Path, output: &Path, ffmpeg: &Ffmpeg) -> Result<bool, MediaError> {
    let Some(track) = ffmpeg.probe(video)?.video else { return Ok(false) };
    if !needs_proxy(track.width, track.height) {
        return Ok(false);
    }
    let shorter = track.width.min(track.height);
    let scaled = |side: u32| {
        let scaled = u64::from(side) * u64::from(SIDE) / u64::from(shorter);
        u32::try_from(scaled).unwrap_or(SIDE).next_multiple_of(2)
    };
    let options = JoinOptions {
        size: Some((scaled(track.width), scaled(track.height))),
        fit: Fit::Letterbox,
        frame_rate: Some(track.frame_rate),
        key_interval: Some(KEY_INTERVAL),
        overlays: None,
        soundtrack: Soundtrack::default(),
        poster: None,
        progress: None,
        tags: FilmTags::default(),
        ffmpeg: ffmpeg.clone(),
    };
    join(&[JoinClip::whole(video.to_owned())], output, &options).map(|_| true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mp4::Movie;
    use crate::{ClipSpec, ClipWriter, FrameRate, RgbImage, first_frame, last_frame, probe};

    fn video(width: u32, height: u32, frames: u32, path: &Path) {
        let spec = ClipSpec::new(width, height, FrameRate::new(24, 1).unwrap()).with_audio(48_000, 2);
        let mut writer = ClipWriter::new(spec).unwrap();
        for frame in 0..frames {
            let shade = |i: u32| (i / 3 % width * 200 / width + frame * 2) as u8;
            let pixels = (0..width * height * 3).map(shade).collect();
            writer.push_frame(&RgbImage::from_pixels(width, height, pixels).unwrap()).unwrap();
        }
        writer.push_audio(&vec![0.1; frames as usize * 2_000 * 2]).unwrap();
        fs_err::write(path, writer.finish().unwrap()).unwrap();
    }

    #[test]
    fn proxy_has_the_same_frames_and_sound_in_small() {
        let folder = tempfile::tempdir().unwrap();
        let (large, proxy) = (folder.path().join("large.mp4"), folder.path().join("proxy.mp4"));
        video(854, 480, 30, &large);
        assert!(write_proxy(&large, &proxy, &Ffmpeg::default()).unwrap());
        let probed = probe(&proxy).unwrap();
        let track = probed.video.unwrap();
        assert_eq!((track.width, track.height, track.frames), (320, 180, 30));
        assert!(probed.audio.is_some());
        let movie = Movie::open(&proxy).unwrap();
        let samples = movie.video.unwrap().samples;
        let keys: Vec<usize> = (0..samples.len()).filter(|&i| samples[i].is_sync).collect();
        assert_eq!(keys, [0, 12, 24]);
        let frames = [(first_frame(&proxy), first_frame(&large)), (last_frame(&proxy), last_frame(&large))];
        for (small, original) in frames.map(|(small, original)| (small.unwrap(), original.unwrap())) {
            let (original, samples) = (original.resized(320, 180), small.pixels().len() as u64);
            let pairs = small.pixels().iter().zip(original.pixels());
            let difference: u64 = pairs.map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
            assert!(difference < 4 * samples, "{} levels", difference as f64 / samples as f64);
        }
    }

    #[test]
    fn small_video_has_no_proxy() {
        let folder = tempfile::tempdir().unwrap();
        let (small, proxy) = (folder.path().join("small.mp4"), folder.path().join("proxy.mp4"));
        video(320, 240, 2, &small);
        assert!(!write_proxy(&small, &proxy, &Ffmpeg::default()).unwrap());
        assert!(!proxy.exists());
    }
}
