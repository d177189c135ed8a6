//! Joining clips into films.

use std::path::PathBuf;
use std::time::Duration;

use media::{FrameRate, JoinClip, JoinOptions, first_frame, join, last_frame, probe};

use crate::fixtures::{PLAIN, Recipe, psnr, sample_image};

fn is_copied(joined: &media::JoinReport) -> bool {
    joined.encoded_frames == 0
}

fn whole_clips(clips: &[PathBuf]) -> Vec<JoinClip> {
    clips.iter().cloned().map(JoinClip::whole).collect()
}

fn join_all(clips: &[PathBuf], folder: &std::path::Path) -> (media::JoinReport, PathBuf) {
    let film = folder.join("film.mp4");
    let joined = join(&whole_clips(clips), &film, &JoinOptions::default()).unwrap();
    (joined, film)
}

#[test]
fn join_clips_of_one_spec_copies_video_and_pads_audio() {
    let folder = tempfile::tempdir().unwrap();
    let clips = [
        Recipe { sound: Some((48_000, 2)), ..PLAIN }.write(folder.path(), "a.mp4"),
        Recipe { seed: 5, frames: 20, ..PLAIN }.write(folder.path(), "b.mp4"),
        Recipe { seed: 9, sound: Some((44_100, 1)), ..PLAIN }.write(folder.path(), "c.mp4"),
    ];
    let (joined, film) = join_all(&clips, folder.path());
    assert!(is_copied(&joined) && joined.has_audio);
    let probed = probe(&film).unwrap();
    let video = probed.video.unwrap();
    let audio = probed.audio.unwrap();
    assert_eq!(video.frames, 44);
    assert_eq!(video.duration, FrameRate::CINEMA.duration_of(44));
    assert_eq!(audio.channels, 2);
    assert!(audio.duration.abs_diff(video.duration) < Duration::from_micros(50));
    // Lossless: the very frames of the clips.
    assert_eq!(first_frame(&film).unwrap(), first_frame(&clips[0]).unwrap());
    assert_eq!(last_frame(&film).unwrap(), last_frame(&clips[2]).unwrap());
}

#[test]
fn join_silent_clips_has_no_audio_track() {
    let folder = tempfile::tempdir().unwrap();
    let clips = [PLAIN.write(folder.path(), "a.mp4"), PLAIN.write(folder.path(), "b.mp4")];
    let (joined, film) = join_all(&clips, folder.path());
    assert!(is_copied(&joined) && !joined.has_audio);
    assert!(probe(&film).unwrap().audio.is_none());
}

#[test]
fn join_different_clips_use_the_most_common_size_and_rate() {
    let folder = tempfile::tempdir().unwrap();
    let clips = [
        Recipe { size: (128, 128), rate: 30, frames: 30, seed: 2, ..PLAIN }.write(folder.path(), "a.mp4"),
        Recipe { frames: 24, seed: 3, ..PLAIN }.write(folder.path(), "b.mp4"),
        Recipe { frames: 24, seed: 6, sound: Some((48_000, 1)), ..PLAIN }.write(folder.path(), "c.mp4"),
    ];
    let (joined, film) = join_all(&clips, folder.path());
    assert!(!is_copied(&joined));
    assert_eq!((joined.size, joined.frame_rate), ((160, 96), FrameRate::CINEMA));
    let video = probe(&film).unwrap().video.unwrap();
    assert_eq!(video.frames, 72, "a second of each");
    let first = first_frame(&film).unwrap();
    assert!(first.pixel(2, 48).iter().all(|&c| c < 12), "bars beside the square image");
    assert!(psnr(&last_frame(&film).unwrap(), &sample_image(160, 96, 6, 23)) > 34.0);
}

#[test]
fn join_to_requested_size() {
    let folder = tempfile::tempdir().unwrap();
    let clips = [PLAIN.write(folder.path(), "a.mp4")];
    let film = folder.path().join("film.mp4");
    let options =
        JoinOptions { size: Some((320, 192)), frame_rate: FrameRate::new(12, 1), ..JoinOptions::default() };
    let joined = join(&whole_clips(&clips), &film, &options).unwrap();
    assert!(!is_copied(&joined));
    let video = probe(&film).unwrap().video.unwrap();
    assert_eq!((video.width, video.height, video.frames), (320, 192, 6));
}

#[test]
fn join_unreadable_clip_is_named_and_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let good = PLAIN.write(folder.path(), "good.mp4");
    let bad = folder.path().join("bad.mp4");
    std::fs::write(&bad, b"<html>gateway timeout</html>").unwrap();
    let film = folder.path().join("film.mp4");
    std::fs::write(&film, b"an older film").unwrap();
    let error = join(&whole_clips(&[good, bad]), &film, &JoinOptions::default()).unwrap_err().to_string();
    assert!(error.contains("bad.mp4") && error.contains("web page"), "{error}");
    assert_eq!(std::fs::read(&film).unwrap(), b"an older film");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "no temporary file is left");
    assert!(join(&whole_clips(&[]), &film, &JoinOptions::default()).is_err());
}
