//! What `ledger adopt` prints.

use std::path::Path;

use engine::adopt::{AdoptionReport, AdoptionResult, UnusedDescription};
use serde_json::{Value, json};

use crate::args::{AdoptArgs, Format};
use crate::hints;
use crate::project_paths::display_path;
use crate::report::sanitize;
use crate::shell;

/// How many descriptions that are not needed are listed.
const MAX_LISTED: usize = 5;

pub(super) fn report(args: &AdoptArgs, adopted: &AdoptionReport) {
    let records = adopted.shots.iter().map(|(shot, result)| record(shot, result)).chain(
        adopted.unused.iter().map(|unused| {
            let outcome = if unused.is_refused { "refused" } else { "not-needed" };
            json!({ "source": unused.source, "outcome": outcome, "reason": unused.reason })
        }),
    );
    match args.format {
        Format::Json => outln!("{:#}", records.collect::<Value>()),
        Format::Ndjson => records.for_each(|record| outln!("{record}")),
        Format::Text => text(adopted, args),
    }
}

fn record(shot: &str, result: &AdoptionResult) -> Value {
    match result {
        AdoptionResult::Video(path, None) => json!({ "shot": shot, "outcome": "video", "file": path }),
        AdoptionResult::Video(path, Some(task)) => {
            json!({ "shot": shot, "outcome": "video", "file": path, "task": task })
        }
        AdoptionResult::Task(task) => json!({ "shot": shot, "outcome": "task", "task": task }),
        AdoptionResult::NotAVideo(path, why) => {
            json!({ "shot": shot, "outcome": "not-a-video", "file": path, "reason": why })
        }
        AdoptionResult::TaskOfOther { task, attempt, node } => {
            json!({ "shot": shot, "outcome": "task-of-other", "task": task, "attempt": attempt, "owner_shot": node })
        }
        AdoptionResult::NotSubmitted { task, decision, why, indeterminate } => {
            let mut record = json!({ "shot": shot, "outcome": "not-submitted", "task": task, "decision": decision, "reason": why });
            if let Some(attempt) = indeterminate {
                record["attempt"] = json!(attempt);
            }
            record
        }
    }
}

fn text(adopted: &AdoptionReport, args: &AdoptArgs) {
    if adopted.shots.is_empty() && !adopted.unused.iter().any(|unused| unused.is_refused) {
        outln!("nothing to adopt: no video or task of these shots is unrecorded");
    }
    for (shot, result) in &adopted.shots {
        outln!("{}: {}", sanitize::line(shot), outcome(shot, result, args));
    }
    for unused in adopted.unused.iter().filter(|unused| unused.is_refused) {
        outln!("skipped {}: {}", source(unused), sanitize::line(&unused.reason));
    }
    let not_needed: Vec<&UnusedDescription> =
        adopted.unused.iter().filter(|unused| !unused.is_refused).collect();
    for unused in not_needed.iter().take(MAX_LISTED) {
        outln!("not needed {}: {}", source(unused), sanitize::line(&unused.reason));
    }
    if not_needed.len() > MAX_LISTED {
        outln!("not needed: {} more (--format json lists them)", not_needed.len() - MAX_LISTED);
    }
    if args.dry_run {
        outln!("nothing was written: --dry-run");
    }
}

fn source(unused: &UnusedDescription) -> String {
    sanitize::line(&display_path(Path::new(&unused.source))).into_owned()
}

fn outcome(shot: &str, result: &AdoptionResult, args: &AdoptArgs) -> String {
    let (file, is_dry_run) = (&args.workflow.file, args.dry_run);
    match result {
        AdoptionResult::Video(path, task) => {
            let verb = if is_dry_run { "would adopt" } else { "adopted" };
            let task = task.as_ref().map(|task| format!(", task {}", sanitize::line(task.as_str())));
            format!("{verb} {}{}", display_path(path), task.unwrap_or_default())
        }
        AdoptionResult::Task(task) => {
            let verb = if is_dry_run { "would adopt" } else { "adopts" };
            format!("the next run {verb} task {}", sanitize::line(task.as_str()))
        }
        AdoptionResult::NotAVideo(path, reason) => {
            format!("left alone, {} is not a whole video: {reason}", display_path(path))
        }
        AdoptionResult::TaskOfOther { task, attempt, node } => format!(
            "not recorded, task {} belongs to attempt {attempt} of {}",
            sanitize::line(task.as_str()),
            sanitize::line(node)
        ),
        AdoptionResult::NotSubmitted { task, decision, why, indeterminate } => {
            let reason = why.as_ref().map(|why| format!(" ({})", sanitize::line(why)));
            let command = indeterminate.as_ref().map(|_| {
                let adopt = shell::option("--adopt", task.as_str());
                let resolve = hints::resolve(&shell::path(file), &shell::quote(shot));
                format!("; if the task is its own: {resolve} {adopt}")
            });
            format!(
                "task {} is not recorded, a run would not submit this shot now: {}{}{}",
                sanitize::line(task.as_str()),
                decision.as_str(),
                reason.unwrap_or_default(),
                command.unwrap_or_default()
            )
        }
    }
}
