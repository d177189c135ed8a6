//! The POST left and no usable answer came: the task may exist. It is never repeated on our own account, and it keeps its place among the tasks
//! that are out for as long as it may be.

use std::time::Duration;

use workflow::plan::NodeIx;

use crate::state::{Phase, RunState};
use crate::timestamp::Timestamp;

impl RunState {
    pub(crate) fn indeterminate(&mut self, node: NodeIx, now: Timestamp) {
        if matches!(self.node(node).phase, Phase::Submitting { .. }) {
            self.hold_indeterminate_slot(node, now);
            self.sync_end(node);
        }
    }

    /// A submission from `at` that nobody has accounted for: its task may be out.
    pub(crate) fn hold_indeterminate_slot(&mut self, node: NodeIx, at: Timestamp) {
        self.hold_slot(node, at.after(self.indeterminate_slot_hold(node)));
    }

    /// For how long a submission of `node` that nobody accounts for keeps its place among the tasks that are out: as long as its task may be.
    #[must_use]
    pub fn indeterminate_slot_hold(&self, node: NodeIx) -> Duration {
        self.policy.indeterminate_slot_hold.min(self.task_timeout(node))
    }
}
