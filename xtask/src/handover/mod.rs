//! Opens an exported film with the library of `OpenTimelineIO`, after its folder has moved: media, ranges, handles and chapters have to be right,
//! and what the library writes has to be read back as the same edit. Drafts of CapCut and Jianying are opened with public libraries for them,
//! to which effects, ranges and media have to be known. Without Python or its package index it says that nothing was checked.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use timeline::export::{self, Alternative, ClipInfo, DraftProgram, ExportContext};
use timeline::import::read_otio;
use timeline::{ClipFacts, ClipKind, Timeline};
use workflow::plan::{
    Clip, ClipSource, Film, Fit, Location, NodeIx, Soundtrack, Title, TitleStyle, Transition, TransitionKind,
};
use workflow::units::{EditTime, FrameRate};

use crate::{installed, stub_video};

const SCRIPT: &str = include_str!("open_otio.py");
const DRAFT_SCRIPT: &str = include_str!("open_draft.py");
const TOOLS: [&str; 3] = ["opentimelineio", "pycapcut", "pyjianyingdraft"];
/// File names with characters that URLs escape.
const NAMES: [&str; 5] = ["door", "stairs 100% é", "lamp@look=noir#2", "sea", "pier"];
const OTHER_TAKE: &str = "clips/lamp@look=noir#1.mp4";

/// Exports a film of clips and a title, and opens it.
pub(crate) fn run() -> Result<String, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let python = match installed::python(&folder.path().join("venv"), &TOOLS) {
        Ok(programs) => programs.join("python"),
        Err(reason) => return Ok(format!("the hand-over is NOT checked: {reason}")),
    };
    let written = folder.path().join("written");
    let (film, facts) = write_clips(&written)?;
    let timeline = timeline::resolve(&film, &facts, &[]).map_err(|error| error.to_string())?;
    let mut context = context(&facts);
    fs_err::write(written.join("film.otio"), export::otio(&timeline, &context)).map_err(text)?;
    let moved = folder.path().join("moved");
    fs_err::rename(&written, &moved).map_err(text)?;
    let copy = folder.path().join("copy.otio");
    let frames = timeline.frames.to_string();
    let document = moved.join("film.otio");
    let otio = opened(&python, SCRIPT, &[document.as_ref(), frames.as_ref(), copy.as_ref()])?;
    compare(film, &facts, &timeline, &fs_err::read_to_string(copy).map_err(text)?)?;

    for clip in &mut context.clips {
        clip.absolute = Some(moved.join(&clip.file).to_string_lossy().into_owned());
    }
    for program in [DraftProgram::CapCut, DraftProgram::Jianying] {
        let draft = folder.path().join(format!("{program:?}"));
        fs_err::create_dir(&draft).map_err(text)?;
        for (file, contents) in export::draft(&timeline, &context, &[], program) {
            fs_err::write(draft.join(file), contents).map_err(text)?;
        }
    }
    let seconds = (timeline.frames as f64 / timeline.frame_rate.as_f64()).to_string();
    let drafts = opened(&python, DRAFT_SCRIPT, &[folder.path().as_ref(), seconds.as_ref()])?;
    Ok(format!("{otio}, {drafts}: no failure"))
}

/// What a script prints that opens the film.
fn opened(python: &Path, script: &str, arguments: &[&OsStr]) -> Result<String, String> {
    let output = Command::new(python).args(["-c", script]).args(arguments).output().map_err(text)?;
    if !output.status.success() {
        return Err(format!("the exported film fails:\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[expect(clippy::needless_pass_by_value, reason = "the signature of `map_err`")]
fn text(error: std::io::Error) -> String {
    error.to_string()
}

/// A film with each kind of transition and a title, and its clips as files.
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
    let transition = |kind| Some(Transition { kind, length: EditTime::Frames(1) });
    let kinds = [
        TransitionKind::FadeBlack,
        TransitionKind::FadeWhite,
        TransitionKind::WipeLeft,
        TransitionKind::WipeRight,
        TransitionKind::Dissolve,
    ];
    let clips = kinds.map(|kind| Clip { transition: transition(kind), ..whole_clip() });
    let title = Some(Title { text: "THE END".to_owned(), style: TitleStyle::Card });
    let length = Some(EditTime::Frames(24));
    let fade = transition(TransitionKind::FadeBlack);
    let card = Clip { length, title, transition: fade, ..Clip::whole(ClipSource::Card) };
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
        return Err(format!("the edit is another one after opentimelineio has written it:\n{reimported:#?}"));
    }
    Ok(())
}
