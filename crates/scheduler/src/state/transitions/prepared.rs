//! The intent is on disk, or the request could not be made ready.

use workflow::plan::NodeIx;

use crate::ids::AttemptId;
use crate::state::{Action, Failure, Halt, Outcome, Phase, RunState};

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
        // Under a cap, what has its intent on disk was found to fit.
        let halted =
            matches!(self.halt, Some(Halt::Interrupted | Halt::Unusable { .. } | Halt::FailFast { .. }));
        // A replay comes here without the admission that held it.
        self.hold(node);
        self.node_mut(node).by_url = by_url;
        self.put(node, Phase::Submitting { attempt: attempt.clone() });
        actions.push(if halted {
            Action::Discard { node, attempt }
        } else {
            Action::Submit { node, attempt }
        });
    }

    /// A replay skips the polls and ticks that let a waiting node go ahead: its intent shows that it did.
    pub(in crate::state) fn is_being_prepared(&self, node: NodeIx) -> bool {
        matches!(self.node(node).phase, Phase::Preparing | Phase::Ready { .. })
    }

    pub(in crate::state) fn unprepared(&mut self, node: NodeIx, failure: Failure) {
        if self.is_being_prepared(node) {
            self.let_go(node);
            self.end(node, Outcome::Failed { failure, task: None });
        }
    }
}
