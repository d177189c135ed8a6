//! The POST left and no usable answer came: the task may exist. It is never repeated on our own account.

use workflow::plan::NodeIx;

use crate::ids::AttemptId;
use crate::state::{Outcome, Phase, RunState};

impl RunState {
    pub(in crate::state) fn lost(&mut self, node: NodeIx, attempt: AttemptId, reason: String) {
        if matches!(self.node(node).phase, Phase::Submitting { .. }) {
            self.end(node, Outcome::Ambiguous { attempt, reason });
        }
    }
}
