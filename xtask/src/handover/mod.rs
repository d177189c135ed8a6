//! Opens an exported film with the library of `OpenTimelineIO`, after its folder has moved: media, ranges, handles and chapters have to be right,
//! and what the library writes has to be read back as the same edit. Without Python or its package index it says that nothing was checked.

use std::path::{Path, PathBuf};
use std::process::Command;

use timeline::export::{self, Alternative, ClipInfo, ExportContext};
use timeline::import::read_otio;
use timeline::{ClipFacts, ClipKind, Timeline};
use workflow::plan::{
    Clip, ClipSource, Film, Fit, Location, NodeIx, Soundtrack, Title, TitleStyle, Transition, TransitionKind,
};
use workflow::units::{EditTime, FrameRate};

use crate::{installed, stub_video};

const SCRIPT: &str = include_str!("open_otio.py");
const TOOL: &str = "opentimelineio";
/// File names with characters that URLs escape.
const NAMES: [&str; 3] = ["door", "stairs 100% é", "lamp@look=noir#2"];
const OTHER_TAKE: &str = "clips/lamp@look=noir#1.mp4";

/// Exports a film of three clips and a title, and opens it.
pub(crate) fn run() -> Result<String, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let python = match installed::python(&folder.path().join("venv"), &[TOOL]) {
        Ok(programs) => programs.join("python"),
        Err(reason) => return Ok(format!("the hand-over is NOT checked: {reason}")),
    };
    let written = folder.path().join("written");
    let (film, facts) = write_clips(&written)?;
    let timeline = timeline::resolve(&film, &facts, &[]).map_err(|error| error.to_string())?;
    let context = context(&facts);
    fs_err::write(written.join("film.otio"), export::otio(&timeline, &context)).map_err(text)?;
    let moved = folder.path().join("moved");
    fs_err::rename(&written, &moved).map_err(text)?;
    let (script, copy) = (folder.path().join("open_otio.py"), folder.path().join("copy.otio"));
    fs_err::write(&script, SCRIPT).map_err(text)?;
    let mut command = Command::new(python);
    command.arg(script).arg(moved.join("film.otio")).arg(timeline.frames.to_string()).arg(&copy);
    let output = command.output().map_err(text)?;
    if !output.status.success() {
        return Err(format!("{TOOL} fails:\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    compare(film, &facts, &timeline, &fs_err::read_to_string(copy).map_err(text)?)?;
    Ok(format!("{}: no failure", String::from_utf8_lossy(&output.stdout).trim()))
}

#[expect(clippy::needless_pass_by_value, reason = "the signature of `map_err`")]
fn text(error: std::io::Error) -> String {
    error.to_string()
}

/// A film with dissolves, a wipe and a title, and its clips as files.
fn write_clips(folder: &Path) -> Result<(Film, Vec<ClipFacts>), String> {
    fs_err::create_dir_all(folder.join("clips")).map_err(text)?;
    let video = stub_video::clip()?;
    fs_err::write(folder.join(OTHER_TAKE), &video).map_err(text)?;
    let probe = media::probe_bytes(&video).map_err(|error| error.to_string())?;
    let track = probe.video.ok_or("the clip has no frames")?;
    let frame_rate = FrameRate::new(track.frame_rate.numerator(), track.frame_rate.denominator())
        .ok_or("the clip has no frame rate")?;
    let mut facts = Vec::new();
    for name in NAMES {
        let path = folder.join(format!("clips/{name}.mp4"));
        fs_err::write(&path, &video).map_err(text)?;
        let size = (track.width, track.height);
        let name = name.to_owned();
        let kind = ClipKind::Video;
        facts.push(ClipFacts { kind, name, path, frames: track.frames, frame_rate, size, has_sound: true });
    }
    facts.push(ClipFacts::still(ClipKind::Card, "THE END".to_owned(), PathBuf::new()));
    let kinds = [TransitionKind::Dissolve, TransitionKind::WipeLeft, TransitionKind::Dissolve];
    let clips = kinds.map(|kind| Clip {
        transition: Some(Transition { kind, length: EditTime::Frames(1) }),
        ..whole_clip()
    });
    let title = Some(Title { text: "THE END".to_owned(), style: TitleStyle::Card });
    let length = Some(EditTime::Frames(24));
    let card = Clip { length, title, ..Clip::whole(ClipSource::Card) };
    let location = Location { file: "film.yaml".into(), line: 1, column: 1 };
    let output = "film.mp4".to_owned();
    Ok((
        Film {
            output,
            size: None,
            fit: Fit::default(),
            font: None,
            frame_rate: None,
            subtitles: None,
            color_match: false,
            poster: None,
            soundtrack: Soundtrack::default(),
            clips: clips.into_iter().chain([card]).collect(),
            location,
        },
        facts,
    ))
}

fn whole_clip() -> Clip {
    Clip::whole(ClipSource::Node(NodeIx::new(0)))
}

fn context(facts: &[ClipFacts]) -> ExportContext {
    let other_take =
        Alternative { label: "take 1".to_owned(), file: OTHER_TAKE.to_owned(), ..Alternative::default() };
    let info = |facts: &ClipFacts| ClipInfo {
        file: format!("clips/{}.mp4", facts.name),
        prompt: Some("a door, \"open\" & lit".to_owned()),
        seed: Some(i64::MAX),
        alternatives: if facts.name.ends_with("#2") { vec![other_take.clone()] } else { Vec::new() },
        ..ClipInfo::default()
    };
    ExportContext { clips: facts.iter().map(info).collect(), ..ExportContext::default() }
}

/// Whether a document that the library wrote is the same edit.
fn compare(film: Film, facts: &[ClipFacts], timeline: &Timeline, copy: &str) -> Result<(), String> {
    let edit = read_otio(copy).map_err(|error| error.to_string())?;
    let clips = edit.items.iter().zip(facts).map(|(item, facts)| item.to_clip(whole_clip().source, facts));
    let film = Film { clips: clips.collect(), ..film };
    let reimported = timeline::resolve(&film, facts, &[]).map_err(|error| error.to_string())?;
    if reimported != *timeline || !edit.ignored.is_empty() {
        return Err(format!("the edit is another one after {TOOL} has written it:\n{reimported:#?}"));
    }
    Ok(())
}
