//! Shutdown after a failed ledger write (disk full or gone): submission stops, and accepted tasks are recorded or reported.
//!
//! The intent of every POST in progress is recorded. Its response is awaited, then recorded if the ledger can be written again, and
//! otherwise reported to the user.

use std::collections::HashSet;
use std::time::Duration;

use tokio::sync::mpsc;

use super::effect_runner::EffectResult;
use super::run_error::{RunError, UnrecordedTask};
use crate::ledger::{Ledger, LedgerError, Persist, RunLock};
use crate::time::Clock;
use scheduler::{AttemptId, Event, Outcome, Phase, RunState, TaskId};

/// Longer than any submission's timeout.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(150);

/// The attempt whose submission has this result; `None` for every other event.
pub(super) fn submission_result(event: &Event) -> Option<&AttemptId> {
    match event {
        Event::Submitted { attempt, .. }
        | Event::Refused { attempt, .. }
        | Event::Indeterminate { attempt, .. }
        | Event::Reconciled { attempt, .. } => Some(attempt),
        Event::RunConfigured { .. }
        | Event::Started
        | Event::LookupDone { .. }
        | Event::Prepared { .. }
        | Event::BudgetExceeded { .. }
        | Event::ClaimConflict { .. }
        | Event::PrepareFailed { .. }
        | Event::Polled { .. }
        | Event::Downloaded { .. }
        | Event::DownloadFailed { .. }
        | Event::FilmJoined { .. }
        | Event::JoinFailed { .. }
        | Event::TaskExpired { .. }
        | Event::Resolved { .. }
        | Event::RendersAsked { .. }
        | Event::RendersWithdrawn { .. }
        | Event::TimerFired
        | Event::Interrupted => None,
    }
}

/// Waits for the responses to all POSTs in progress, tries once more to append `unsaved`, and returns the tasks that could not be recorded.
pub(super) async fn drain(
    source: LedgerError,
    mut unsaved: Vec<Event>,
    state: &RunState,
    ledger: &Ledger,
    run_lock: &RunLock,
    clock: &Clock,
    receiver: &mut mpsc::UnboundedReceiver<EffectResult>,
) -> RunError {
    let submitting = state.nodes().iter().filter_map(|node| {
        if let Phase::Submitting { attempt } = &node.phase { Some(attempt.clone()) } else { None }
    });
    let mut in_flight: HashSet<AttemptId> = submitting.collect();
    for event in &unsaved {
        in_flight.retain(|attempt| Some(attempt) != submission_result(event));
    }
    let deadline = clock.now().after(DRAIN_TIMEOUT);
    while !in_flight.is_empty() {
        tokio::select! {
            event = receiver.recv() => {
                let Some(event) = event else { break };
                // The ledger's first error ends the run; others add nothing.
                let Ok(event) = event else { continue };
                if let Some(resolved) = submission_result(&event) {
                    in_flight.retain(|attempt| attempt != resolved);
                    unsaved.push(event);
                }
            }
            () = clock.sleep_until(deadline) => break,
        }
    }
    let batch = unsaved.iter().cloned().map(|event| (event, Persist::Yes)).collect();
    let is_stored = ledger.append(run_lock, state.plan(), clock.now(), batch).is_ok();
    if source.is_ledger_gone() {
        return ledger_replaced(source, state, &unsaved, &in_flight);
    }
    if is_stored {
        unsaved.clear();
    }
    let unrecorded = unsaved.into_iter().filter_map(|event| match event {
        Event::Submitted { node, attempt, task } => {
            let node = state.plan().node(node).name.clone();
            Some(UnrecordedTask { node, attempt, task, is_accepted: true })
        }
        Event::Indeterminate { node, attempt, suggested_task: Some(task), .. } => {
            let node = state.plan().node(node).name.clone();
            Some(UnrecordedTask { node, attempt, task, is_accepted: false })
        }
        _ => None,
    });
    RunError::LedgerWrite { source, unrecorded: unrecorded.collect() }
}

/// What a run without its ledger has in flight, or may have. `pending`: submissions whose response was not waited for any longer.
pub(super) fn ledger_replaced(
    source: LedgerError,
    state: &RunState,
    unsaved: &[Event],
    pending: &HashSet<AttemptId>,
) -> RunError {
    let tasks = tasks_without_video(state, unsaved);
    let indeterminate = indeterminate_shots(state, unsaved, pending);
    RunError::LedgerReplaced { source, tasks, indeterminate }
}

/// Every shot of the run whose submission may have been accepted, with the id of a task that the response named.
fn indeterminate_shots(
    state: &RunState,
    unsaved: &[Event],
    pending: &HashSet<AttemptId>,
) -> Box<[(String, Option<TaskId>)]> {
    let name = |node| state.plan().node(node).name.clone();
    let from_state = state.plan().nodes().filter_map(|(node, _)| match state.node(node).outcome() {
        Some(Outcome::Indeterminate { suggested_task, .. }) => Some((name(node), suggested_task.clone())),
        _ => match &state.node(node).phase {
            Phase::Submitting { attempt } if pending.contains(attempt) => Some((name(node), None)),
            _ => None,
        },
    });
    let from_events = unsaved.iter().filter_map(|event| match event {
        Event::Indeterminate { node, suggested_task, .. } => Some((name(*node), suggested_task.clone())),
        // The service was asked which tasks the submission may have led to; the ledger was to choose among them.
        Event::Reconciled { node, task: None, candidates, .. } => {
            Some((name(*node), candidates.first().cloned())).filter(|(_, task)| task.is_some())
        }
        _ => None,
    });
    from_state.chain(from_events).collect()
}

/// Every task of the run that has no video yet: the ledger may have lost them all.
fn tasks_without_video(state: &RunState, unsaved: &[Event]) -> Box<[(String, TaskId)]> {
    let name = |node| state.plan().node(node).name.clone();
    let from_state = state.plan().nodes().filter_map(|(node, _)| {
        let has_video = matches!(state.node(node).outcome(), Some(Outcome::Done { .. }));
        let task = state.node(node).task().filter(|_| !has_video)?;
        Some((name(node), task.clone()))
    });
    let from_events = unsaved.iter().filter_map(|event| match event {
        Event::Submitted { node, task, .. } | Event::Reconciled { node, task: Some(task), .. } => {
            Some((name(*node), task.clone()))
        }
        _ => None,
    });
    from_state.chain(from_events).collect()
}
