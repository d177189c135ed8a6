//! The POST left and no usable answer came: the task may exist. It is never repeated on our own account, and it keeps its place among the tasks
//! that are out for as long as it may be.

use std::time::Duration;

use workflow::plan::NodeIx;

use crate::ids::AttemptId;
use crate::state::{Outcome, Phase, RunState};
use crate::time::Millis;

impl RunState {
    pub(in crate::state) fn lost(&mut self, node: NodeIx, attempt: AttemptId, reason: String, now: Millis) {
        if matches!(self.node(node).phase, Phase::Submitting { .. }) {
            self.keep_place_of_unaccounted(node, now);
            self.end(node, Outcome::Ambiguous { attempt, reason });
        }
    }

    /// A submission from `at` that nobody has accounted for: its task may be out.
    pub(in crate::state) fn keep_place_of_unaccounted(&mut self, node: NodeIx, at: Millis) {
        self.keep_place(node, at.after(self.keeps_place_for(node)));
    }

    /// For how long a submission of `node` that nobody accounts for keeps its place among the tasks that are out: as long as its task may be.
    #[must_use]
    pub fn keeps_place_for(&self, node: NodeIx) -> Duration {
        self.policy.unaccounted.min(self.allowed(node))
    }
}
