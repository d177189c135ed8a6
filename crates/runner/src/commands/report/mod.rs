//! `runner report`: the state of a workflow's shots and films in formats of other programs. Submits nothing and asks no service.

mod junit;
mod markdown;
mod table;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use viewer::{Clip, ClipState, FilmState, Manifest};
use workflow::units::Money;

use crate::args::{Format, ReportArgs, ReportFormat};
use crate::commands::atomic_write::atomic_write;
use crate::commands::view::collect_without_posters;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::load;
use crate::project_paths::display_path;
use crate::report::sanitize;

pub(crate) async fn report(args: ReportArgs) -> Result<Exit, CommandError> {
    let file = &args.workflow.file;
    let plan = match load::load(file, &args.workflow.overrides) {
        Ok(plan) => Arc::new(plan),
        Err(error) => return Ok(error.report(Format::Text)),
    };
    let manifest = match collect_without_posters(&plan, file, args.out.as_deref()).await? {
        Ok((_, manifest)) => manifest,
        Err(error) => return Ok(error.report(Format::Text)),
    };
    let text = match args.format {
        ReportFormat::Md => markdown::report(&manifest),
        ReportFormat::Csv => table::report(&manifest),
        ReportFormat::Json => {
            let json = serde_json::to_string_pretty(&manifest).map_err(CommandError::unusable)?;
            format!("{json}\n")
        }
        ReportFormat::Junit => junit::report(&manifest),
    };
    match &args.output {
        Some(output) => {
            atomic_write(output, &text, true)?;
            outln!("{}", display_path(output));
        }
        None => out!("{text}"),
    }
    Ok(Exit::Done)
}

/// The name of a state in reports, as in the manifest.
fn state_name(state: ClipState) -> &'static str {
    match state {
        ClipState::Done => "done",
        ClipState::Failed => "failed",
        ClipState::InFlight => "in flight",
        ClipState::Indeterminate => "indeterminate",
        ClipState::Missing => "missing",
        ClipState::Blocked => "blocked",
        ClipState::Waiting => "waiting",
        ClipState::Unpicked => "unpicked",
        ClipState::NotRun => "not run",
    }
}

/// The name of a film's state.
fn film_state_name(state: FilmState) -> &'static str {
    match state {
        FilmState::Done => "done",
        FilmState::Waiting => "waiting",
        FilmState::Unpicked => "unpicked",
        FilmState::Failed => "failed",
    }
}

/// Whether a person has to do something about a clip.
fn needs_action(state: ClipState) -> bool {
    match state {
        ClipState::Failed | ClipState::Indeterminate | ClipState::Missing | ClipState::Blocked => true,
        ClipState::Done
        | ClipState::InFlight
        | ClipState::Waiting
        | ClipState::Unpicked
        | ClipState::NotRun => false,
    }
}

/// Why a clip has no video: its failure, or that of its last attempt. Messages of services may contain anything.
fn reason(clip: &Clip) -> Option<String> {
    let of_attempt = || clip.attempts.last().and_then(|attempt| attempt.message.as_deref());
    let reason = clip.failure.as_deref().or_else(of_attempt);
    reason.filter(|_| clip.state != ClipState::Done).map(sanitize::message)
}

/// Text without control characters besides line ends and tabs.
fn printable(text: &str) -> String {
    let is_hidden = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    text.chars().map(|c| if is_hidden(c) { '\u{fffd}' } else { c }).collect()
}

/// Seconds from a clip's submission to its video.
fn took(clip: &Clip) -> Option<f64> {
    clip.took_ms.map(|millis| millis as f64 / 1e3)
}

/// An amount in the manifest's currency.
fn amount(manifest: &Manifest, micros: u64) -> String {
    let currency = manifest.currency.as_deref().unwrap_or_default();
    format!("{} {currency}", Money::from_micros(micros)).trim_end().to_owned()
}

/// What was reserved for the latest tasks of all clips; `None` without prices.
fn total_cost(manifest: &Manifest) -> Option<u64> {
    manifest.currency.as_ref()?;
    Some(manifest.clips.iter().filter_map(|clip| clip.cost).fold(0, u64::saturating_add))
}
