//! An editor's cut is read back, or refused with a reason.
#![expect(clippy::unwrap_used, reason = "tests may stop at the first surprise")]

mod support;

use proptest::prelude::*;
use serde_json::{Value, json};
use support::{facts, rate, showcase, with_speeds, with_stills};
use timeline::export::{self, ClipInfo, ExportContext};
use timeline::import::{CandidateClip, ImportedEdit, ReadError, RecutError, read_otio, recut};
use timeline::{ClipFacts, Timeline, resolve};
use workflow::plan::{ClipSource, Film, NodeIx, TransitionKind};
use workflow::units::EditTime;

fn exported() -> (Film, Vec<ClipFacts>, ExportContext, Timeline, Value) {
    let (film, facts, context) = showcase();
    let timeline = resolve(&film, &facts, &[false, true, false, false]).unwrap();
    let document = serde_json::from_str(&export::otio(&timeline, &context)).unwrap();
    (film, facts, context, timeline, document)
}

fn read(document: &Value) -> ImportedEdit {
    read_otio(&document.to_string()).unwrap()
}

fn video(document: &mut Value) -> &mut Vec<Value> {
    document.pointer_mut("/tracks/children/0/children").unwrap().as_array_mut().unwrap()
}

#[test]
fn exported_film_is_imported_as_the_same_edit() {
    let (mut film, facts, context, timeline, document) = exported();
    let edit = read(&document);
    assert_eq!((edit.name.as_str(), edit.ignored.as_slice()), ("film", [].as_slice()));
    let candidates: Vec<(&str, &ClipInfo)> =
        facts.iter().map(|facts| facts.name.as_str()).zip(&context.clips).collect();
    let mut clips = Vec::new();
    for (index, (item, before)) in edit.items.iter().zip(&film.clips).enumerate() {
        // The fifth shows the same video as the first.
        assert_eq!(item.media.matching(&candidates), Some(index % 4));
        let mut clip = item.to_clip(ClipSource::Node(NodeIx::new(0)), &facts[index]);
        (clip.gain, clip.mute) = (before.gain, before.mute);
        clips.push(clip);
    }
    film.clips = clips;
    let mut imported = resolve(&film, &facts, &[]).unwrap();
    // The frame that was left out is now outside of the declared range.
    imported.items[1].drops_last = true;
    assert_eq!(imported, timeline);
}

#[test]
fn changes_of_an_editor_are_read() {
    let (.., mut document) = exported();
    let children = video(&mut document);
    children.swap(0, 2);
    children[0]["enabled"] = json!(false);
    children[0]["effects"] =
        json!([{"OTIO_SCHEMA": "LinearTimeWarp.1", "time_scalar": 2.0}, {"OTIO_SCHEMA": "Effect.1"}]);
    children[2]["active_media_reference_key"] = json!("other");
    children[2]["media_references"]["other"] = json!({"OTIO_SCHEMA": "ExternalReference.1", "target_url": "file:///C:/x/another%20%E7%81%AF.mp4?x#y"});
    children[2].as_object_mut().unwrap().remove("source_range");
    children.insert(0, json!({"OTIO_SCHEMA": "Transition.1", "transition_type": "SMPTE_Dissolve", "in_offset": {"OTIO_SCHEMA": "RationalTime.1", "rate": 24, "value": 0}, "out_offset": {"OTIO_SCHEMA": "RationalTime.1", "rate": 24, "value": 6}}));
    children.insert(1, json!({"OTIO_SCHEMA": "Gap.1"}));
    let edit = read(&document);
    let ignored: Vec<(usize, &str)> =
        edit.ignored.iter().map(|ignored| (ignored.child, ignored.what.as_str())).collect();
    assert_eq!(
        ignored,
        [(0, "a transition without a clip before it"), (1, "a gap"), (2, "effects of a clip")]
    );
    assert!(!edit.items[0].is_enabled && edit.items[1].is_enabled);
    assert_eq!((edit.items[0].speed.as_f64(), edit.items[1].speed.as_f64()), (2.0, 1.0));
    assert_eq!(
        edit.items[0].transition.map(|transition| (transition.kind, transition.frames)),
        Some((TransitionKind::Dissolve, 12))
    );
    assert_eq!(edit.items[1].media.file.as_deref(), Some("another 灯.mp4"));
    assert_eq!((edit.items[1].range, edit.items[1].media.is_alternative), (None, true));
    assert_eq!(
        edit.items[1].media.matching(&[("door", &ClipInfo { shot: "door".into(), ..ClipInfo::default() })]),
        None
    );
}

#[test]
fn media_of_other_programs_are_matched_by_file_name() {
    let document = json!({"OTIO_SCHEMA": "Timeline.1", "name": "cut", "tracks": {"OTIO_SCHEMA": "Stack.1", "children": [
        {"OTIO_SCHEMA": "Track.1", "kind": "Audio", "children": []},
        {"OTIO_SCHEMA": "Track.1", "kind": "Video", "children": [
            {"OTIO_SCHEMA": "Clip.1", "name": "x", "media_reference": {"OTIO_SCHEMA": "ExternalReference.1", "target_url": "/a/b/lamp%232.mp4"},
             "source_range": {"OTIO_SCHEMA": "TimeRange.1", "start_time": {"OTIO_SCHEMA": "RationalTime.1", "rate": 29.97, "value": 3},
                              "duration": {"OTIO_SCHEMA": "RationalTime.1", "rate": 29.97, "value": 30}}}]}]}});
    let edit = read(&document);
    let info = ClipInfo { file: "clips/lamp#2.mp4".to_owned(), ..ClipInfo::default() };
    assert_eq!(edit.items[0].media.matching(&[("lamp#2", &info)]), Some(0));
    assert_eq!(edit.items[0].range.unwrap().rate, rate("29.97"));
    let clip = edit.items[0].to_clip(ClipSource::Node(NodeIx::new(0)), &facts("lamp#2", 60, "30000/1001"));
    assert_eq!((clip.start, clip.end), ("3f".parse().ok(), "33f".parse().ok()));
}

#[test]
fn unreadable_documents_are_refused() {
    let (.., good) = exported();
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut document = good.clone();
        change(&mut document);
        read_otio(&document.to_string()).unwrap_err().to_string()
    };
    let messages = [
        read_otio("{").unwrap_err().to_string(),
        read_otio(&"[".repeat(100_000)).unwrap_err().to_string(),
        read_otio("[]").unwrap_err().to_string(),
        refused(&|document| document["OTIO_SCHEMA"] = json!("Timeline.9")),
        refused(&|document| document["tracks"] = json!(null)),
        refused(&|document| document["tracks"]["children"] = json!([])),
        refused(&|document| video(document)[0]["OTIO_SCHEMA"] = json!("Clip.3")),
        refused(&|document| video(document)[1]["OTIO_SCHEMA"] = json!("Sparkle.1")),
        refused(&|document| video(document)[0] = json!("text")),
        refused(&|document| video(document)[0]["source_range"]["duration"]["value"] = json!(-1)),
        refused(&|document| video(document)[0]["source_range"]["duration"]["value"] = json!(1e300)),
        refused(&|document| video(document)[0]["source_range"]["duration"]["rate"] = json!(0)),
        refused(&|document| video(document)[0]["source_range"]["start_time"] = json!(12)),
        refused(&|document| video(document)[1]["in_offset"] = json!(null)),
    ];
    insta::assert_snapshot!(messages.join("\n"));
    let large = " ".repeat((64 << 20) + 1);
    assert_eq!(read_otio(&large), Err(ReadError::TooLarge));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_document_is_read_or_refused(
        changes in prop::collection::vec((any::<prop::sample::Index>(), "[\\[\\]{}\":,0-9a-zA-Z%.eE-]{0,12}"), 1..4),
    ) {
        let (.., document) = exported();
        let mut text = document.to_string();
        for (position, piece) in changes {
            let position = position.index(text.len());
            if text.is_char_boundary(position) {
                let end = (position + piece.len()).min(text.len());
                if text.is_char_boundary(end) {
                    text.replace_range(position..end, &piece);
                }
            }
        }
        if let Ok(edit) = read_otio(&text) {
            for item in &edit.items {
                let _ = item.to_clip(ClipSource::Node(NodeIx::new(0)), &facts("any", 10, "24"));
            }
        }
    }
}

fn candidates(film: &Film, facts: &[ClipFacts], context: &ExportContext) -> Vec<CandidateClip> {
    let clips = film.clips.iter().zip(facts).zip(&context.clips);
    clips
        .map(|((clip, facts), info)| CandidateClip {
            source: clip.source.clone(),
            facts: facts.clone(),
            info: info.clone(),
        })
        .collect()
}

fn never(_: &ClipSource, _: &ClipSource) -> bool {
    false
}

#[test]
fn film_that_comes_back_as_it_was_is_unchanged() {
    for (film, facts, context) in [showcase(), with_stills(), with_speeds()] {
        let timeline = resolve(&film, &facts, &[]).unwrap();
        let edit = read_otio(&export::otio(&timeline, &context)).unwrap();
        let candidates = candidates(&film, &facts, &context);
        let recut = recut(&film, &timeline, &candidates, &edit, &never).unwrap();
        assert!(recut.is_unchanged(film.clips.len()), "{recut:?}");
        assert_eq!(recut.notes, [] as [String; 0]);
    }
}

#[test]
fn recut_takes_over_lengths_order_and_transitions() {
    let (film, facts, context) = with_stills();
    let timeline = resolve(&film, &facts, &[]).unwrap();
    let mut document: Value = serde_json::from_str(&export::otio(&timeline, &context)).unwrap();
    let children = video(&mut document);
    // Card, dissolve, door, fade, image, dissolve, storm: the card is longer, the storm comes before the image, both cut hard.
    children[0]["source_range"]["duration"]["value"] = json!(60);
    children.swap(4, 6);
    children.remove(5);
    children[4]["source_range"]["start_time"]["value"] = json!(30);
    children[4]["source_range"]["duration"]["value"] = json!(20);
    let candidates = candidates(&film, &facts, &context);
    let cut = recut(&film, &timeline, &candidates, &read(&document), &never).unwrap();
    let clips: Vec<_> = cut
        .entries
        .iter()
        .map(|entry| {
            let clip = &entry.clip;
            let time = |time: Option<EditTime>| time.map(|time| time.to_string()).unwrap_or_default();
            (entry.candidate, time(clip.start), time(clip.end), time(clip.length), entry.has_new_transition)
        })
        .collect();
    let text = str::to_owned;
    assert_eq!(
        clips,
        [
            (0, text(""), text(""), text("60f"), false),
            (1, text(""), text(""), text(""), false),
            (3, text("30f"), text("50f"), text(""), false),
            (2, text(""), text(""), text("36f"), true),
        ]
    );
    assert_eq!(cut.entries[0].clip.title, film.clips[0].title, "titles stay");
    assert_eq!(cut.entries[3].clip.transition, None);

    // Clips of others are named; a cut of nothing is refused.
    video(&mut document)[4]["name"] = json!("their clip");
    video(&mut document)[4]["metadata"] = json!({});
    video(&mut document)[4]["media_references"]["DEFAULT_MEDIA"]["target_url"] = json!("their%20clip.mov");
    let refused = recut(&film, &timeline, &candidates, &read(&document), &never).unwrap_err();
    assert_eq!(refused, RecutError::Unknown(vec!["3 (`their clip.mov`)".to_owned()]));
    video(&mut document).clear();
    let empty = recut(&film, &timeline, &candidates, &read(&document), &never).unwrap_err();
    assert_eq!(empty, RecutError::Empty);
}
