//! The intent is recorded, or the request could not be prepared.

use workflow::plan::NodeIx;

use crate::ids::AttemptId;
use crate::state::{Phase, RunState};
use crate::timestamp::Timestamp;
use crate::{Action, Failure, FailureKind, Halt};

impl RunState {
    pub(crate) fn prepared(
        &mut self,
        node: NodeIx,
        attempt: AttemptId,
        by_url: bool,
        actions: &mut Vec<Action>,
    ) {
        if !self.node(node).phase.is_being_prepared() {
            return;
        }
        // A recorded intent fits the budget, also after a budget halt.
        let halted = matches!(
            self.halt_of(node),
            Some(
                Halt::Interrupted
                    | Halt::ServiceUnusable { .. }
                    | Halt::StorageUnusable { .. }
                    | Halt::FailFast { .. }
            )
        );
        // In a replay nothing is reserved yet, because the admission was not repeated.
        self.reserve(node);
        self.node_mut(node).by_url = by_url;
        let (admitted, now) = (self.node(node).sent_at, self.now);
        if let Some(discovery) = &mut self.lane_mut(node).limits.discovery {
            discovery.leaves(admitted, now);
        }
        self.node_mut(node).left_at = now;
        self.set_phase(node, Phase::Submitting { attempt: attempt.clone() });
        actions.push(if halted {
            Action::Discard { node, attempt }
        } else {
            Action::Submit { node, attempt }
        });
    }

    /// Ends the node in every phase in which it waits for a lookup or for its request: nothing else would wake it.
    pub(crate) fn prepare_failed(&mut self, node: NodeIx, failure: &Failure) {
        match self.node(node).phase {
            // Back to ready, where the next run begins; this run submits nothing more.
            Phase::Preparing if failure.kind == FailureKind::Storage => {
                self.release_reservation(node);
                self.set_phase(node, Phase::Ready { not_before: Timestamp(0) });
            }
            Phase::LookingUp | Phase::ClaimedByOtherRun { .. } | Phase::Ready { .. } | Phase::Preparing => {
                self.release_reservation(node);
                self.sync_end(node);
            }
            Phase::Pending
            | Phase::Submitting { .. }
            | Phase::InFlight { .. }
            | Phase::ReadyToDownload(_)
            | Phase::Downloading(_)
            | Phase::Done => {}
        }
    }
}
