//! Shutdown after a failed ledger write (disk full or gone): submission stops, and accepted tasks are recorded or reported.
//!
//! The intent of every POST in progress is recorded. Its response is awaited, then recorded if the ledger can be written again, and
//! otherwise reported to the user.

use std::collections::HashSet;
use std::time::Duration;

use tokio::sync::mpsc;

use super::effects::EffectResult;
use super::{RunError, Unrecorded};
use crate::ledger::{Ledger, LedgerError, Persist, RunLock};
use crate::time::Clock;
use scheduler::{AttemptId, Event, Outcome, Phase, RunState, TaskId};

/// Longer than any submission's time-out.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(150);

/// Whether an event is the result of a submission.
pub(super) fn resolves_submission(event: &Event) -> bool {
    matches!(
        event,
        Event::Submitted { .. }
            | Event::Refused { .. }
            | Event::Indeterminate { .. }
            | Event::Reconciled { .. }
    )
}

/// The run that is shut down.
pub(super) struct Drain<'a> {
    /// [`super::RunConfig::workflow_file`].
    pub(super) file: &'a str,
    pub(super) state: &'a RunState,
    pub(super) ledger: &'a Ledger,
    pub(super) run_lock: &'a RunLock,
    pub(super) clock: &'a Clock,
}

/// Waits for the responses to all POSTs in progress, tries once more to append `unsaved`, and returns the tasks that could not be recorded.
pub(super) async fn drain(
    run: Drain<'_>,
    source: LedgerError,
    mut unsaved: Vec<Event>,
    receiver: &mut mpsc::UnboundedReceiver<EffectResult>,
) -> RunError {
    let Drain { file, state, ledger, run_lock, clock } = run;
    let submitting = state.nodes().iter().filter_map(|node| match &node.phase {
        Phase::Submitting { attempt } => Some(attempt.clone()),
        _ => None,
    });
    let mut in_flight: HashSet<AttemptId> = submitting.collect();
    for event in &unsaved {
        in_flight.retain(|attempt| Some(attempt) != attempt_of(event));
    }
    let deadline = clock.now().after(DRAIN_TIMEOUT);
    while !in_flight.is_empty() {
        tokio::select! {
            event = receiver.recv() => {
                let Some(event) = event else { break };
                // The ledger's first error ends the run; others add nothing.
                let Ok(event) = event else { continue };
                if resolves_submission(&event) {
                    in_flight.retain(|attempt| Some(attempt) != attempt_of(&event));
                    unsaved.push(event);
                }
            }
            () = clock.sleep_until(deadline) => break,
        }
    }
    let batch = unsaved.iter().cloned().map(|event| (event, Persist::Yes)).collect();
    let is_stored = ledger.append(run_lock, state.plan(), clock.now(), batch).is_ok();
    let source = Box::new(source);
    if matches!(*source, LedgerError::Replaced { .. }) {
        return RunError::LedgerLost {
            source,
            tasks: tasks_without_video(state, &unsaved),
            file: file.to_owned(),
        };
    }
    if is_stored {
        unsaved.clear();
    }
    let unrecorded = unsaved.into_iter().filter_map(|event| match event {
        Event::Submitted { node, attempt, task } => {
            Some(Unrecorded { node: state.plan().node(node).name.clone(), attempt, task })
        }
        _ => None,
    });
    RunError::LedgerWrite { source, unrecorded: unrecorded.collect(), file: file.to_owned() }
}

/// Every task of the run that has no video yet: the ledger may have lost them all.
fn tasks_without_video(state: &RunState, unsaved: &[Event]) -> Vec<(String, TaskId)> {
    let name = |node| state.plan().node(node).name.clone();
    let known = state.plan().nodes().filter_map(|(node, _)| {
        let has_video = matches!(state.node(node).outcome(), Some(Outcome::Done { .. }));
        let task = state.node(node).task().filter(|_| !has_video)?;
        Some((name(node), task.clone()))
    });
    let accepted = unsaved.iter().filter_map(|event| match event {
        Event::Submitted { node, task, .. } | Event::Reconciled { node, task: Some(task), .. } => {
            Some((name(*node), task.clone()))
        }
        _ => None,
    });
    known.chain(accepted).collect()
}

/// The tasks of a run whose ledger is lost, for the error message.
pub(super) fn adopt_command(tasks: &[(String, TaskId)], file: &str) -> String {
    if tasks.is_empty() {
        return String::new();
    }
    let list: Vec<String> = tasks.iter().map(|(node, task)| format!(" --task {node}={task}")).collect();
    let subject =
        if tasks.len() == 1 { "1 task is".to_owned() } else { format!("{} tasks are", tasks.len()) };
    format!(
        "\n  {subject} in flight or not downloaded: put the ledger back, or record them in a new one: runner ledger adopt {file}{}",
        list.concat()
    )
}

fn attempt_of(event: &Event) -> Option<&AttemptId> {
    match event {
        Event::Submitted { attempt, .. }
        | Event::Refused { attempt, .. }
        | Event::Indeterminate { attempt, .. }
        | Event::Reconciled { attempt, .. } => Some(attempt),
        _ => None,
    }
}

/// The commands that adopt unrecorded tasks, for the error message.
pub(super) fn adopt_hints(unrecorded: &[Unrecorded], file: &str) -> String {
    let hint = |Unrecorded { node, attempt, task }: &Unrecorded| {
        format!(
            "\n  {node} was accepted as task {task}, which could not be recorded: \
             once the ledger can be written, run `runner resolve {file} {attempt} --adopt {task}`"
        )
    };
    unrecorded.iter().map(hint).collect::<Vec<_>>().concat()
}
