//! The ledger has said what it knows about a node's key, when asked or when an intent was refused for another's sake.

use std::time::Duration;

use workflow::plan::NodeIx;

use crate::state::{Phase, RunState};
use crate::timestamp::Timestamp;
use crate::{Action, Decision, ExistingWork, Failure, FailureKind, Outcome};

/// How long to wait before asking again about a node that another live run is submitting.
const CLAIM_LOOKUP_INTERVAL: Duration = Duration::from_millis(500);

impl RunState {
    pub(crate) fn lookup_done(
        &mut self,
        node: NodeIx,
        existing: ExistingWork,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        match self.node(node).phase {
            Phase::LookingUp | Phase::ClaimedByOtherRun | Phase::Preparing => {}
            Phase::Waiting
            | Phase::Ready { .. }
            | Phase::Submitting { .. }
            | Phase::InFlight { .. }
            | Phase::ReadyToDownload(_)
            | Phase::Downloading(_)
            | Phase::Done(_) => return,
        }
        if !self.is_selected(node) && !matches!(existing, ExistingWork::Completed { .. }) {
            // It is not asked about, and takes a place nevertheless.
            if let ExistingWork::InFlight { since: at, was_downloaded: false, .. }
            | ExistingWork::Indeterminate { intended_at: at, .. } = existing
            {
                self.hold_indeterminate_slot(node, at);
            }
            self.end(node, Outcome::NotSelected { task: existing.task().cloned() });
            return;
        }
        match existing {
            ExistingWork::None => {
                self.release_reservation(node);
                self.node_mut(node).decision = Some(Decision::Execute);
                self.set_phase(node, Phase::Ready { not_before: now });
            }
            ExistingWork::Completed { attempt: _, task, artifact } => {
                self.release_reservation(node);
                self.node_mut(node).decision = Some(Decision::Reuse);
                self.end(node, Outcome::Done { artifact, task });
                self.look_up_successors(node, now, actions);
            }
            ExistingWork::InFlight { attempt, task, since, was_downloaded } => {
                self.release_reservation(node);
                let state = self.node_mut(node);
                state.decision = Some(Decision::Adopt);
                state.submitted_at = Some(since);
                state.was_downloaded = was_downloaded;
                self.set_phase(node, Phase::InFlight { attempt, task, since });
                self.schedule_adopted_poll(node, since, now);
            }
            ExistingWork::Indeterminate { attempt, intended_at } => {
                self.release_reservation(node);
                self.hold_indeterminate_slot(node, intended_at);
                self.node_mut(node).decision = Some(Decision::Blocked);
                let reason = "an earlier run was cut off while it was submitting this shot".to_owned();
                self.end(node, Outcome::Indeterminate { attempt, reason });
            }
            ExistingWork::Abandoned { attempt } => {
                self.release_reservation(node);
                self.node_mut(node).decision = Some(Decision::Blocked);
                let said = format!("its submission {attempt} was given up, and it is not repeated unasked");
                let failure = Failure::new(FailureKind::Abandoned, said);
                self.end(node, Outcome::Failed { failure, task: None });
            }
            ExistingWork::OtherService { service, attempt, task } => {
                self.release_reservation(node);
                self.node_mut(node).decision = Some(Decision::Blocked);
                let outcome = match task {
                    Some(task) => Outcome::Detached {
                        task,
                        reason: format!("it is out at {service}, and this run talks to another service"),
                    },
                    None => Outcome::Indeterminate {
                        attempt,
                        reason: format!(
                            "it was submitted to {service}, whose answer was lost, and this run talks to another service"
                        ),
                    },
                };
                self.end(node, outcome);
            }
            ExistingWork::ClaimedByRun { run } => {
                let Some(key) = self.key(node) else { return };
                self.release_reservation(node);
                self.set_phase(node, Phase::ClaimedByOtherRun);
                self.node_mut(node).last_error =
                    Some(format!("run {run} is submitting this very shot; waiting for its task"));
                actions.push(Action::LookUp { node, key, not_before: now.after(CLAIM_LOOKUP_INTERVAL) });
            }
        }
    }
}
