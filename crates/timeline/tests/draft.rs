//! Drafts of CapCut and Jianying.
#![expect(clippy::unwrap_used, reason = "tests may stop at the first surprise")]

mod support;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use serde_json::Value;
use support::{showcase, with_speeds, with_stills};
use timeline::export::{DraftProgram, ExportContext, SoundClip, SoundRole, draft};
use timeline::subtitles::Cue;
use timeline::{Timeline, resolve};
use workflow::plan::{Transition, TransitionKind};
use workflow::units::Decibels;

type Files = Vec<(&'static str, Vec<u8>)>;

fn file(files: &Files, name: &str) -> Value {
    let (_, bytes) = files.iter().find(|(file, _)| *file == name).unwrap();
    serde_json::from_slice(bytes).unwrap()
}

/// The tracks with what their segments refer to. Every reference has to be found, every id to be unique, and segments of a track do not overlap.
fn rendered(content: &Value) -> String {
    let materials: Vec<(&String, &Value)> = content["materials"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(kind, list)| list.as_array().unwrap().iter().map(move |material| (kind, material)))
        .collect();
    let find = |id: &Value| *materials.iter().find(|(_, material)| material["id"] == *id).unwrap();
    let micros = |range: &Value| [range["start"].as_u64().unwrap(), range["duration"].as_u64().unwrap()];
    let mut ids: Vec<Option<&str>> = materials.iter().map(|(_, material)| material["id"].as_str()).collect();
    let mut text = String::new();
    for track in content["tracks"].as_array().unwrap() {
        ids.push(track["id"].as_str());
        _ = writeln!(text, "{} {}", track["type"].as_str().unwrap(), track["name"]);
        let mut end = 0;
        for segment in track["segments"].as_array().unwrap() {
            ids.push(segment["id"].as_str());
            let [start, duration] = micros(&segment["target_timerange"]);
            assert!(start >= end, "segments overlap: {segment}");
            end = start + duration;
            let (kind, material) = find(&segment["material_id"]);
            _ = write!(text, "  {start}+{duration} {kind}: ");
            if kind == "texts" {
                let inner: Value = serde_json::from_str(material["content"].as_str().unwrap()).unwrap();
                let sizes: Vec<String> = inner["styles"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|style| format!("{} of {}", style["range"], style["size"]))
                    .collect();
                let y = &segment["clip"]["transform"]["y"];
                _ = writeln!(text, "{} at {y}, {}", inner["text"], sizes.join(", "));
                continue;
            }
            let [first, played] = micros(&segment["source_timerange"]);
            assert!(
                first + played <= material["duration"].as_u64().unwrap(),
                "{segment} is not in {material}"
            );
            _ = write!(
                text,
                "{} {first}+{played}, speed {}, volume {}",
                material["path"], segment["speed"], segment["volume"]
            );
            for reference in segment["extra_material_refs"].as_array().unwrap() {
                let (kind, material) = find(reference);
                let of = match kind.as_str() {
                    "speeds" => continue,
                    "transitions" => material,
                    _ => &material["animations"][0],
                };
                _ = write!(text, ", {kind} {} {}", of["name"], of["duration"]);
            }
            text.push('\n');
        }
    }
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "ids are unique");
    text
}

fn cue(start: u64, end: u64, text: &str) -> Cue {
    let [start, end] = [start, end].map(Duration::from_millis);
    Cue { start, end, speaker: text.starts_with('W').then(|| "Keeper".to_owned()), text: text.to_owned() }
}

fn resolved() -> (Timeline, ExportContext) {
    let (film, facts, mut context) = showcase();
    for (clip, facts) in context.clips.iter_mut().zip(&facts) {
        clip.absolute = Some(format!("/films/{}.mp4", facts.name));
    }
    (resolve(&film, &facts, &[false, true, false, false]).unwrap(), context)
}

#[test]
fn draft_holds_clips_sounds_and_subtitles() {
    let (timeline, mut context) = resolved();
    let sound = |role, file: &str, start, frames| SoundClip {
        role,
        file: format!("../{file}"),
        absolute: Some(format!("/films/{file}")),
        start,
        frames,
        first: 24,
        available: 240,
        gain: Decibels::from_f64(-12.0).unwrap(),
    };
    context.sounds = vec![
        sound(SoundRole::Music, "score.wav", 0, 216),
        sound(SoundRole::Music, "score.wav", 216, 100),
        sound(SoundRole::Voice, "vo/01 é.wav", 12, 48),
        sound(SoundRole::Voice, "vo/02.wav", 30, 48),
    ];
    let cues =
        [cue(500, 1_500, "Who is there?"), cue(1_000, 2_000, "Only\nthe wind."), cue(2_000, 3_000, "灯塔")];
    let files = draft(&timeline, &context, &cues, DraftProgram::CapCut);
    let content = file(&files, "draft_content.json");
    insta::assert_snapshot!(rendered(&content));
    assert_eq!(content, file(&files, "draft_info.json"));
    assert_eq!(content["canvas_config"]["width"], 854);
    assert_eq!(content["fps"], 24.0);

    // The library lists each file once, and materials refer to it.
    let meta = file(&files, "draft_meta_info.json");
    let library = meta["draft_materials"][0]["value"].as_array().unwrap();
    let paths: Vec<&str> = library.iter().map(|entry| entry["file_Path"].as_str().unwrap()).collect();
    assert_eq!(paths.iter().collect::<BTreeSet<_>>().len(), paths.len());
    for list in ["videos", "audios"] {
        for material in content["materials"][list].as_array().unwrap() {
            let entry = library.iter().find(|entry| entry["id"] == material["local_material_id"]).unwrap();
            assert_eq!(entry["file_Path"], material["path"]);
        }
    }
    assert_eq!((&meta["draft_id"], &meta["tm_duration"]), (&content["id"], &content["duration"]));
    assert!(files.iter().all(|(name, _)| *name != "black.png"));
}

#[test]
fn draft_holds_titles_and_stills() {
    let (film, facts, mut context) = with_stills();
    context.clips[2].size = Some((600, 800));
    let timeline = resolve(&film, &facts, &[]).unwrap();
    let files = draft(&timeline, &context, &[], DraftProgram::CapCut);
    let content = file(&files, "draft_content.json");
    insta::assert_snapshot!(rendered(&content));
    let logo = &content["materials"]["videos"][2];
    assert_eq!((&logo["type"], &logo["width"], &logo["height"]), (&"photo".into(), &600.into(), &800.into()));
    assert!(files.iter().any(|(name, bytes)| *name == "black.png" && bytes.starts_with(b"\x89PNG")));
}

#[test]
fn draft_plays_clips_at_their_speeds() {
    let (film, facts, context) = with_speeds();
    let timeline = resolve(&film, &facts, &[]).unwrap();
    insta::assert_snapshot!(rendered(&file(
        &draft(&timeline, &context, &[], DraftProgram::CapCut),
        "draft_content.json"
    )));
}

/// The programs know each effect by the same resource; the id of the effect and the version of the draft are their own.
#[test]
fn draft_is_marked_for_its_program() {
    let (timeline, context) = resolved();
    let of = |program| {
        let content = file(&draft(&timeline, &context, &[], program), "draft_content.json");
        let transitions = content["materials"]["transitions"].as_array().unwrap().clone();
        let ids =
            |key: &str| transitions.iter().map(|of| of[key].as_str().unwrap().to_owned()).collect::<Vec<_>>();
        (ids("resource_id"), ids("effect_id"), content["platform"]["app_source"].clone())
    };
    let (capcut, jianying) = (of(DraftProgram::CapCut), of(DraftProgram::Jianying));
    assert_eq!(capcut.0, jianying.0);
    assert_eq!((capcut.0, capcut.2), (capcut.1, "cc".into()));
    assert_eq!(jianying.1, ["322577", "2917283", "321493"]);
    assert_eq!(jianying.2, "lv");
}

#[test]
fn same_film_makes_the_same_draft_and_another_cut_another_one() {
    let (timeline, context) = resolved();
    let files = draft(&timeline, &context, &[], DraftProgram::CapCut);
    assert_eq!(files, draft(&timeline, &context, &[], DraftProgram::CapCut));
    let (mut film, facts, _) = showcase();
    // A fade to white at the end has no counterpart and is left out.
    film.clips[4].transition =
        Some(Transition { kind: TransitionKind::FadeWhite, length: "1s".parse().unwrap() });
    let other_cut = resolve(&film, &facts, &[false, true, false, false]).unwrap();
    let other = draft(&other_cut, &context, &[], DraftProgram::CapCut);
    let [content, other] = [&files, &other].map(|files| file(files, "draft_content.json"));
    assert_ne!(content["id"], other["id"]);
    assert_eq!(other["materials"]["material_animations"], Value::Array(Vec::new()));
}
