//! What is estimate a line of its own, in words.

use scheduler::{Event, ExistingWork, FailureKind, Halt, Outcome, PollResult, RefusalKind, RunState};
use workflow::plan::NodeIx;

use super::sanitize;
use crate::project_paths::display_path;

/// A line about an event.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) line: String,
    pub(super) importance: Importance,
}

/// How much a line matters where there is a live view as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Importance {
    /// The live view shows it.
    Routine,
    /// A shot is done, or let go because the user asked: estimate a line where there are few.
    ShotDone,
    /// It should stay to be read.
    Notable,
}

/// What to say about `event`, which has led to `state`; nothing when it only moves things along.
pub(super) fn message_for(state: &RunState, event: &Event) -> Option<Message> {
    let line = line(state, event)?;
    let is_over = |node: &NodeIx| state.node(*node).outcome().is_some();
    let is_let_go = |node: NodeIx| {
        matches!(state.node(node).outcome(), Some(Outcome::Detached { .. } | Outcome::NotBegun))
    };
    let importance = match event {
        // The user asked for it, and the end counts them.
        _ if state.halt() == Some(&Halt::Interrupted) && event.node().is_some_and(is_let_go) => {
            Importance::ShotDone
        }
        Event::Submitted { .. }
        | Event::Reconciled { reason: Some(_), .. }
        | Event::LookupDone { existing: ExistingWork::Completed { .. }, .. } => Importance::Routine,
        // Trouble that is being dealt with stands in the shot's own line.
        Event::Refused { node, .. } | Event::DownloadFailed { node, .. } | Event::Polled { node, .. }
            if !is_over(node) =>
        {
            Importance::Routine
        }
        Event::Downloaded { .. } => Importance::ShotDone,
        Event::FilmJoined { film, .. } if film.reused => Importance::Routine,
        Event::RunConfigured { .. }
        | Event::Started
        | Event::LookupDone { .. }
        | Event::Prepared { .. }
        | Event::BudgetExceeded { .. }
        | Event::ClaimConflict { .. }
        | Event::PrepareFailed { .. }
        | Event::Refused { .. }
        | Event::Indeterminate { .. }
        | Event::Polled { .. }
        | Event::DownloadFailed { .. }
        | Event::FilmJoined { .. }
        | Event::JoinFailed { .. }
        | Event::Reconciled { .. }
        | Event::TaskExpired { .. }
        | Event::Resolved { .. }
        | Event::TimerFired
        | Event::Interrupted => Importance::Notable,
    };
    Some(Message { line, importance })
}

fn name(state: &RunState, node: NodeIx) -> String {
    sanitize::line(&state.plan().node(node).name).into_owned()
}

fn line(state: &RunState, event: &Event) -> Option<String> {
    let name = |node| name(state, node);
    let is_unselected =
        |node: NodeIx| matches!(state.node(node).outcome(), Some(Outcome::NotSelected { .. }));
    let said = match event {
        Event::LookupDone { node, .. } | Event::Reconciled { node, .. } if is_unselected(*node) => return None,
        Event::LookupDone { node, existing: ExistingWork::Completed { .. }, .. } => {
            format!("{}: made already, nothing to submit", name(*node))
        }
        Event::LookupDone { node, existing: ExistingWork::InFlight { task, was_downloaded: true, .. }, .. } => {
            format!("{}: its file is missing or changed; fetching it again from task {task}", name(*node))
        }
        Event::LookupDone { node, existing: ExistingWork::InFlight { task, .. }, .. }
        | Event::Reconciled { node, task: Some(task), reason: None, .. } => {
            format!("{}: adopted task {task} of an earlier run", name(*node))
        }
        Event::LookupDone { node, existing: ExistingWork::ClaimedByRun { run }, .. }
        | Event::ClaimConflict { node, existing: ExistingWork::ClaimedByRun { run } } => {
            format!("{}: run {run} is submitting it too; waiting for its task", name(*node))
        }
        Event::Submitted { node, task, .. } | Event::Reconciled { node, task: Some(task), .. } => {
            format!("{}: submitted as task {}", name(*node), sanitize::line(task.as_str()))
        }
        Event::Refused { node, refusal, .. } => match refusal.kind {
            RefusalKind::Throttled => format!("{}: the service asks to slow down", name(*node)),
            RefusalKind::Retryable => format!("{}: not submitted yet: {}", name(*node), sanitize::message(&refusal.failure.message)),
            RefusalKind::InvalidRequest | RefusalKind::ServiceUnusable => return ended(state, event),
        },
        Event::Reconciled { node, reason: Some(reason), .. } if state.node(*node).outcome().is_none() => {
            format!("{}: not submitted yet: {}", name(*node), sanitize::message(reason))
        }
        Event::Downloaded { node, artifact, .. } => {
            let took = state
                .node(*node)
                .took()
                .map(|took| format!(" in {:.1} s", took.as_secs_f64()))
                .unwrap_or_default();
            format!("{}: done{took}, {}", name(*node), display_path(&artifact.path))
        }
        Event::DownloadFailed { node, failure, .. } if state.node(*node).outcome().is_none() => {
            format!("{}: fetching its video again: {}", name(*node), sanitize::message(&failure.message))
        }
        Event::Polled { node, result: PollResult::Unreachable { reason }, .. }
            if state.node(*node).outcome().is_none() =>
        {
            format!("{}: no answer from the service, asking again: {}", name(*node), sanitize::message(reason))
        }
        Event::FilmJoined { film, .. } if film.reused => format!("film: up to date, {}", display_path(&film.path)),
        Event::FilmJoined { film, .. } => format!("film: joined, {}", display_path(&film.path)),
        Event::JoinFailed { failure, .. } => format!("film: {}", sanitize::message(&failure.message)),
        Event::Interrupted => {
            "interrupted: nothing more is submitted; tasks that are out are kept for the next run, finished videos are fetched; \
             again to end at once"
                .to_owned()
        }
        Event::BudgetExceeded { limit, .. } => format!(
            "the cap on {limit} is reached, with what other runs hold: nothing more is submitted, what is out is finished"
        ),
        // With one job at a time the run now waits, and nothing else would say why.
        Event::Indeterminate { node, .. } => format!(
            "{}; its task may be out, so its place among the tasks out is kept for {} s",
            ended(state, event)?,
            state.indeterminate_slot_hold(*node).as_secs()
        ),
        Event::LookupDone { .. }
        | Event::Reconciled { .. }
        | Event::ClaimConflict { .. }
        | Event::PrepareFailed { .. }
        | Event::DownloadFailed { .. }
        | Event::Polled { .. } => return ended(state, event),
        Event::RunConfigured { .. }
        | Event::Started
        | Event::Prepared { .. }
        | Event::TaskExpired { .. }
        | Event::Resolved { .. }
        | Event::TimerFired => return None,
    };
    Some(said)
}

/// The line about a node that the event has ended badly.
fn ended(state: &RunState, event: &Event) -> Option<String> {
    let node = event.node()?;
    let said = outcome(state.node(node).outcome()?)?;
    Some(format!("{}: {said}", name(state, node)))
}

/// A bad end in words; nothing for a good one.
pub(super) fn outcome(outcome: &Outcome) -> Option<String> {
    Some(match outcome {
        Outcome::Done { .. } => return None,
        Outcome::Failed { failure, .. } => {
            let code = failure
                .code
                .as_deref()
                .map(|code| format!(" ({})", sanitize::message(code)))
                .unwrap_or_default();
            let advice = match failure.kind {
                FailureKind::Expired => "; run again to make it anew",
                FailureKind::InputModerated => "; change the prompt or the image",
                FailureKind::OutputModerated
                | FailureKind::RateLimited
                | FailureKind::Quota
                | FailureKind::Unauthorized
                | FailureKind::Invalid
                | FailureKind::Transient
                | FailureKind::Corrupt
                | FailureKind::Local
                | FailureKind::Task => "",
                FailureKind::Abandoned => "; `runner run FILE --force SHOT` makes it anew",
            };
            format!("failed: {}{code}{advice}", sanitize::message(&failure.message))
        }
        Outcome::Indeterminate { attempt, reason } => format!(
            "it is not known whether the service accepted it ({}), so it is not submitted again; \
             look at your account there, then say `runner resolve FILE {attempt} --adopt TASK`, `--resubmit` or `--abandon`",
            sanitize::message(reason)
        ),
        Outcome::Detached { task, reason } => {
            format!(
                "left for a later run, which adopts task {}: {}",
                sanitize::line(task.as_str()),
                sanitize::message(reason)
            )
        }
        Outcome::Blocked { .. } => "not begun, because a shot before it is not done".to_owned(),
        Outcome::Unpicked { takes } => {
            format!("not begun, because no take of {} is picked yet", sanitize::line(&takes.join(" and ")))
        }
        Outcome::NotBegun => "not begun".to_owned(),
        Outcome::NotSelected { task } => {
            format!("not selected; its task {} stays out", sanitize::line(task.as_ref()?.as_str()))
        }
    })
}
