//! The ledger can no longer be written, because its disk is full or gone: nothing more is submitted, and what is known is not lost.
//!
//! Every POST that is out has its intent on record. Its answer is waited for, recorded if that works by then, and told otherwise.

use std::collections::HashSet;
use std::time::Duration;

use scheduler::{AttemptId, Event, Phase, RunState};
use tokio::sync::mpsc;

use super::{RunError, Unrecorded};
use crate::ledger::{Kept, Lease, Ledger, LedgerError};
use crate::time::Clock;

/// Longer than any submission may take.
const PATIENCE: Duration = Duration::from_secs(150);

/// Whether an event says what became of a submission.
pub(super) fn is_needed(event: &Event) -> bool {
    matches!(event, Event::Submitted { .. } | Event::Refused { .. } | Event::Lost { .. })
}

/// Waits for the answers to all POSTs that are out, tries once more to record what is `known`, and says what could not be recorded.
pub(super) async fn drain(
    source: LedgerError,
    mut known: Vec<Event>,
    state: &RunState,
    ledger: &Ledger,
    lease: &Lease,
    clock: &Clock,
    receiver: &mut mpsc::UnboundedReceiver<Event>,
) -> RunError {
    let submitting = state.nodes().iter().filter_map(|node| match &node.phase {
        Phase::Submitting { attempt } => Some(attempt.clone()),
        _ => None,
    });
    let mut out: HashSet<AttemptId> = submitting.collect();
    for event in &known {
        out.retain(|attempt| Some(attempt) != about(event));
    }
    let end = clock.now().after(PATIENCE);
    while !out.is_empty() {
        tokio::select! {
            event = receiver.recv() => {
                let Some(event) = event else { break };
                if is_needed(&event) {
                    out.retain(|attempt| Some(attempt) != about(&event));
                    known.push(event);
                }
            }
            () = clock.sleep_until(end) => break,
        }
    }
    let again = known.iter().cloned().map(|event| (event, Kept::Yes)).collect();
    if ledger.append(lease, state.plan(), clock.now(), again).is_ok() {
        known.clear();
    }
    let unrecorded = known.into_iter().filter_map(|event| match event {
        Event::Submitted { node, attempt, task } => {
            Some(Unrecorded { node: state.plan().node(node).name.clone(), attempt, task })
        }
        _ => None,
    });
    RunError::Broken { source, unrecorded: unrecorded.collect() }
}

fn about(event: &Event) -> Option<&AttemptId> {
    match event {
        Event::Submitted { attempt, .. } | Event::Refused { attempt, .. } | Event::Lost { attempt, .. } => {
            Some(attempt)
        }
        _ => None,
    }
}

/// What to do about accepted tasks that are not on record, for people.
pub(super) fn told(unrecorded: &[Unrecorded]) -> String {
    let one = |Unrecorded { node, attempt, task }: &Unrecorded| {
        format!(
            "\n  {node} was accepted as task {task}, which could not be recorded: \
             once the ledger can be written, say `runner resolve FILE {attempt} --adopt {task}`"
        )
    };
    unrecorded.iter().map(one).collect::<Vec<_>>().concat()
}
