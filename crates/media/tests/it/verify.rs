//! Verification of videos: damage anywhere in the data is found, intact ones pass.

use std::path::{Path, PathBuf};

use media::{Ffmpeg, MediaError, probe};

use crate::fixtures::{PLAIN, Recipe};
use crate::foreign;

fn write(folder: &Path, bytes: &[u8]) -> PathBuf {
    let path = folder.join("clip.mp4");
    std::fs::write(&path, bytes).unwrap();
    path
}

fn clip() -> Vec<u8> {
    Recipe { frames: 24, sound: Some((16_000, 1)), ..PLAIN }.make()
}

/// The clip without the data of `length` bytes at a position in it, given as a fraction.
fn zeroed(clip: &[u8], fraction: f64, length: usize) -> Vec<u8> {
    let mut bytes = clip.to_vec();
    let data = bytes.windows(4).position(|name| name == b"mdat").unwrap() + 4;
    let from = data + ((bytes.len() - data - length) as f64 * fraction) as usize;
    bytes[from..from + length].fill(0);
    bytes
}

#[test]
fn intact_clip_is_probed() {
    let folder = tempfile::tempdir().unwrap();
    for sound in [None, Some((16_000, 1))] {
        let path = write(folder.path(), &Recipe { sound, ..PLAIN }.make());
        assert_eq!(Ffmpeg::default().verify(&path).unwrap(), probe(&path).unwrap());
    }
}

#[test]
fn damage_anywhere_in_the_data_is_detected() {
    let folder = tempfile::tempdir().unwrap();
    let clip = clip();
    for fraction in [0.0, 0.2, 0.5, 0.8, 1.0] {
        let path = write(folder.path(), &zeroed(&clip, fraction, 200));
        probe(&path).expect("the index is intact");
        let error = Ffmpeg::default().verify(&path).unwrap_err();
        assert!(matches!(error.root(), MediaError::Damaged(_)), "{fraction}: {error}");
    }
}

#[test]
fn truncated_clip_and_other_content_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let clip = clip();
    let path = write(folder.path(), &clip[..clip.len() - 10]);
    assert!(Ffmpeg::default().verify(&path).unwrap_err().to_string().contains("incomplete"));
    let path = write(folder.path(), b"<!doctype html>");
    assert!(Ffmpeg::default().verify(&path).unwrap_err().to_string().contains("web page"));
}

#[test]
fn foreign_videos_are_verified_with_ffmpeg() {
    let Some(program) = foreign::ffmpeg() else { return };
    let ffmpeg = Ffmpeg::with_ffmpeg(program.clone());
    let folder = tempfile::tempdir().unwrap();
    let webm = &["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-c:a", "libopus"][..];
    let hevc = &["-c:v", "libx265", "-x265-params", "log-level=none", "-pix_fmt", "yuv420p", "-c:a", "aac"];
    let faststart = &["-movflags", "faststart"];
    for (name, options) in [("clip.webm", webm.to_vec()), ("hevc.mp4", [&hevc[..], faststart].concat())] {
        let path = folder.path().join(name);
        if !foreign::make(&program, &path, &options) {
            continue;
        }
        let probe = ffmpeg.verify(&path).unwrap();
        assert_eq!(probe.video.unwrap().width, 192, "{name}");
        let intact = std::fs::read(&path).unwrap();
        std::fs::write(&path, &intact[..intact.len() * 2 / 3]).unwrap();
        let error = ffmpeg.verify(&path).unwrap_err();
        assert!(matches!(error.root(), MediaError::Damaged(_)), "{name}: {error}");
        let mut zeroed = intact.clone();
        let half = zeroed.len() / 2;
        zeroed[half..half + 300].fill(0);
        std::fs::write(&path, &zeroed).unwrap();
        let error = ffmpeg.verify(&path).unwrap_err();
        assert!(matches!(error.root(), MediaError::Damaged(_)), "{name}: {error}");
    }
    // What only ffmpeg decodes is not called damaged where it is missing.
    let hevc = folder.path().join("only.mp4");
    if foreign::make(&program, &hevc, &["-c:v", "mpeg4", "-an"]) {
        assert_eq!(Ffmpeg::default().verify(&hevc).unwrap().video.unwrap().frames, 30);
    }
}
