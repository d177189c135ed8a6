//! The list of submissions without a known outcome and of tasks without a video, with what tells them apart in the account at the service.

use std::path::Path;

use contract::Word;
use engine::Ledger;
use engine::ledger::AttemptRow;
use scheduler::{AttemptState, TaskId};
use serde_json::{Value, json};

use super::selected::{ended, has_name, not_submitted, undecided};
use crate::args::Format;
use crate::clock::utc_time;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::hints;
use crate::report::sanitize;
use crate::shell;

/// A submission, with what it asked for.
struct Listed {
    row: AttemptRow,
    prompt: Option<String>,
    seed: Option<String>,
}

impl Listed {
    fn new(ledger: &Ledger, row: AttemptRow) -> Result<Self, CommandError> {
        let parts = ledger.key_parts(&row.attempt)?;
        let value = |name: &str| parts.iter().find(|part| part.name == name)?.value.clone();
        Ok(Self { row, prompt: value(Word::Prompt.as_str()), seed: value(Word::Seed.as_str()) })
    }

    fn record(&self) -> Value {
        let Self { row, prompt, seed } = self;
        json!({
            "attempt": row.attempt,
            "shot": row.node,
            "run": row.run,
            "intended_at": row.intended_at,
            "service": row.service,
            "model": row.model,
            "prompt": prompt,
            "seed": seed,
            "request": row.digest,
            "state": row.state,
            "task": row.task,
            "suggested_task": row.suggested_task,
            "reason": reason(row),
        })
    }

    fn text(&self, file: &str) -> String {
        let Self { row, prompt, seed } = self;
        let name = row.attempt.as_str();
        let state = if is_undecided(row) { "indeterminate: " } else { "" };
        let mut lines = vec![
            format!("{}: {state}{}", sanitize::line(&row.node), sanitize::message(&reason(row))),
            format!(
                "  attempt {}, submitted at {} to {}",
                row.attempt,
                utc_time(row.intended_at),
                sanitize::line(&row.service)
            ),
        ];
        let seed = seed.as_ref().map_or_else(String::new, |seed| format!(", seed {seed}"));
        lines.push(format!("  model {}{seed}", sanitize::line(&row.model)));
        lines.extend(prompt.as_ref().map(|prompt| format!("  prompt: {}", sanitize::line(prompt))));
        match (row.state, &row.suggested_task) {
            (AttemptState::Missing | AttemptState::Expired, _) => {
                lines.push(format!("  {}", hints::close_command(file, name)));
            }
            (AttemptState::Abandoned, _) | (_, None) => {}
            (_, Some(task)) => {
                lines.push(format!("  {}", hints::resolve_command(file, name, Some(task.as_str()))));
            }
        }
        lines.join("\n")
    }
}

/// Lists the submissions of these names, or all.
pub(super) fn list(
    ledger: &Ledger,
    file: &Path,
    names: &[String],
    format: Format,
) -> Result<Exit, CommandError> {
    let mut rows = undecided(ledger)?;
    rows.extend(ledger.open_tasks()?.into_iter().filter(|row| row.state != AttemptState::Submitted));
    for name in names {
        if !rows.iter().any(|row| has_name(row, name))
            && ledger.attempt(&name.as_str().into())?.is_none()
            && ledger.attempt_of_task(&name.as_str().into())?.is_none()
            && ended(ledger, name, file)?.is_none()
        {
            return Err(not_submitted(name, file));
        }
    }
    rows.retain(|row| names.is_empty() || names.iter().any(|name| has_name(row, name)));
    let action_needed = rows.iter().any(|row| row.state != AttemptState::Abandoned);
    let listed = rows.into_iter().map(|row| Listed::new(ledger, row)).collect::<Result<Vec<_>, _>>()?;
    match format {
        Format::Json => outln!("{:#}", listed.iter().map(Listed::record).collect::<Value>()),
        Format::Ndjson => listed.iter().for_each(|listed| outln!("{}", listed.record())),
        Format::Text if listed.is_empty() => outln!("no submission is indeterminate"),
        Format::Text => {
            let file = shell::path(file);
            for listed in &listed {
                outln!("{}", listed.text(&file));
            }
            if let Some(first) = listed.iter().find(|listed| is_undecided(&listed.row)) {
                let command = hints::resolve(&file, first.row.attempt.as_str());
                outln!(
                    "\nlook the submission up in your account at the service, then run one of\n  \
                     {command} --adopt TASK   it was accepted as this task\n  \
                     {command} --resubmit     it was not accepted: submit it again\n  \
                     {command} --abandon      cannot be determined: count it as spent"
                );
            }
        }
    }
    Ok(if action_needed { Exit::ActionNeeded } else { Exit::Done })
}

/// Whether a person has to state what became of it.
fn is_undecided(row: &AttemptRow) -> bool {
    matches!(row.state, AttemptState::Intended | AttemptState::Indeterminate)
}

/// What became of a submission, as far as it is known.
fn reason(row: &AttemptRow) -> String {
    let reason = match (&row.failure, &row.task) {
        (Some(failure), _) => failure.clone(),
        (None, Some(_)) if row.state == AttemptState::Expired => "its shot's `retry` gave it up".to_owned(),
        (None, Some(task)) => format!("it was accepted as task {task}"),
        (None, None) => "the run ended before the response arrived".to_owned(),
    };
    let task = row.task.as_ref().map_or("", TaskId::as_str);
    match row.state {
        AttemptState::Missing | AttemptState::Expired => {
            format!("task {task} is paid for and has no video: {reason}")
        }
        AttemptState::Abandoned => format!("abandoned: {reason}"),
        AttemptState::Intended
        | AttemptState::Indeterminate
        | AttemptState::Submitted
        | AttemptState::Completed
        | AttemptState::Failed
        | AttemptState::Refused
        | AttemptState::NotAccepted => reason,
    }
}
