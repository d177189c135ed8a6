//! Files that are not read natively, with ffmpeg and without. Skipped with a message where it is not installed.

use media::{Ffmpeg, JoinOptions, MediaError, join, probe};

use crate::fixtures::{PLAIN, Recipe, psnr};
use crate::foreign::{ffmpeg, make, whole_clips};

#[test]
fn ffmpeg_takes_over_files_that_only_appear_damaged() {
    let Some(program) = ffmpeg() else { return };
    let ffmpeg = Ffmpeg::with_ffmpeg(program);
    let folder = tempfile::tempdir().unwrap();
    let clip = Recipe { frames: 30, sound: Some((48_000, 2)), ..PLAIN }.make();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    // Without a box that players do not use.
    let mut odd = clip.clone();
    let dinf = odd.windows(4).position(|name| name == b"dinf").unwrap();
    odd[dinf..dinf + 4].copy_from_slice(b"free");
    let odd = write("odd.mp4", &odd);
    assert!(matches!(probe(&odd).unwrap_err().root(), MediaError::Damaged(_)));
    let probed = ffmpeg.probe(&odd).unwrap().video.unwrap();
    assert_eq!((probed.width, probed.height, probed.frames), (160, 96, 30));
    let last = media::last_frame_bytes(&clip).unwrap();
    assert!(psnr(&ffmpeg.last_frame(&odd).unwrap(), &last) > 28.0);
    let film = folder.path().join("film.mp4");
    let options = JoinOptions { ffmpeg: ffmpeg.clone(), ..JoinOptions::default() };
    join(&whole_clips(&[odd]), &film, &options).unwrap();
    assert_eq!(probe(&film).unwrap().video.unwrap().frames, 30);

    let cut = write("cut.mp4", &clip[..clip.len() - 500]);
    for error in [ffmpeg.probe(&cut).map(drop), ffmpeg.last_frame(&cut).map(drop)] {
        let error = error.unwrap_err();
        assert!(matches!(error.root(), MediaError::Damaged(_)), "{error}");
    }
    assert!(join(&whole_clips(&[cut]), &film, &options).is_err());
    let page = write("page.mp4", b"<!doctype html><title>502 Bad Gateway</title>");
    assert!(ffmpeg.probe(&page).unwrap_err().to_string().contains("web page"));
}

#[test]
fn webm_names_ffmpeg_where_it_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clip.mp4");
    std::fs::write(&path, b"\x1a\x45\xdf\xa3 and so on, for a while").unwrap();
    let error = Ffmpeg::default().probe(&path).unwrap_err();
    assert!(error.needs_ffmpeg() && error.to_string().contains("WebM"), "{error}");
}

#[test]
fn length_of_a_stream_is_measured() {
    let Some(program) = ffmpeg() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.webm");
    let options = ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-an", "-live", "1"];
    if make(&program, &path, &options) {
        let probe = Ffmpeg::with_ffmpeg(program).probe(&path).unwrap();
        let video = probe.video.unwrap();
        assert_eq!(video.frames, 30);
        assert!((probe.duration.as_secs_f64() - 1.2).abs() < 0.05, "{:?}", probe.duration);
    }
}
