//! The submissions that the arguments name: shots, attempts and tasks.

use std::path::Path;

use engine::Ledger;
use engine::ledger::AttemptRow;
use scheduler::{AttemptId, AttemptState, TaskId};

use crate::args::{OverrideArgs, ResolveArgs};
use crate::error::CommandError;
use crate::load;
use crate::report::sanitize;
use crate::selection::unknown_shot;
use crate::shell;

/// How many shots an error lists.
const MAX_LISTED: usize = 12;

/// The attempts among the candidates that the arguments name, each once; with `--all` those in these states.
pub(super) fn selected(
    ledger: &Ledger,
    args: &ResolveArgs,
    mut candidates: Vec<AttemptRow>,
    is_listed: impl Fn(AttemptState) -> bool,
) -> Result<Vec<AttemptRow>, CommandError> {
    if args.all {
        let workflow = workflow_name(&args.file)?;
        candidates.retain(|row| {
            is_listed(row.state) && workflow.as_ref().is_none_or(|workflow| *workflow == row.workflow)
        });
        return Ok(candidates);
    }
    let mut rows: Vec<AttemptRow> = Vec::with_capacity(args.shots.len());
    for name in &args.shots {
        let row = named(ledger, name, &candidates, &args.file)?;
        if rows.iter().all(|other| other.attempt != row.attempt) {
            rows.push(row);
        }
    }
    Ok(rows)
}

/// The attempt of this id, or the one of this shot that the resolution can be for, or that of this task.
fn named(
    ledger: &Ledger,
    name: &str,
    candidates: &[AttemptRow],
    file: &Path,
) -> Result<AttemptRow, CommandError> {
    if let Some(row) = ledger.attempt(&AttemptId(name.to_owned()))? {
        return Ok(row);
    }
    let mut rows: Vec<&AttemptRow> = candidates.iter().filter(|row| row.node == name).collect();
    // Workflows of a folder may have shots of the same name.
    if rows.len() > 1
        && let Ok(Some(workflow)) = workflow_name(file)
        && rows.iter().any(|row| row.workflow == workflow)
    {
        rows.retain(|row| row.workflow == workflow);
    }
    if let Some(first) = rows.iter().map(|row| precedence(row.state)).min() {
        rows.retain(|row| precedence(row.state) == first);
    }
    match rows.as_slice() {
        [only] => Ok((*only).clone()),
        [] => match candidates.iter().find(|row| has_task(row, name)) {
            Some(row) => Ok(row.clone()),
            None => ledger
                .attempt_of_task(&TaskId(name.to_owned()))?
                .map_or_else(|| Err(not_resolvable(ledger, name, candidates, file)?), Ok),
        },
        several => {
            let ids = several.iter().map(|row| format!("{} ({})", row.attempt, row.state.as_str()));
            let ids = ids.collect::<Vec<_>>().join(", ");
            let name = sanitize::line(name);
            Err(CommandError::invalid(format!("`{name}` has several submissions: name one of {ids}")))
        }
    }
}

/// Which submission of a shot the shot's name means: that of the lowest number, if there is one of it only. What needs a decision comes first, then
/// what has no video any more, then what is in flight.
fn precedence(state: AttemptState) -> u8 {
    match state {
        AttemptState::Intended | AttemptState::Indeterminate => 0,
        AttemptState::Missing => 1,
        AttemptState::Expired => 2,
        AttemptState::Submitted => 3,
        AttemptState::Abandoned
        | AttemptState::Completed
        | AttemptState::Failed
        | AttemptState::Refused
        | AttemptState::NotAccepted => 4,
    }
}

/// Whether a task is that of an attempt, or the one that its response named.
fn has_task(row: &AttemptRow, task: &str) -> bool {
    row.task.as_ref().or(row.suggested_task.as_ref()).is_some_and(|own| own.as_str() == task)
}

/// Whether a row is meant by the name of a shot, an attempt or a task.
pub(super) fn has_name(row: &AttemptRow, name: &str) -> bool {
    row.node == name || row.attempt.as_str() == name || has_task(row, name)
}

/// Why nothing of this name can be resolved in the asked way.
fn not_resolvable(
    ledger: &Ledger,
    name: &str,
    candidates: &[AttemptRow],
    file: &Path,
) -> Result<CommandError, CommandError> {
    if let Some(error) = ended(ledger, name, file)? {
        return Ok(error);
    }
    let mut shots: Vec<&str> = candidates.iter().map(|row| &*row.node).collect();
    shots.sort_unstable();
    shots.dedup();
    let error = not_submitted(name, file);
    if shots.is_empty() {
        return Ok(error);
    }
    shots.truncate(MAX_LISTED);
    let (shots, file) = (shots.join(", "), shell::path(file));
    Ok(error.hint(format!("to be resolved: {shots}; `runner resolve {file}` lists the submissions")))
}

/// Nothing on record has this name.
pub(super) fn not_submitted(name: &str, file: &Path) -> CommandError {
    // An invalid workflow is ignored here; other commands report it.
    let checked = (!file.is_dir()).then(|| load::check(file, &OverrideArgs::default()).ok());
    match checked.flatten().and_then(|checked| checked.plan) {
        Some(plan) if plan.select(name).is_ok() => {
            let shot = sanitize::line(name);
            CommandError::invalid(format!("nothing is to be resolved for {shot}: it was not submitted"))
        }
        _ => unknown_shot(name, None, file),
    }
}

/// How the last submission of this shot ended; `None` where it has none.
pub(super) fn ended(ledger: &Ledger, shot: &str, file: &Path) -> Result<Option<CommandError>, CommandError> {
    let records = ledger.attempts_of_shot(shot)?;
    let Some(latest) = records.into_iter().find(|record| record.node == shot) else { return Ok(None) };
    let task = ledger.attempt(&latest.attempt)?.and_then(|row| row.task);
    let task = task.map_or_else(String::new, |task| format!(" with task {}", sanitize::line(task.as_str())));
    let (shot, file, state) = (shell::quote(shot), shell::path(file), latest.state.as_str());
    let error = CommandError::invalid(format!(
        "nothing is to be resolved for {shot}: its last submission is recorded as {state}{task}"
    ));
    Ok(Some(error.hint(if latest.state.holds_key() && !latest.state.is_in_flight() {
        format!("`runner run {file} --rerun {}` pays for another one", shell::quote_rerun(&latest.node))
    } else {
        format!("`runner run {file} --only {shot}` continues from there")
    })))
}

/// Attempts without a known outcome, and those that were closed: not those whose run still waits for the response.
pub(super) fn undecided(ledger: &Ledger) -> Result<Vec<AttemptRow>, CommandError> {
    let mut rows = ledger.resolvable_attempts()?;
    rows.retain(|row| row.state != AttemptState::Intended || !ledger.is_alive(&row.run));
    Ok(rows)
}

/// The workflow of a file; `None` for a folder, which stands for all workflows.
pub(in crate::commands) fn workflow_name(file: &Path) -> Result<Option<String>, CommandError> {
    if file.is_dir() {
        return Ok(None);
    }
    let plan = load::check(file, &OverrideArgs::default()).ok().and_then(|checked| checked.plan);
    match plan {
        Some(plan) => Ok(Some(plan.name().to_owned())),
        None => {
            Err(CommandError::invalid(format!("{} is not a valid workflow", file.display())).hint(format!(
                "to see what is wrong: runner check {}; a folder stands for all workflows",
                shell::path(file)
            )))
        }
    }
}
