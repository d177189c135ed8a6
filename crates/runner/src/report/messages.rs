//! The message line of each event.

use std::path::PathBuf;

use scheduler::{
    Event, ExistingWork, FailureKind, Halt, Outcome, PollResult, RefusalKind, RunState, TaskId, Timestamp,
};
use workflow::plan::NodeIx;

use super::halt_reason::halted;
use super::sanitize;
use super::waits::{NOTABLE_WAIT, held_until, wait};
use crate::budget;
use crate::hints;
use crate::named_workflow::NamedWorkflow;
use crate::project_paths::display_path;
use crate::shell;

/// A message about an event.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) line: String,
    /// The file at the end of the line, if it ends with one: it can be shortened, and linked to.
    pub(super) file: Option<PathBuf>,
    pub(super) importance: Importance,
}

/// How important a message is when there is also a live view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Importance {
    /// The live view shows it anyway.
    Routine,
    /// A shot is done, or detached by an interrupt: shown in small runs.
    ShotDone,
    /// Always shown.
    Notable,
}

/// The message for `event`, which led to `state` at `now`. `None` for events without news. `file` is the workflow.
pub(super) fn message_for(
    state: &RunState,
    event: &Event,
    now: Timestamp,
    file: &NamedWorkflow,
) -> Option<Message> {
    let line = line(state, event, now, file)?;
    let is_over = |node: &NodeIx| state.node(*node).outcome().is_some();
    let is_detached = |node: NodeIx| {
        matches!(state.node(node).outcome(), Some(Outcome::Detached { .. } | Outcome::NotStarted))
    };
    let importance = match event {
        // Expected after an interrupt, and counted in the final report.
        _ if state.halt() == Some(&Halt::Interrupted) && event.node().is_some_and(is_detached) => {
            Importance::ShotDone
        }
        Event::Submitted { .. }
        | Event::Reconciled { reason: Some(_), .. }
        | Event::LookupDone { existing: ExistingWork::Completed { .. }, .. } => Importance::Routine,
        Event::Polled { result, .. } if result.undefined_status().is_some() => Importance::Notable,
        // A run that stands still has to say why.
        Event::Refused { .. } | Event::DownloadFailed { .. } | Event::Polled { .. }
            if held_until(state, event).is_some_and(|until| until.since(now) >= NOTABLE_WAIT) =>
        {
            Importance::Notable
        }
        // Retried failures are shown in the shot's own line of the live view.
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
        | Event::RendersAsked { .. }
        | Event::RendersWithdrawn { .. }
        | Event::TimerFired
        | Event::Interrupted => Importance::Notable,
    };
    let file = match event {
        Event::Downloaded { artifact, .. } => Some(artifact.path.clone()),
        Event::FilmJoined { film, .. } => Some(film.path.clone()),
        _ => None,
    };
    let file = file.filter(|file| line.ends_with(&display_path(file)));
    Some(Message { line, file, importance })
}

fn name(state: &RunState, node: NodeIx) -> String {
    sanitize::line(&state.plan().node(node).name).into_owned()
}

fn line(state: &RunState, event: &Event, now: Timestamp, file: &NamedWorkflow) -> Option<String> {
    let name = |node| name(state, node);
    let is_not_selected =
        |node: NodeIx| matches!(state.node(node).outcome(), Some(Outcome::NotSelected { .. }));
    let text = match event {
        Event::LookupDone { node, .. } | Event::Reconciled { node, .. } if is_not_selected(*node) => return None,
        Event::LookupDone { node, existing: ExistingWork::Completed { .. }, .. } => {
            format!("{}: up to date, nothing to submit", name(*node))
        }
        Event::LookupDone { node, existing: ExistingWork::InFlight { task, is_other_account: true, .. }, .. } => format!(
            "{}: adopted task {} of an earlier run, which used another API key: an account that does not own the task cannot see it",
            name(*node),
            sanitize::line(task.as_str())
        ),
        Event::LookupDone { node, existing: ExistingWork::InFlight { task, is_missing: true, .. }, .. } => format!(
            "{}: the service did not know task {}, or had no intact video of it, when it was last asked; asking again",
            name(*node),
            sanitize::line(task.as_str())
        ),
        Event::LookupDone { node, existing: ExistingWork::InFlight { task, damage: Some(damage), .. }, .. } => format!(
            "{}: its video is damaged ({}); downloading it again from task {}",
            name(*node),
            sanitize::line(damage),
            sanitize::line(task.as_str())
        ),
        Event::LookupDone { node, existing: ExistingWork::InFlight { task, was_downloaded: true, .. }, .. } => {
            format!(
                "{}: its file is missing or modified; downloading it again from task {}",
                name(*node),
                sanitize::line(task.as_str())
            )
        }
        Event::LookupDone { node, existing: ExistingWork::InFlight { task, .. }, .. }
        | Event::Reconciled { node, task: Some(task), reason: None, .. } => {
            format!("{}: adopted task {} of an earlier run", name(*node), sanitize::line(task.as_str()))
        }
        Event::LookupDone { node, existing: ExistingWork::ClaimedByOtherRun { run }, .. }
        | Event::ClaimConflict { node, existing: ExistingWork::ClaimedByOtherRun { run }, .. } => {
            format!("{}: claimed by run {run}; waiting for its task", name(*node))
        }
        Event::ClaimConflict { node, existing: ExistingWork::Changed { .. }, .. } => {
            format!("{}: another command has taken up its last task; looking it up again", name(*node))
        }
        Event::Submitted { node, task, .. } | Event::Reconciled { node, task: Some(task), .. } => {
            format!("{}: submitted as task {}{}", name(*node), sanitize::line(task.as_str()), retried(state, *node))
        }
        Event::Refused { node, refusal, .. } => match refusal.kind {
            RefusalKind::Throttled => {
                format!("{}: throttled by the service{}", name(*node), wait(state, event, now, "submission"))
            }
            RefusalKind::NotSent => format!(
                "{}: not sent yet, because the service throttles others{}",
                name(*node),
                wait(state, event, now, "submission")
            ),
            RefusalKind::Retryable | RefusalKind::Unreachable => format!(
                "{}: not accepted, retrying: {}{}",
                name(*node),
                sanitize::message(&refusal.failure.message),
                wait(state, event, now, "submission")
            ),
            RefusalKind::InvalidRequest | RefusalKind::ServiceUnusable => return ended_line(state, event, file),
        },
        Event::Reconciled { node, reason: Some(reason), .. } if state.node(*node).outcome().is_none() => {
            format!("{}: not submitted yet: {}", name(*node), sanitize::message(reason))
        }
        Event::Downloaded { node, artifact, .. } => {
            let took = state
                .node(*node)
                .shot()
                .took()
                .map(|took| format!(" in {:.1} s", took.as_secs_f64()))
                .unwrap_or_default();
            format!("{}: done{took}, {}", name(*node), display_path(&artifact.path))
        }
        Event::DownloadFailed { node, failure, .. } if state.node(*node).outcome().is_none() => {
            format!(
                "{}: retrying the download: {}{}",
                name(*node),
                sanitize::message(&failure.message),
                wait(state, event, now, "try")
            )
        }
        Event::Polled { node, result: PollResult::Throttled { .. }, .. }
            if state.node(*node).outcome().is_none() =>
        {
            let wait = wait(state, event, now, "poll");
            if wait.is_empty() {
                return None;
            }
            format!("{}: polls are throttled by the service{wait}", name(*node))
        }
        Event::Polled { node, result: PollResult::Unreachable { reason }, .. }
            if state.node(*node).outcome().is_none() =>
        {
            format!("{}: no usable response to a poll, retrying: {}", name(*node), sanitize::message(reason))
        }
        Event::Polled { node, result, .. }
            if let Some(status) = result.undefined_status()
                && state.node(*node).outcome().is_none() =>
        {
            format!(
                "{}: the service says that its status is `{}`, which is not one of the contract's; waiting",
                name(*node),
                sanitize::message(status)
            )
        }
        Event::FilmJoined { film, .. } if film.reused => format!("film: up to date, {}", display_path(&film.path)),
        Event::FilmJoined { film, .. } => format!("film: joined, {}", display_path(&film.path)),
        Event::JoinFailed { failure, .. } => format!("film: {}", sanitize::message(&failure.message)),
        Event::Interrupted => {
            "interrupted: nothing more is submitted; tasks in flight are kept for the next run, finished videos are downloaded; \
             interrupt again to exit at once"
                .to_owned()
        }
        Event::BudgetExceeded { cap, .. } => format!(
            "{} is reached, including what other runs have reserved: nothing more is submitted, tasks in flight are finished",
            budget::cap(*cap, &state.budget().caps())
        ),
        // With --jobs 1 the run now waits; nothing else would explain why.
        Event::Indeterminate { node, .. } => format!(
            "{}; its task may be in flight, so it counts against --jobs for {} s",
            ended_line(state, event, file)?,
            state.indeterminate_slot_hold(*node).as_secs()
        ),
        Event::LookupDone { .. }
        | Event::Reconciled { .. }
        | Event::ClaimConflict { .. }
        | Event::PrepareFailed { .. }
        | Event::DownloadFailed { .. }
        | Event::Polled { .. } => return ended_line(state, event, file),
        Event::RunConfigured { .. }
        | Event::Started
        | Event::Prepared { .. }
        | Event::TaskExpired { .. }
        | Event::Resolved { .. }
        | Event::RendersAsked { .. }
        | Event::RendersWithdrawn { .. }
        | Event::TimerFired => return None,
    };
    Some(text)
}

/// `, attempt 2 of 3, after: the service is overloaded`; empty for a first attempt.
fn retried(state: &RunState, node: NodeIx) -> String {
    let shot = state.node(node).shot();
    let number = shot.attempt_number();
    if number < 2 {
        return String::new();
    }
    let failure = shot.attempts().iter().rev().find_map(|attempt| attempt.failure.as_ref());
    let after = failure.map(|failure| format!(", after: {}", sanitize::message(&failure.message)));
    format!(
        ", attempt {number} of {}{}",
        state.plan().node(node).retry.max(number),
        after.unwrap_or_default()
    )
}

/// The message about a node that the event has ended without success.
fn ended_line(state: &RunState, event: &Event, file: &NamedWorkflow) -> Option<String> {
    let node = event.node()?;
    let shot = &state.plan().node(node).name;
    let text = match (state.node(node).outcome()?, state.halt_of(node)) {
        (Outcome::NotStarted, Some(halt)) => {
            format!("not started: {}", halted(&halt, &state.budget().caps()))
        }
        (ended, _) => outcome(ended, shot, file)?,
    };
    Some(format!("{}: {text}", sanitize::line(shot)))
}

/// The message for the outcome of a shot; `None` for success. `file` is the workflow.
pub(super) fn outcome(outcome: &Outcome, shot: &str, file: &NamedWorkflow) -> Option<String> {
    let rerun = || format!("`runner run {} --rerun {}`", file.in_full(), shell::quote_rerun(shot));
    Some(match outcome {
        Outcome::Done { .. } => return None,
        Outcome::Failed { failure, .. } => {
            let code = failure.code.as_deref().map(|code| format!(" ({})", sanitize::message(code)));
            let code = code.unwrap_or_default();
            let advice = match failure.kind {
                FailureKind::Expired => "; run again to render it again",
                FailureKind::InputModerated => "; change the prompt or the image",
                FailureKind::OutputModerated
                | FailureKind::RateLimited
                | FailureKind::Quota
                | FailureKind::Unauthorized
                | FailureKind::Invalid
                | FailureKind::Transient
                | FailureKind::Corrupt
                | FailureKind::Local
                | FailureKind::Storage
                | FailureKind::Task
                | FailureKind::Unrecorded => "",
                FailureKind::Abandoned => &format!("; {} renders it again", rerun()),
            };
            format!("failed: {}{code}{advice}", sanitize::message(&failure.message))
        }
        Outcome::Indeterminate { reason, suggested_task, .. } => format!(
            "indeterminate: the service may or may not have accepted it ({}), so it is not submitted again; {}",
            sanitize::message(reason),
            hints::resolve_command(file, &shell::quote(shot), suggested_task.as_ref().map(TaskId::as_str))
        ),
        Outcome::Detached { task, reason } => {
            format!(
                "detached: a later run adopts task {}: {}",
                sanitize::line(task.as_str()),
                sanitize::message(reason)
            )
        }
        Outcome::AtOtherService { task, reason, .. } => {
            let advice = match task {
                Some(_) => "a run that uses that service adopts it".to_owned(),
                None => hints::resolve_command(file, &shell::quote(shot), None),
            };
            format!("at-other-service: {}, so it is not submitted; {advice}", sanitize::message(reason))
        }
        Outcome::Missing { task, reason } => {
            // On a cluster nothing closes a task.
            let close = if file.is_cluster() {
                String::new()
            } else {
                format!("; {}", hints::close_command(file, &shell::quote(shot)))
            };
            format!(
                "missing: task {} is paid for, and {}; later runs ask for it again, and only {} pays for another one{close}",
                sanitize::line(task.as_str()),
                sanitize::message(reason),
                rerun()
            )
        }
        Outcome::Unrecorded { reason } => format!(
            "unrecorded: {}: `runner ledger adopt {1}` records it, and `runner run {1} --force` pays for another one",
            sanitize::message(reason),
            file.in_full()
        ),
        Outcome::Blocked { .. } => "blocked: a shot that it depends on is not done".to_owned(),
        Outcome::Unpicked { picks } => {
            format!("unpicked: {} is not picked yet", sanitize::line(&picks.join(" and ")))
        }
        Outcome::NotStarted => "not started".to_owned(),
        Outcome::NotSelected { task } => {
            format!("not-selected: its task {} stays in flight", sanitize::line(task.as_ref()?.as_str()))
        }
    })
}
