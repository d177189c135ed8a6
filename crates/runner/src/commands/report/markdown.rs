//! The report as Markdown, with the tables of GitHub.

use std::fmt::Write as _;

use scheduler::StatusKind;
use viewer::{Clip, Manifest};
use workflow::units::VideoDuration;

use super::{amount, film_state_name, is_failure, reason, took, total_cost};
use crate::report::sanitize;

pub(super) fn report(manifest: &Manifest) -> String {
    let mut out = format!("# {}\n\n", cell(&manifest.workflow.name));
    summary(manifest, &mut out);
    shots(manifest, &mut out);
    action(manifest, &mut out);
    films(manifest, &mut out);
    out
}

fn summary(manifest: &Manifest, out: &mut String) {
    let count = |state| manifest.clips.iter().filter(|clip| clip.state == state).count();
    let counts: Vec<String> = StatusKind::ALL
        .iter()
        .map(|state| (count(*state), state))
        .filter(|(count, _)| *count > 0)
        .map(|(count, state)| format!("{count} {}", state.as_str().replace('-', " ")))
        .collect();
    let done = manifest.clips.iter().filter(|clip| clip.state == StatusKind::Done);
    let seconds: VideoDuration = done.filter_map(|clip| clip.seconds).sum();
    let _ = writeln!(out, "{} shots: {}.", manifest.clips.len(), counts.join(", "));
    let _ = write!(out, "{:.1} s of video", seconds.as_secs_f64());
    if let Some(cost) = total_cost(manifest) {
        let _ = write!(out, ", at most {} for all tasks", amount(manifest, cost));
    }
    let _ = writeln!(out, ". File: `{}`.\n", code(&manifest.workflow.file));
}

fn shots(manifest: &Manifest, out: &mut String) {
    let has_cost = manifest.currency.is_some();
    let cost_head = if has_cost { " cost |" } else { "" };
    let _ = writeln!(out, "| shot | state | tasks | model | seed | seconds | took |{cost_head} file |");
    let _ = writeln!(out, "|---|---|--:|---|--:|--:|--:|{}---|", if has_cost { "--:|" } else { "" });
    for clip in &manifest.clips {
        let number = |value: Option<f64>| value.map(|value| format!("{value:.1}")).unwrap_or_default();
        let picked = if clip.is_picked { " (picked)" } else { "" };
        let _ = write!(
            out,
            "| {}{picked} | {} | {} | {} | {} | {} | {} |",
            cell(&clip.id),
            clip.state.as_str(),
            clip.accepted_tasks(),
            cell(&clip.model),
            clip.seed.map(|seed| seed.to_string()).unwrap_or_default(),
            number(clip.seconds.map(VideoDuration::as_secs_f64)),
            number(took(clip).map(|took| took.as_secs_f64())),
        );
        if has_cost {
            let _ = write!(
                out,
                " {} |",
                clip.total_cost().map(|cost| amount(manifest, cost)).unwrap_or_default()
            );
        }
        let _ = writeln!(out, " {} |", clip.file.as_deref().map(cell).unwrap_or_default());
    }
}

fn action(manifest: &Manifest, out: &mut String) {
    let clips: Vec<&Clip> = manifest.clips.iter().filter(|clip| is_failure(clip.state)).collect();
    if clips.is_empty() {
        return;
    }
    out.push_str("\n## Action needed\n\n");
    for clip in clips {
        let reason = reason(clip).map(|reason| format!(": {}", cell(&reason))).unwrap_or_default();
        let _ = writeln!(out, "- **{}** ({}){reason}", cell(&clip.id), clip.state.as_str());
        let _ = writeln!(out, "  `{}`", code(&clip.command));
    }
}

fn films(manifest: &Manifest, out: &mut String) {
    if manifest.films.is_empty() {
        return;
    }
    out.push_str("\n## Films\n\n| film | state | seconds | clips |\n|---|---|--:|--:|\n");
    for film in &manifest.films {
        let seconds = film.seconds.map(|seconds| format!("{:.1}", seconds.as_secs_f64())).unwrap_or_default();
        let state = film_state_name(film.state);
        let _ = writeln!(out, "| {} | {state} | {seconds} | {} |", cell(&film.name), film.cuts.len());
    }
}

/// Text that is neither markup nor the end of a cell.
pub(super) fn cell(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in sanitize::line(text).chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' | '&' | '!' | '@') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// Text inside backticks.
fn code(text: &str) -> String {
    sanitize::line(text).replace('`', "'")
}
