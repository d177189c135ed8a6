//! Films are resolved to whole frames, or every reason why not is reported.
#![expect(clippy::unwrap_used, reason = "tests may stop at the first surprise")]

mod support;

use contract::Contract;
use proptest::prelude::*;
use support::{clip, facts, film, rate, with_stills};
use timeline::{ClipFacts, ClipVideo, Item, Timeline, continuations, resolve};
use workflow::plan::{Clip, ClipSource, Film, NodeIx, Transition, TransitionKind};
use workflow::units::{EditTime, Speed};
use workflow::{InMemory, Options, load};

/// The items as `first+clip_frames @start+frames`, with the transition after them.
fn edit(timeline: &Timeline) -> Vec<String> {
    timeline
        .items
        .iter()
        .map(|item| {
            let cut = match item.transition {
                Some(transition) => {
                    format!(" {:?} {}/{}", transition.kind, transition.before, transition.after)
                }
                None if item.drops_last => " drops last".to_owned(),
                None => String::new(),
            };
            format!("{}+{} @{}+{}{cut}", item.first, item.clip_frames, item.start, item.frames)
        })
        .collect()
}

fn resolved(clips: Vec<Clip>, facts: &[ClipFacts], continued: &[bool]) -> Vec<String> {
    edit(&resolve(&film(clips), facts, continued).unwrap())
}

#[test]
fn ranges_are_counted_in_frames_of_the_clip() {
    let sources = [facts("a", 120, "24"), facts("b", 100, "25")];
    let cases = [
        (clip("", "", "", ""), "0+120 @0+120"),
        (clip("10f", "110f", "", ""), "10+100 @0+100"),
        (clip("0.5s", "-10f", "", ""), "12+98 @0+98"),
        (clip("-24f", "", "", ""), "96+24 @0+24"),
        (clip("1s", "", "2s", ""), "24+48 @0+48"),
    ];
    for (first, expected) in cases {
        assert_eq!(resolved(vec![first, clip("", "", "", "")], &sources, &[])[0], expected);
    }
    // 100 frames at 25 are 4 s; the film runs at 24.
    assert_eq!(
        resolved(vec![clip("", "", "", ""), clip("", "", "", "")], &sources, &[]),
        ["0+120 @0+120", "0+100 @120+96"]
    );
}

#[test]
fn speed_changes_how_long_a_clip_is_shown() {
    let sources = [facts("a", 120, "24"), facts("b", 90, "30000/1001")];
    let at_speed = |speed: &str, clip: Clip| Clip { speed: speed.parse().unwrap(), ..clip };
    let resolve_pair = |first: Clip, second: Clip| resolved(vec![first, second], &sources, &[true]);
    let plain = || clip("", "", "", "");
    // `in` and `out` are positions in the clip, the length is the film's.
    for (first, expected) in [
        (at_speed("0.5", clip("24f", "72f", "", "")), "24+48 @0+96"),
        (at_speed("200%", plain()), "0+119 @0+60 drops last"),
        (at_speed("2", clip("1s", "", "1s", "")), "24+48 @0+24"),
        (at_speed("0.3", clip("", "", "1s", "")), "0+8 @0+24"),
        (at_speed("0.3", clip("", "", "25f", "")), "0+8 @0+25"),
        // The handle takes three frames at half speed, and twelve at double.
        (at_speed("0.5", clip("", "", "", "dissolve 12f")), "0+117 @0+234 Dissolve 6/6"),
        (at_speed("2", clip("", "", "", "dissolve 12f")), "0+108 @0+54 Dissolve 6/6"),
    ] {
        assert_eq!(resolve_pair(first, plain())[0], expected);
    }
    // 90 frames at 29.97 are 3.003 s, 144.144 frames of the film at half speed, and with the 5 s before them 264.144.
    let film = film(vec![plain(), at_speed("0.5", plain())]);
    assert_eq!(resolve(&film, &sources, &[]).unwrap().frames, 264);
    let refused =
        resolve(&support::film(vec![at_speed("2", clip("", "", "3s", ""))]), &sources[..1], &[]).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "film `film.mp4` cannot be edited: clip 1 (`a`): `length: 3s` goes beyond the clip, which lasts 60 frames from `in` on at speed 2 (use at most `60f`)"
    );
    // What stands still has no speed.
    let (mut stills, facts, _) = with_stills();
    stills.clips[0].speed = "2".parse().unwrap();
    assert_eq!(edit(&resolve(&stills, &facts, &[]).unwrap())[0], "0+48 @0+48 Dissolve 6/6");
}

#[test]
fn transitions_play_handles_and_move_cuts_only_by_what_is_missing() {
    let clips = [facts("a", 120, "24"), facts("b", 120, "24")];
    let resolve_pair = |first: Clip, second: Clip| resolved(vec![first, second], &clips, &[]);
    assert_eq!(
        resolve_pair(clip("", "", "", "dissolve 12f"), clip("", "", "", "")),
        ["0+114 @0+114 Dissolve 6/6", "6+114 @114+114"]
    );
    // Both have enough beyond the cut: nothing moves.
    assert_eq!(
        resolve_pair(clip("", "100f", "", "dissolve 12f"), clip("10f", "", "", "")),
        ["0+100 @0+100 Dissolve 6/6", "10+110 @100+110"]
    );
    // A has 2 frames beyond its end and lacks 4; B lacks 3.
    assert_eq!(
        resolve_pair(clip("", "118f", "", "wipe-left 12f"), clip("3f", "", "", "")),
        ["0+114 @0+114 WipeLeft 6/6", "6+114 @114+114"]
    );
    assert_eq!(
        resolve_pair(clip("", "", "", "dissolve 7f"), clip("", "", "", "")),
        ["0+116 @0+116 Dissolve 3/4", "3+117 @116+117"]
    );
    // A fade shows nothing beyond the cut; at the end it lies in the last clip.
    assert_eq!(
        resolve_pair(clip("", "", "", "fade 12f"), clip("", "", "", "fade 1s")),
        ["0+120 @0+120 FadeBlack 6/6", "0+120 @120+120 FadeBlack 24/0"]
    );
    assert_eq!(resolve_pair(clip("", "", "", "dissolve 0f"), clip("", "", "", ""))[0], "0+120 @0+120");
}

#[test]
fn doubled_frame_of_a_chain_is_dropped_from_the_first_clip() {
    let clips = [facts("a", 120, "24"), facts("b", 120, "24")];
    let resolve_pair = |first: Clip, second: Clip| resolved(vec![first, second], &clips, &[true]);
    assert_eq!(
        resolve_pair(clip("", "", "", ""), clip("", "", "", "")),
        ["0+119 @0+119 drops last", "0+120 @119+120"]
    );
    assert_eq!(resolve_pair(clip("", "120f", "", ""), clip("0f", "", "", ""))[0], "0+119 @0+119 drops last");
    assert_eq!(resolve_pair(clip("", "-1f", "", ""), clip("", "", "", ""))[0], "0+119 @0+119");
    assert_eq!(resolve_pair(clip("", "", "", ""), clip("1f", "", "", ""))[0], "0+120 @0+120");
    assert_eq!(resolve_pair(clip("119f", "", "", ""), clip("", "", "", ""))[0], "119+1 @0+1");
    assert_eq!(
        resolve_pair(clip("", "", "", "fade 4f"), clip("", "", "", ""))[0],
        "0+120 @0+120 FadeBlack 2/2"
    );
}

#[test]
fn rate_and_size_are_declared_or_the_most_common() {
    let mut clips =
        vec![facts("a", 50, "25"), facts("b", 48, "24"), facts("c", 50, "25"), facts("d", 48, "24")];
    clips[1].size = (641, 361);
    clips[3].size = (641, 361);
    let mut declared = film(vec![clip("", "", "", ""); 4]);
    let timeline = resolve(&declared, &clips, &[]).unwrap();
    assert_eq!((timeline.frame_rate, timeline.size, timeline.frames), (rate("25"), (854, 480), 200));
    clips[0].size = (641, 361);
    assert_eq!(resolve(&declared, &clips, &[]).unwrap().size, (640, 360));
    declared.frame_rate = Some(rate("29.97"));
    declared.size = Some((1280, 720));
    let timeline = resolve(&declared, &clips, &[]).unwrap();
    assert_eq!((timeline.frame_rate, timeline.size), (rate("30000/1001"), (1280, 720)));
    // 8 s are 239.76 frames.
    assert_eq!(timeline.frames, 240);
    let chapters: Vec<_> = timeline.chapters().map(|chapter| (chapter.name, chapter.start)).collect();
    assert_eq!(chapters, [("a", 0), ("b", 60), ("c", 120), ("d", 180)]);
    assert_eq!(timeline.timecode(240).to_string(), "00:00:08;00");
}

#[test]
fn long_film_does_not_drift() {
    let clips = vec![facts("a", 121, "30000/1001"); 1_000];
    let mut long = film(vec![clip("", "", "", ""); 1_000]);
    long.frame_rate = Some(rate("24"));
    let timeline = resolve(&long, &clips, &[]).unwrap();
    // 121000 × 1001 / 30000 s × 24 = 96896.8.
    assert_eq!(timeline.frames, 96_897);
}

#[test]
fn every_problem_of_a_film_is_reported() {
    let mut clips: Vec<ClipFacts> = ('a'..='m').map(|name| facts(&name.to_string(), 20, "24")).collect();
    clips[11].frames = 0;
    clips.truncate(12);
    let bad = film(vec![
        clip("20f", "", "", ""),
        clip("-21f", "", "", ""),
        clip("", "21f", "", ""),
        clip("", "-20f", "", ""),
        clip("10f", "10f", "", ""),
        clip("", "", "0f", ""),
        clip("19f", "", "2f", ""),
        clip("", "5f", "5f", ""),
        clip("", "", "", "dissolve -4f"),
        clip("20h", "", "", ""),
        clip("", "", "-1s", ""),
        clip("", "", "", ""),
        clip("", "", "", "dissolve 4f"),
    ]);
    insta::assert_snapshot!(resolve(&bad, &clips, &[]).unwrap_err().to_string().replace("; ", ";\n"));
    let message = |clips: Vec<Clip>| {
        let facts: Vec<ClipFacts> =
            (0..clips.len()).map(|index| facts(&format!("c{index}"), 20, "24")).collect();
        resolve(&film(clips), &facts, &[]).unwrap_err().to_string()
    };
    let too_long = [
        message(vec![clip("", "", "", "dissolve 60f"), clip("", "", "", "")]),
        message(vec![clip("", "", "", "fade 24f"), clip("", "10f", "", "fade 4f")]),
        message(vec![clip("", "", "", ""), clip("", "", "", "fade 21f")]),
        message(vec![
            clip("", "", "", "dissolve 14f"),
            clip("", "", "", "dissolve 14f"),
            clip("", "", "", ""),
        ]),
        message(vec![]),
    ];
    insta::assert_snapshot!(too_long.join("\n"));
}

#[test]
fn stills_are_shown_for_their_length_and_have_handles() {
    let (film, facts, _) = with_stills();
    let timeline = resolve(&film, &facts, &[false; 3]).unwrap();
    assert_eq!((timeline.frame_rate, timeline.size), (rate("24"), (854, 480)));
    // The card takes its 48 frames, and 6 more in the dissolve; the clip gives 6 of its beginning as its handle.
    let shown: Vec<_> = timeline
        .items
        .iter()
        .map(|item| (item.first, item.clip_frames, item.source.frames, item.start, item.frames))
        .collect();
    assert_eq!(
        shown,
        [(0, 48, 54, 0, 48), (6, 114, 120, 48, 114), (0, 36, 40, 162, 36), (4, 116, 120, 198, 116)]
    );
    assert_eq!(timeline.items[2].source.size, (854, 480));
    // Only stills.
    let mut cards = film.clone();
    cards.clips.truncate(1);
    cards.clips[0].transition = None;
    let timeline = resolve(&cards, &facts[..1], &[]).unwrap();
    assert_eq!((timeline.frame_rate, timeline.size, timeline.frames), (rate("24"), (1280, 720), 48));
    cards.clips[0].length = None;
    let refused = resolve(&cards, &facts[..1], &[]).unwrap_err().to_string();
    assert!(refused.contains("clip 1 (`THE <LAMP>`): it stands still, and has no length"), "{refused}");
}

#[test]
fn continuation_is_the_last_frame_as_first_frame() {
    let workflow = "version: 1
name: chain
defaults: {model: modela-video-2-0-260128, prompt: x}
shots:
  - id: one
  - {id: two, continues: one}
  - {id: three, first_frame: {shot: two, frame: last}}
  - {id: four, first_frame: {shot: three, frame: first}}
  - {id: five, references: [{shot: four, frame: last}]}
  - {id: six, model: modelb-video-720p, continues: five}
  - {id: seven, model: modelb-video-720p, references: [{shot: six, frame: last}]}
";
    let plan = load(
        workflow.as_bytes(),
        "chain.yaml",
        &InMemory::default(),
        &Options::default(),
        Contract::embedded(),
    )
    .unwrap_or_else(|report| panic!("{}", report.render(false)));
    let shown: Vec<ClipVideo<'_>> =
        plan.nodes().map(|(ix, _)| ClipVideo { node: Some(ix), sha256: "" }).collect();
    let none = ClipVideo { node: None, sha256: "" };
    assert_eq!(continuations(&plan, &shown), [true, true, false, false, true, false]);
    assert_eq!(continuations(&plan, &[shown[1], shown[0]]), [false]);
    assert_eq!(continuations(&plan, &[shown[0], none, shown[1]]), [false, false]);
    assert_eq!(continuations(&plan, &[]), [] as [bool; 0]);
}

fn any_time() -> impl Strategy<Value = EditTime> {
    prop_oneof![
        (-30_i64..150).prop_map(EditTime::Frames),
        (-1_000_000_i64..4_000_000).prop_map(EditTime::Micros)
    ]
}

fn any_clip() -> impl Strategy<Value = Clip> {
    let kinds = prop_oneof![
        Just(TransitionKind::Dissolve),
        Just(TransitionKind::FadeWhite),
        Just(TransitionKind::WipeRight)
    ];
    let length = prop_oneof![(0_i64..12).prop_map(EditTime::Frames), any_time()];
    let transition = prop::option::of((kinds, length).prop_map(|(kind, length)| Transition { kind, length }));
    let seldom = || prop::option::weighted(0.2, any_time());
    let speeds = prop::option::weighted(0.3, 0.1..10.0_f64);
    (seldom(), seldom(), seldom(), speeds, transition).prop_map(|(start, end, length, speed, transition)| {
        Clip {
            start,
            end,
            length,
            speed: speed.and_then(Speed::from_f64).unwrap_or_default(),
            transition,
            ..Clip::whole(ClipSource::Node(NodeIx::new(0)))
        }
    })
}

fn any_facts() -> impl Strategy<Value = ClipFacts> {
    let rates = prop::sample::select(vec!["24", "25", "30000/1001", "60", "12"]);
    (0_u64..3, 30_u64..150, rates)
        .prop_map(|(few, many, rate)| facts("c", if few == 0 { few } else { many }, rate))
}

fn check_invariants(film: &Film, facts: &[ClipFacts], timeline: &Timeline) -> Result<(), TestCaseError> {
    prop_assert_eq!(timeline.items.len(), film.clips.len());
    let rate = timeline.frame_rate;
    let mut position = 0;
    for (index, item) in timeline.items.iter().enumerate() {
        prop_assert_eq!((item.clip, item.start), (index, position));
        prop_assert!(item.frames > 0 && item.clip_frames > 0);
        prop_assert!(item.first + item.clip_frames <= facts[index].frames);
        position = item.end();
        // Handles lie in the source without clamping.
        let into = timeline.transition_into(index);
        let head =
            into.filter(|transition| transition.plays_handles()).map_or(0, |transition| transition.before);
        let tail = item
            .transition
            .filter(|transition| transition.plays_handles())
            .map_or(0, |transition| transition.after);
        let own = item.source.frame_rate;
        let exact = |frames: u64| frames as f64 * own.as_f64() * item.speed.as_f64() / rate.as_f64();
        prop_assert!(exact(head) <= item.first as f64 + 1e-6);
        let beyond = item.source.frames - item.first - item.clip_frames;
        prop_assert!(exact(tail) <= beyond as f64 + 1e-6);
        // Windows do not overlap within the item.
        prop_assert!(
            into.map_or(0, |transition| transition.after)
                + item.transition.map_or(0, |transition| transition.before)
                <= item.frames
        );
    }
    prop_assert_eq!(position, timeline.frames);
    // A length at another speed is a whole number of frames of the film that ends within one of the clip.
    let is_cut_to_length = |item: &Item| !item.speed.is_normal() && film.clips[item.clip].length.is_some();
    if !timeline.items.iter().any(is_cut_to_length) {
        let played =
            |item: &Item| item.clip_frames as f64 / item.source.frame_rate.as_f64() / item.speed.as_f64();
        let seconds: f64 = timeline.items.iter().map(played).sum();
        prop_assert!((seconds * rate.as_f64() - timeline.frames as f64).abs() <= 0.5 + 1e-6);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn resolution_upholds_the_invariants(
        clips in prop::collection::vec((any_clip(), any_facts(), any::<bool>()), 0..5),
        declared in prop::option::of(prop::sample::select(vec!["24", "30", "60000/1001"])),
    ) {
        let continued: Vec<bool> = clips.iter().map(|(_, _, continued)| *continued).collect();
        let facts: Vec<ClipFacts> = clips.iter().map(|(_, facts, _)| facts.clone()).collect();
        let mut film = film(clips.into_iter().map(|(clip, _, _)| clip).collect());
        film.frame_rate = declared.map(rate);
        let first = resolve(&film, &facts, &continued);
        prop_assert_eq!(&first, &resolve(&film, &facts, &continued));
        match first {
            Ok(timeline) => check_invariants(&film, &facts, &timeline)?,
            Err(error) => prop_assert!(error.to_string().contains("film.mp4")),
        }
    }
}
