//! What is written for editors.
#![expect(clippy::unwrap_used, reason = "tests may stop at the first surprise")]

mod support;

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use support::{showcase, with_speeds, with_stills};
use timeline::export::{self, ExportContext, SoundFile, sounds};
use timeline::{Timeline, resolve};
use workflow::plan::{FilmFile, Music, Voice};
use workflow::units::Decibels;

fn resolved() -> (Timeline, ExportContext) {
    let (film, facts, context) = showcase();
    (resolve(&film, &facts, &[false, true, false, false]).unwrap(), context)
}

#[test]
fn otio_document() {
    let (timeline, context) = resolved();
    let text = export::otio(&timeline, &context);
    assert!(!text.contains("null") && !text.contains("\"./"));
    insta::assert_snapshot!(text);
}

#[test]
fn fcpxml_document() {
    let (timeline, context) = resolved();
    insta::assert_snapshot!(export::fcpxml(&timeline, &context));
}

#[test]
fn documents_with_titles_and_images() {
    let (film, facts, context) = with_stills();
    let timeline = resolve(&film, &facts, &[]).unwrap();
    insta::assert_snapshot!("stills_otio", export::otio(&timeline, &context));
    insta::assert_snapshot!("stills_fcpxml", export::fcpxml(&timeline, &context));
}

#[test]
fn documents_with_speeds() {
    let (film, facts, context) = with_speeds();
    let timeline = resolve(&film, &facts, &[]).unwrap();
    insta::assert_snapshot!("speeds_otio", export::otio(&timeline, &context));
    insta::assert_snapshot!("speeds_fcpxml", export::fcpxml(&timeline, &context));
}

#[test]
fn absolute_paths_become_file_urls() {
    let (timeline, mut context) = resolved();
    for clip in &mut context.clips {
        clip.absolute = Some(format!("/films/{}", clip.file));
    }
    let document: Value = serde_json::from_str(&export::otio(&timeline, &context)).unwrap();
    let url = document.pointer("/tracks/children/0/children/0/media_references/DEFAULT_MEDIA/target_url");
    assert_eq!(url.unwrap(), "file:///films/out%20put/door.mp4");
    assert!(export::fcpxml(&timeline, &context).contains("src=\"file:///films/out%20put/storm.mp4\""));
}

#[test]
fn formulas_are_written_as_text() {
    for (prompt, cell) in [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-2", "'-2"),
        ("@SUM(A1)", "'@SUM(A1)"),
        (" =1", "' =1"),
        ("a,b", "\"a,b\""),
        ("\t=1", "'\t=1"),
        ("say \"x\"", "\"say \"\"x\"\"\""),
        ("plain", "plain"),
    ] {
        assert_eq!(export::csv_row(&[export::inert_text(prompt)]), format!("{cell}\r\n"));
    }
}

/// Music that repeats and two voices, of which the second begins before the first has ended: four tracks in all.
#[test]
fn documents_with_music_and_voices() {
    let (mut film, facts, mut context) = showcase();
    let file = |path: &str| FilmFile { path: path.into(), sha256: String::new() };
    let decibels = |number| Decibels::from_f64(number).unwrap();
    film.soundtrack.music = Some(Music {
        file: file("score.wav"),
        gain: decibels(-12.0),
        start: Some("1s".parse().unwrap()),
        repeat: true,
        fade_in: None,
        fade_out: None,
        duck: decibels(0.0),
    });
    let voice = |path, clip, delay: &str| Voice {
        file: file(path),
        clip,
        delay: Some(delay.parse().unwrap()),
        gain: decibels(0.0),
    };
    film.soundtrack.voices = vec![voice("vo/02.wav", 1, "12f"), voice("vo/01 é.wav", 0, "4.5s")];
    let timeline = resolve(&film, &facts, &[false, true, false, false]).unwrap();
    let sound_file = |path: &Path| {
        let seconds = if path.ends_with("score.wav") { 9 } else { 3 };
        Ok::<_, ()>(SoundFile {
            file: format!("../{}", path.display()),
            absolute: None,
            duration: Duration::from_secs(seconds),
        })
    };
    context.sounds = sounds(&film.soundtrack, &timeline, sound_file).unwrap();
    let music = context.sounds.iter().filter(|sound| sound.file.ends_with("score.wav"));
    assert_eq!(music.map(|sound| sound.frames).sum::<u64>(), timeline.frames, "it plays to the film's end");
    let otio: Value = serde_json::from_str(&export::otio(&timeline, &context)).unwrap();
    let tracks: Vec<Value> = otio["tracks"]["children"].as_array().unwrap()[2..].to_vec();
    insta::assert_json_snapshot!("sounds_otio", tracks);
    let fcpxml = export::fcpxml(&timeline, &context);
    let lines: Vec<&str> = fcpxml.lines().filter(|line| line.contains(".wav")).collect();
    insta::assert_snapshot!(
        "sounds_fcpxml",
        lines.join("\n").replace("/><", "/>\n<").replace("><a", ">\n<a")
    );
    // Nothing of it is taken for the edit when the cut comes back.
    let edit = timeline::import::read_otio(&otio.to_string()).unwrap();
    assert_eq!(edit.items.len(), timeline.items.len());
}
