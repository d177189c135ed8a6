//! The media gate on files from other programs.

use std::process::Command;

use media::{MediaError, MediaKind, inspect};

use crate::fixtures::{PLAIN, Recipe};
use crate::foreign::{ffmpeg, note, text};

#[test]
fn sound_files_of_ffmpeg_are_accepted_and_damaged_ones_are_not() {
    let Some(program) = ffmpeg() else { return };
    let folder = tempfile::tempdir().unwrap();
    for (name, codec, is_checked) in [
        ("a.mp3", "libmp3lame", true),
        ("a.aac", "aac", true),
        ("a.m4a", "aac", true),
        ("vorbis.ogg", "libvorbis", true),
        ("opus.ogg", "libopus", true),
        ("a.flac", "flac", false),
        ("a.wav", "pcm_s16le", false),
    ] {
        let path = folder.path().join(name);
        let arguments = ["-v", "error", "-nostdin", "-f", "lavfi", "-i", "sine=440:d=2", "-c:a", codec];
        let made = Command::new(&program).args(arguments).arg(text(&path)).output().unwrap();
        if !made.status.success() {
            note("this ffmpeg cannot make such a file");
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let info = inspect(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(info.kind(), MediaKind::Audio, "{name}");
        if is_checked {
            let mut damaged = bytes.clone();
            let (from, until) = (bytes.len() / 4, bytes.len() - bytes.len() / 8);
            damaged[from..until].fill(0x55);
            let error = inspect(&damaged).expect_err(name);
            assert!(matches!(error, MediaError::Damaged(_)), "{name}: {error}");
        }
    }
}

#[test]
fn images_of_ffmpeg_are_accepted_and_truncated_ones_are_not() {
    let Some(program) = ffmpeg() else { return };
    let folder = tempfile::tempdir().unwrap();
    for (name, codec) in [
        ("a.png", &["png"][..]),
        ("deep.png", &["png", "-pix_fmt", "rgba64be"]),
        ("a.jpg", &["mjpeg"]),
        ("lossy.webp", &["libwebp"]),
        ("lossless.webp", &["libwebp", "-lossless", "1"]),
        ("moving.webp", &["libwebp_anim"]),
    ] {
        let path = folder.path().join(name);
        let source = ["-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=s=320x240:d=0.2"];
        let frames = if name == "moving.webp" { "5" } else { "1" };
        let mut command = Command::new(&program);
        command.args(source).args(["-frames:v", frames, "-c:v"]).args(codec).arg(text(&path));
        if !command.output().unwrap().status.success() {
            note("this ffmpeg cannot make such an image");
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(inspect(&bytes).unwrap().size, Some((320, 240)), "{name}");
        assert_eq!(media::image_size(&bytes).unwrap(), (320, 240), "{name}");
        for length in [bytes.len() - 2, bytes.len() - 20, bytes.len() / 2, 60] {
            let error = inspect(&bytes[..length]).expect_err(name);
            assert!(matches!(error, MediaError::Damaged(_)), "{name}: {error}");
        }
    }
}

/// A film with such a clip needs ffmpeg, although its frames do not.
#[test]
fn foreign_sound_of_a_video_is_named() {
    let native = Recipe { sound: Some((48_000, 2)), ..PLAIN }.make();
    assert_eq!(inspect(&native).unwrap().foreign, None);
    let changed = |from: &[u8], to: &[u8]| {
        let mut file = native.clone();
        let at = file.windows(from.len()).rposition(|window| window == from).unwrap();
        file[at..at + to.len()].copy_from_slice(to);
        inspect(&file).unwrap()
    };
    let cases: [(&[u8], &[u8], &str); 5] = [
        (b"\x40\x15", b"\x6b\x15", "MP3 sound"),
        (b"mp4a", b".mp3", "MP3 sound"),
        (b"mp4a", b"Opus", "Opus sound"),
        (b"mp4a", b"ac-3", "AC-3 sound"),
        (b"mp4a", b"sowt", "PCM sound"),
    ];
    for (from, to, name) in cases {
        let info = changed(from, to);
        assert_eq!((info.is_native, info.foreign.as_deref()), (true, Some(name)));
    }
}
