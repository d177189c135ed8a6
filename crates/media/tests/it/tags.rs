//! Metadata of a film, as the file has it and as ffprobe reads it.

use std::process::Command;

use media::{DigitalSource, FilmTags, JoinClip, JoinOptions, first_frame, join, last_frame, probe};

use crate::fixtures::{PLAIN, Recipe};

fn tags() -> FilmTags {
    FilmTags {
        title: Some("The keeper’s lamp".to_owned()),
        comment: Some("Made with generative AI: model-x".to_owned()),
        description: Some("pier: a pier, 灯塔\nsea: <the> \"sea\" & dunes".to_owned()),
        encoder: Some("runner test".to_owned()),
        source: Some(DigitalSource::TrainedAlgorithmicMedia),
        chapters: vec!["pier".to_owned(), "海 sea".to_owned(), "pier".to_owned()],
    }
}

/// A film of three clips, and the options of another form of it.
fn film(folder: &std::path::Path, options: &JoinOptions) -> Vec<u8> {
    let clips = [
        Recipe { sound: Some((48_000, 2)), ..PLAIN }.write(folder, "a.mp4"),
        Recipe { seed: 5, frames: 20, ..PLAIN }.write(folder, "b.mp4"),
        Recipe { seed: 9, ..PLAIN }.write(folder, "c.mp4"),
    ];
    let output = folder.join("film.mp4");
    let clips: Vec<JoinClip> = clips.into_iter().map(JoinClip::whole).collect();
    join(&clips, &output, options).unwrap();
    fs_err::read(output).unwrap()
}

fn position(bytes: &[u8], words: &[u8]) -> Option<usize> {
    bytes.windows(words.len()).position(|window| window == words)
}

#[test]
fn film_with_tags_has_the_same_frames_and_says_what_it_is() {
    let forms = [
        JoinOptions { tags: tags(), ..JoinOptions::default() },
        JoinOptions { tags: tags(), size: Some((64, 64)), ..JoinOptions::default() },
    ];
    for options in forms {
        let (tagged, plain) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let bytes = film(tagged.path(), &options);
        film(plain.path(), &JoinOptions { tags: FilmTags::default(), ..options });
        let (tagged, plain) = (tagged.path().join("film.mp4"), plain.path().join("film.mp4"));
        assert_eq!(first_frame(&tagged).unwrap(), first_frame(&plain).unwrap());
        assert_eq!(last_frame(&tagged).unwrap(), last_frame(&plain).unwrap());
        let (tagged, plain) = (probe(&tagged).unwrap(), probe(&plain).unwrap());
        assert_eq!((&tagged.video, &tagged.audio), (&plain.video, &plain.audio));
        assert!(tagged.is_faststart);
        for text in
            ["The keeper’s lamp", "runner test", "<the> \"sea\" & dunes", "/trainedAlgorithmicMedia\""]
        {
            assert!(position(&bytes, text.as_bytes()).is_some(), "{text}");
        }
        // Chapters begin with their clips: after 12 and 32 of 24 frames per second.
        let list = position(&bytes, b"chpl").unwrap();
        let mut expected = vec![3];
        for (start, name) in [(0, "pier"), (5_000_000, "海 sea"), (13_333_333_u64, "pier")] {
            expected.extend(start.to_be_bytes());
            expected.push(name.len() as u8);
            expected.extend(name.as_bytes());
        }
        assert_eq!(&bytes[list + 12..][..expected.len()], expected);
        assert!(position(&bytes, b"tref").is_some() && position(&bytes, b"ChapterHandler").is_some());
    }
}

#[test]
fn film_without_tags_has_none() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = film(folder.path(), &JoinOptions::default());
    for name in [b"udta", b"uuid", b"tref", b"chpl"] {
        assert_eq!(position(&bytes, name), None);
    }
}

#[test]
fn ffprobe_reads_chapters_and_tags() {
    let Some(ffmpeg) = crate::foreign::ffmpeg() else { return };
    let ffprobe = ffmpeg.with_file_name("ffprobe");
    let folder = tempfile::tempdir().unwrap();
    film(folder.path(), &JoinOptions { tags: tags(), ..JoinOptions::default() });
    let output = Command::new(ffprobe)
        .args(["-v", "error", "-show_chapters", "-show_entries", "format_tags:chapter", "-of", "flat"])
        .arg(folder.path().join("film.mp4"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    for line in [
        "chapters.chapter.1.start_time=\"0.500000\"",
        "chapters.chapter.1.tags.title=\"海 sea\"",
        "chapters.chapter.2.end_time=\"1.833333\"",
        "format.tags.title=\"The keeper’s lamp\"",
        "format.tags.comment=\"Made with generative AI: model-x\"",
        "format.tags.encoder=\"runner test\"",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    assert_eq!(text.matches(".tags.title=\"pier\"").count(), 2, "{text}");
}
