//! `runner report`: the state of a workflow's shots and films in formats of other programs. Submits nothing and asks no service.

mod contact_sheet;
mod junit;
mod labels;
mod markdown;
mod table;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use scheduler::StatusKind;
use serde_json::Value;
use viewer::{Clip, FilmState, Manifest};
use workflow::units::Money;
use workflow::value_text;

use crate::args::{Format, ReportArgs, ReportFormat};
use crate::commands::atomic_write::atomic_write;
use crate::commands::view::{ViewedFile, collect, collect_without_posters};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::load;
use crate::project_paths::{ProjectPaths, display_path};
use crate::records::Records;
use crate::report::sanitize;
use crate::selection::unknown_shot;
use crate::shell;

pub(crate) async fn report(args: ReportArgs) -> Result<Exit, CommandError> {
    let file = &args.workflow.file;
    let is_sheet = args.format == ReportFormat::ContactSheet;
    check_combination(&args, is_sheet)?;
    let plan = match load::load(file, &args.workflow.overrides) {
        Ok(plan) => Arc::new(plan),
        Err(error) => return Ok(error.report(Format::Text)),
    };
    let paths = ProjectPaths::for_workflow(file)?;
    let records = Records::open(&paths, &args.engine, Some(plan.name())).await?;
    let viewed = ViewedFile {
        file,
        overrides: &args.workflow.overrides,
        engine: &args.engine,
        output_dir: args.output_dir.as_deref(),
    };
    let collected = if is_sheet {
        collect(&plan, viewed, &records).await?
    } else {
        collect_without_posters(&plan, viewed, &records).await?
    };
    let (folder, mut manifest) = match collected {
        Ok(collected) => collected,
        Err(error) => return Ok(error.report(Format::Text)),
    };
    if let Some(output) = &args.output {
        refuse_media(output, &folder, &manifest)?;
    }
    if let Some(shot) = &args.shot {
        if !manifest.shots.iter().any(|listed| listed.id == *shot) {
            return Err(unknown_shot(shot, None, file));
        }
        retain_shot(&mut manifest, shot);
    }
    if is_sheet {
        return write_contact_sheet(&args, &manifest, &folder);
    }
    let text = text(args.format, &manifest)?;
    match &args.output {
        Some(output) => {
            atomic_write(output, &text, true)?;
            outln!("{}", display_path(output));
        }
        None => out!("{text}"),
    }
    Ok(Exit::Done)
}

/// Refuses flags that do not go together.
fn check_combination(args: &ReportArgs, is_sheet: bool) -> Result<(), CommandError> {
    let file = shell::path(&args.workflow.file);
    if is_sheet && args.output.is_none() {
        return Err(CommandError::invalid("a contact sheet is not written to standard output").hint(
            format!("name a file: runner report {file} --format contact-sheet --output contact-sheet.png"),
        ));
    }
    if !is_sheet && args.columns.is_some() {
        return Err(CommandError::invalid("--columns is for the format contact-sheet"));
    }
    Ok(())
}

/// A report in a format of text.
fn text(format: ReportFormat, manifest: &Manifest) -> Result<String, CommandError> {
    Ok(match format {
        ReportFormat::Md => markdown::report(manifest),
        ReportFormat::Csv => table::report(manifest),
        ReportFormat::Junit => junit::report(manifest),
        ReportFormat::Json | ReportFormat::ContactSheet => json(manifest)?,
    })
}

fn json(value: &impl serde::Serialize) -> Result<String, CommandError> {
    let json = serde_json::to_string_pretty(value).map_err(CommandError::unusable)?;
    Ok(format!("{json}\n"))
}

/// Leaves only the clips of one shot.
fn retain_shot(manifest: &mut Manifest, shot: &str) {
    manifest.clips.retain(|clip| clip.shot == shot);
    manifest.films.clear();
}

/// Refuses to overwrite a clip or a film, under whatever name it is called.
fn refuse_media(output: &Path, folder: &Path, manifest: &Manifest) -> Result<(), CommandError> {
    let Ok(output) = std::fs::canonicalize(output) else { return Ok(()) };
    let files = manifest.clips.iter().filter_map(|clip| clip.file.as_ref());
    let mut files = files.chain(manifest.films.iter().filter_map(|film| film.file.as_ref()));
    match files.find(|file| std::fs::canonicalize(folder.join(file)).is_ok_and(|file| file == output)) {
        Some(file) => Err(CommandError::invalid(format!("{file} is a video of this workflow"))
            .hint("name another file with --output")),
        None => Ok(()),
    }
}

/// Writes a PNG with a frame of each clip.
fn write_contact_sheet(args: &ReportArgs, manifest: &Manifest, folder: &Path) -> Result<Exit, CommandError> {
    if !manifest.clips.iter().any(|clip| clip.state == StatusKind::Done) {
        let file = shell::path(&args.workflow.file);
        return Err(
            CommandError::invalid("there are no videos yet").hint(format!("render them: runner run {file}"))
        );
    }
    let output = args.output.as_deref().unwrap_or(Path::new(""));
    contact_sheet::write(manifest, folder, args.columns, output)?;
    outln!("{} ({} clips)", display_path(output), manifest.clips.len());
    Ok(Exit::Done)
}

/// A value of an axis for people: the row of a table by its name.
fn value_label(value: &Value) -> String {
    value_text(value).map_or_else(|| value.to_string(), str::to_owned)
}

/// The name of a film's state.
fn film_state_name(state: FilmState) -> &'static str {
    match state {
        FilmState::Done => "done",
        FilmState::Pending => "pending",
        FilmState::Unpicked => "unpicked",
        FilmState::NotJoined => "not-joined",
        FilmState::Failed => "failed",
    }
}

/// Whether a clip has no video although it was to have one: a failed case in JUnit, and action needed in Markdown.
fn is_failure(state: StatusKind) -> bool {
    match state {
        StatusKind::Failed
        | StatusKind::Indeterminate
        | StatusKind::Missing
        | StatusKind::Unrecorded
        | StatusKind::Detached
        | StatusKind::AtOtherService
        | StatusKind::Blocked => true,
        StatusKind::Done
        | StatusKind::Reused
        | StatusKind::InFlight
        | StatusKind::Submitting
        | StatusKind::Downloading
        | StatusKind::WaitingForRetry
        | StatusKind::Waiting
        | StatusKind::Pending
        | StatusKind::ClaimedByOtherRun
        | StatusKind::Unpicked
        | StatusKind::NotStarted
        | StatusKind::NotSelected => false,
    }
}

/// Why a clip has no video. Messages of services may contain anything. Not those of its attempts: one may have been for an earlier text.
fn reason(clip: &Clip) -> Option<String> {
    clip.failure.as_deref().filter(|_| clip.state != StatusKind::Done).map(sanitize::message)
}

/// Text without control characters besides line ends and tabs.
fn printable(text: &str) -> String {
    let is_hidden = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    text.chars().map(|c| if is_hidden(c) { '\u{fffd}' } else { c }).collect()
}

/// From a clip's submission to its video.
fn took(clip: &Clip) -> Option<Duration> {
    clip.elapsed_ms.map(Duration::from_millis)
}

/// An amount in the manifest's currency.
fn amount(manifest: &Manifest, amount: Money) -> String {
    let currency = manifest.currency.as_deref().unwrap_or_default();
    format!("{amount} {currency}").trim_end().to_owned()
}

/// What was reserved for all tasks of all clips; `None` without prices.
fn total_cost(manifest: &Manifest) -> Option<Money> {
    manifest.currency.as_ref()?;
    Some(manifest.clips.iter().filter_map(Clip::total_cost).sum())
}
