//! `runner import CUT --into WORKFLOW`: takes the order, the trims and the transitions of an editor's cut back into a film.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use timeline::import::{CandidateClip, ImportedEdit, Recut, RecutEntry, RecutError, read_otio, recut};
use timeline::{ClipVideo, continuations};
use workflow::edit::{FilmList, ListEntry, film_entries, set_film_entries, transition_value};
use workflow::plan::{Clip, ClipSource, Film, Plan, Voice};

use super::export::clips::ClipCollector;
use super::export::{FilmProject, film, not_resolvable};
use crate::args::{Format, ImportArgs};
use crate::edited_file::{self, EditFailure, EditedFile};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::load;
use crate::project_paths::display_path;
use crate::shell;

/// The largest cut that is read, in bytes.
const MAX_CUT_BYTES: u64 = 64 << 20;

pub(super) async fn import_cut(args: &ImportArgs, workflow: &Path) -> Result<Exit, CommandError> {
    let plan = match load::load(workflow, &args.overrides) {
        Ok(plan) => Arc::new(plan),
        Err(error) => return Ok(error.report(Format::Text)),
    };
    let film = film(&plan, args.film.as_deref())?;
    if plan.films().iter().filter(|other| other.location == film.location).count() > 1 {
        let message = format!("film `{}` is made for each cell of the workflow's matrix", film.output);
        return Err(CommandError::invalid(message)
            .hint("a cut would change all of them: write the film of this cell as one of its own"));
    }
    let project = FilmProject::read(&plan, workflow).await?;
    let collector = project.collector();
    let clips = collector.film_clips(film)?;
    let facts = ClipCollector::facts(&clips)?;
    let continued = continuations(&plan, &engine::film::clip_videos(&clips));
    let timeline = timeline::resolve(film, &facts, &continued).map_err(not_resolvable)?;
    let edit = read_cut(&args.list)?;
    let context = collector.context(film, &clips, &facts, Path::new("/"), false);
    let own = film.clips.iter().zip(facts).zip(context.clips);
    let mut candidates: Vec<CandidateClip> =
        own.map(|((clip, facts), info)| CandidateClip { source: clip.source.clone(), facts, info }).collect();
    let others = collector.videos().into_iter();
    candidates.extend(others.map(|(ix, facts, info)| CandidateClip {
        source: ClipSource::Node(ix),
        facts,
        info,
    }));
    let continues = |clip: &ClipSource, next: &ClipSource| {
        continuations(&plan, &[ClipVideo::from_source(clip), ClipVideo::from_source(next)]) == [true]
    };
    let recut = recut(film, &timeline, &candidates, &edit, &continues).map_err(|error| match error {
        RecutError::Edit(error) => not_resolvable(error),
        RecutError::Unknown(_) => CommandError::invalid(error)
            .hint("copy them into the workflow's folder, and add them to the film: `- {file: storm.mp4}`"),
        RecutError::Empty => CommandError::invalid(error),
    })?;
    for note in &recut.notes {
        errln!("note: {note}");
    }
    if recut.is_unchanged(film.clips.len()) {
        outln!("nothing changes");
        return Ok(Exit::Done);
    }
    let (old, _) = edited_file::read(workflow)?;
    let new = edited_text(&old, &plan, film, &recut)
        .map_err(|error| CommandError::invalid(format!("{}: {error}", display_path(workflow))))?;
    let edited = match EditedFile::with_text(workflow, &args.overrides, old, new) {
        Ok(edited) => edited,
        Err(EditFailure::Command(error)) => return Err(error),
        Err(EditFailure::Load(error)) => {
            let exit = error.report(Format::Text);
            errln!("{} stays as it is: with this cut it would be invalid", display_path(workflow));
            return Ok(exit);
        }
    };
    let expected: Vec<&Clip> = recut.entries.iter().map(|entry| &entry.clip).collect();
    let written = edited.plan.films().iter().find(|other| other.output == film.output);
    if !written.is_some_and(|written| written.clips.iter().eq(expected)) {
        let message = format!("the film's list in {} cannot say this cut", display_path(workflow));
        return Err(CommandError::invalid(message)
            .hint("list its clips one by one under `shots` of the film, and import the cut again"));
    }
    if !args.dry_run {
        edited.write()?;
    }
    out!("{}", edited.diff());
    if args.dry_run {
        errln!("nothing was written (--dry-run)");
    } else {
        errln!("next: runner run {}", shell::path(workflow));
    }
    Ok(Exit::Done)
}

/// Reads a cut as a document of `OpenTimelineIO`.
fn read_cut(file: &Path) -> Result<ImportedEdit, CommandError> {
    let mut bytes = Vec::new();
    fs_err::File::open(file)
        .and_then(|file| file.take(MAX_CUT_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| CommandError::invalid(format!("cannot read the cut: {error}")))?;
    if bytes.len() as u64 > MAX_CUT_BYTES {
        let file = display_path(file);
        return Err(CommandError::invalid(format!("{file} has more than {} MiB", MAX_CUT_BYTES >> 20)));
    }
    let invalid = |error: &dyn std::fmt::Display| {
        CommandError::invalid(format!("{}: {error}", display_path(file)))
            .hint("save the cut as OpenTimelineIO (.otio)")
    };
    // JSON is UTF-8 (RFC 8259, section 8.1): names that were replaced would find no clip.
    let text = std::str::from_utf8(&bytes).map_err(|error| invalid(&error))?;
    read_otio(text).map_err(|error| invalid(&error))
}

/// The file's text with the cut as the film's list.
fn edited_text(
    text: &str,
    plan: &Plan,
    film: &Film,
    recut: &Recut,
) -> Result<String, workflow::edit::EditError> {
    let index = plan.films().iter().position(|other| other.output == film.output).unwrap_or_default();
    // Entries belong to clips where each shows one shot.
    let is_own = |old: &Vec<Value>| {
        old.len() == film.clips.len() && old.iter().all(|entry| entry.get("group").is_none())
    };
    let shots = FilmList { film: index, key: "shots" };
    let old = film_entries(text, shots)?.filter(is_own).unwrap_or_default();
    let mut used = vec![false; old.len()];
    let entry = |entry: &RecutEntry| {
        let Some(written) = old.get(entry.candidate) else {
            return ListEntry::New(new_entry(plan, &entry.clip));
        };
        let is_repeated = std::mem::replace(&mut used[entry.candidate], true);
        match (entry.is_as_written(), is_repeated) {
            (true, false) => ListEntry::Same(entry.candidate),
            (true, true) => ListEntry::New(written.clone()),
            (false, false) => ListEntry::Changed(entry.candidate, value(plan, entry, written)),
            (false, true) => ListEntry::New(value(plan, entry, written)),
        }
    };
    let text = set_film_entries(text, shots, &recut.entries.iter().map(entry).collect::<Vec<_>>())?;
    without_lost_voices(text, FilmList { key: "voice", ..shots }, film, recut)
}

/// The text without the voices that begin with a shot that the cut does not show: they have no place any more.
fn without_lost_voices(
    text: String,
    list: FilmList<'_>,
    film: &Film,
    recut: &Recut,
) -> Result<String, workflow::edit::EditError> {
    let voices = &film.soundtrack.voices;
    let written = film_entries(&text, list)?.unwrap_or_default();
    let is_kept = |(voice, written): &(&Voice, &Value)| {
        let anchor = film.clips.get(voice.clip).map(|clip| &clip.source);
        written.get("at").is_none() || recut.entries.iter().any(|entry| Some(&entry.clip.source) == anchor)
    };
    let all = || voices.iter().zip(&written);
    if written.len() != voices.len() || all().all(|voice| is_kept(&voice)) {
        return Ok(text);
    }
    for (voice, _) in all().filter(|voice| !is_kept(voice)) {
        let path = voice.file.path.display();
        errln!("note: the voice {path} goes: the cut does not show the shot that it begins with");
    }
    let kept = all().enumerate().filter(|(_, voice)| is_kept(voice)).map(|(index, _)| ListEntry::Same(index));
    set_film_entries(&text, list, &kept.collect::<Vec<_>>())
}

/// A clip as an entry of its own, with all of its edits.
fn new_entry(plan: &Plan, clip: &Clip) -> Value {
    let mut members = name(plan, clip);
    add_trims(&mut members, clip);
    add_speed(&mut members, clip);
    add_transition(&mut members, clip);
    if !clip.gain.is_zero() {
        members.insert("gain".to_owned(), clip.gain.to_string().replace(' ', "").into());
    }
    if clip.mute {
        members.insert("mute".to_owned(), true.into());
    }
    compact_entry(members)
}

/// What a clip shows.
fn name(plan: &Plan, clip: &Clip) -> Map<String, Value> {
    let mut members = Map::new();
    match &clip.source {
        ClipSource::Node(ix) => {
            members.insert("shot".to_owned(), plan.node(*ix).name.as_str().into());
        }
        ClipSource::Pick(candidates) => {
            let name = candidates.first().map(|ix| plan.node(*ix).name_without_take());
            members.insert("shot".to_owned(), name.unwrap_or_default().into());
        }
        ClipSource::Video(file) | ClipSource::Image(file) => {
            members.insert("file".to_owned(), file.path.display().to_string().into());
        }
        ClipSource::Card => {}
    }
    if let Some(title) = &clip.title {
        members.insert("title".to_owned(), title.text.as_str().into());
        members.insert("style".to_owned(), json!(title.style));
    }
    members
}

fn add_trims(members: &mut Map<String, Value>, clip: &Clip) {
    for (key, time) in [("in", clip.start), ("out", clip.end), ("length", clip.length)] {
        if let Some(time) = time {
            members.insert(key.to_owned(), time.to_string().into());
        }
    }
}

fn add_speed(members: &mut Map<String, Value>, clip: &Clip) {
    if !clip.speed.is_normal() {
        members.insert("speed".to_owned(), json!(clip.speed.as_f64()));
    }
}

fn add_transition(members: &mut Map<String, Value>, clip: &Clip) {
    if let Some(transition) = clip.transition {
        members.insert("transition".to_owned(), transition_value(&transition));
    }
}

/// A whole shot is its name.
fn compact_entry(members: Map<String, Value>) -> Value {
    match (members.len(), members.get("shot")) {
        (1, Some(name)) => name.clone(),
        _ => Value::Object(members),
    }
}

/// An entry as the file has it, with the trims, the speed and the transition of the cut.
fn value(plan: &Plan, entry: &RecutEntry, written: &Value) -> Value {
    let clip = &entry.clip;
    let mut members = match written {
        Value::Object(members) => members.clone(),
        name => Map::from_iter([("shot".to_owned(), name.clone())]),
    };
    if entry.is_trimmed {
        for key in ["in", "out", "length", "seconds"] {
            members.shift_remove(key);
        }
        add_trims(&mut members, clip);
    }
    if entry.has_new_speed {
        members.shift_remove("speed");
        add_speed(&mut members, clip);
    }
    if entry.has_new_transition {
        members.shift_remove("transition");
        add_transition(&mut members, clip);
    }
    if members.is_empty() {
        members = name(plan, clip);
    }
    compact_entry(members)
}
