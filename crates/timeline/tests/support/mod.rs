//! Films for tests.
#![allow(dead_code, reason = "each test uses a part")]

use timeline::export::{Alternative, ClipInfo, ExportContext};
use timeline::{ClipFacts, ClipKind};
use workflow::plan::{
    Clip, ClipSource, Film, Fit, Location, NodeIx, Soundtrack, Title, TitleStyle, Transition, TransitionKind,
};
use workflow::units::{Decibels, EditTime, FrameRate};

pub(crate) fn rate(text: &str) -> FrameRate {
    text.parse().unwrap()
}

pub(crate) fn facts(name: &str, frames: u64, frame_rate: &str) -> ClipFacts {
    ClipFacts {
        kind: ClipKind::Video,
        name: name.to_owned(),
        path: format!("clips/{name}.mp4").into(),
        frames,
        frame_rate: rate(frame_rate),
        size: (854, 480),
        has_sound: true,
    }
}

/// A clip from `in`, `out`, `length` and a transition such as `dissolve 12f`; empty texts are absent.
pub(crate) fn clip(start: &str, end: &str, length: &str, transition: &str) -> Clip {
    let time = |text: &str| (!text.is_empty()).then(|| text.parse::<EditTime>().unwrap());
    let transition = (!transition.is_empty()).then(|| {
        let (kind, length) = transition.split_once(' ').unwrap();
        let kind = match kind {
            "dissolve" => TransitionKind::Dissolve,
            "wipe-left" => TransitionKind::WipeLeft,
            "wipe-right" => TransitionKind::WipeRight,
            "fade-white" => TransitionKind::FadeWhite,
            _ => TransitionKind::FadeBlack,
        };
        Transition { kind, length: length.parse().unwrap() }
    });
    Clip {
        start: time(start),
        end: time(end),
        length: time(length),
        transition,
        ..Clip::whole(ClipSource::Node(NodeIx::new(0)))
    }
}

pub(crate) fn film(clips: Vec<Clip>) -> Film {
    Film {
        output: "film.mp4".to_owned(),
        size: None,
        fit: Fit::default(),
        font: None,
        frame_rate: None,
        subtitles: None,
        color_match: false,
        poster: None,
        soundtrack: Soundtrack::default(),
        clips,
        location: Location { file: "film.yaml".into(), line: 1, column: 1 },
    }
}

/// A film with a title on black, an image and a video of one's own between two shots.
pub(crate) fn with_stills() -> (Film, Vec<ClipFacts>, ExportContext) {
    let card = Clip {
        title: Some(Title { text: "THE <LAMP>\na film".to_owned(), style: TitleStyle::Card }),
        source: ClipSource::Card,
        ..clip("", "", "2s", "dissolve 12f")
    };
    let image = Clip { source: ClipSource::Card, ..clip("", "", "36f", "dissolve 8f") };
    let clips = vec![card, clip("", "", "", "fade-black 10f"), image, clip("", "", "", "")];
    let still = |kind, name: &str, path: &str| ClipFacts::still(kind, name.to_owned(), path.into());
    let facts = vec![
        still(ClipKind::Card, "THE <LAMP>", ""),
        facts("door", 120, "24"),
        still(ClipKind::Image, "logo.png", "stills/logo.png"),
        facts("storm", 120, "24"),
    ];
    let title = |text: &str| ClipInfo { title: Some(text.to_owned()), ..ClipInfo::default() };
    let context = ExportContext {
        clips: vec![
            title("THE <LAMP>\na film"),
            ClipInfo { shot: "door".to_owned(), file: "door.mp4".to_owned(), ..title("Ada, the \"keeper\"") },
            ClipInfo { file: "../stills/logo.png".to_owned(), ..ClipInfo::default() },
            ClipInfo { file: "../archive/storm.mp4".to_owned(), ..ClipInfo::default() },
        ],
        ..ExportContext::default()
    };
    (film(clips), facts, context)
}

/// A film of clips at other speeds: slow with trims, fast into a dissolve, and one without sound at another rate.
pub(crate) fn with_speeds() -> (Film, Vec<ClipFacts>, ExportContext) {
    let mut clips = vec![
        clip("1s", "-12f", "", "dissolve 12f"),
        clip("", "", "2s", "fade-black 10f"),
        clip("10f", "", "", ""),
    ];
    for (clip, speed) in clips.iter_mut().zip(["50%", "1.5", "0.3333"]) {
        clip.speed = speed.parse().unwrap();
    }
    let mut facts =
        vec![facts("door", 120, "24"), facts("stairs", 120, "24"), facts("storm", 90, "30000/1001")];
    facts[2].has_sound = false;
    let info = |facts: &ClipFacts| ClipInfo {
        shot: facts.name.clone(),
        file: format!("{}.mp4", facts.name),
        ..ClipInfo::default()
    };
    let context = ExportContext { clips: facts.iter().map(info).collect(), ..ExportContext::default() };
    (film(clips), facts, context)
}

/// A film with each kind of transition, a chain, trims, levels and a clip at another rate.
pub(crate) fn showcase() -> (Film, Vec<ClipFacts>, ExportContext) {
    let mut clips = vec![
        clip("", "", "", "dissolve 12f"),
        clip("", "", "", ""),
        clip("", "-10f", "", "wipe-left 8f"),
        clip("0.5s", "", "", "fade-black 10f"),
        clip("", "", "2s", "fade-black 1s"),
    ];
    clips[2].gain = Decibels::from_f64(-6.0).unwrap();
    clips[3].mute = true;
    let mut facts = vec![
        facts("door", 120, "24"),
        facts("stairs", 120, "24"),
        facts("lamp@look=noir#2", 120, "24"),
        facts("storm", 150, "30000/1001"),
        facts("door", 120, "24"),
    ];
    facts[3].size = (1280, 720);
    facts[3].has_sound = false;
    let infos = facts.iter().enumerate().map(|(index, facts)| ClipInfo {
        shot: facts.name.split(['@', '#']).next().unwrap().to_owned(),
        file: format!("out put/{}.mp4", facts.name),
        size: None,
        title: None,
        prompt: Some(format!("=\"{}\" & <light>,\nsea", facts.name)),
        seed: Some(-7),
        model: Some("modela-video-2-0-260128".to_owned()),
        task: Some(format!("task_{index}")),
        take: facts.name.ends_with("#2").then_some(2),
        key: Some(format!("{:064x}", if index == 4 { 0 } else { index })),
        alternatives: if index == 2 {
            let file = "out put/lamp@look=noir#1.mp4".to_owned();
            vec![Alternative { label: "take 1".to_owned(), file, absolute: None, frames: Some(96) }]
        } else {
            Vec::new()
        },
        absolute: None,
    });
    let context = ExportContext { clips: infos.collect(), ..ExportContext::default() };
    (film(clips), facts, context)
}
