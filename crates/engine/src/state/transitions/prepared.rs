//! The intent is on disk, or the request could not be made ready.

use workflow::plan::NodeIx;

use crate::ids::AttemptId;
use crate::state::{Action, Failure, Outcome, Phase, RunState};

impl RunState {
    pub(in crate::state) fn prepared(
        &mut self,
        node: NodeIx,
        attempt: AttemptId,
        by_url: bool,
        actions: &mut Vec<Action>,
    ) {
        if !self.is_being_prepared(node) {
            return;
        }
        let halted = self.halt.is_some();
        let state = self.node_mut(node);
        state.by_url = by_url;
        state.phase = Phase::Submitting { attempt: attempt.clone() };
        actions.push(if halted {
            Action::Discard { node, attempt }
        } else {
            Action::Submit { node, attempt }
        });
    }

    /// A replay skips the polls and ticks that let a waiting node go ahead: its intent shows that it did.
    fn is_being_prepared(&self, node: NodeIx) -> bool {
        matches!(self.node(node).phase, Phase::Preparing | Phase::Ready { .. })
    }

    pub(in crate::state) fn unprepared(&mut self, node: NodeIx, failure: Failure) {
        if self.is_being_prepared(node) {
            self.node_mut(node).end(Outcome::Failed { failure, task: None });
        }
    }
}
