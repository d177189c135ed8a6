//! A POST was sent without a usable response: the task may exist. It is never repeated automatically, and it holds its slot for as long as
//! the task may be in flight.

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

    /// Holds the slot of an indeterminate submission from `at`.
    pub(crate) fn hold_indeterminate_slot(&mut self, node: NodeIx, time: Timestamp) {
        self.hold_slot(node, time.after(self.indeterminate_slot_hold(node)));
    }

    /// How long an indeterminate submission of `node` holds its slot: as long as its task may be in flight.
    pub fn indeterminate_slot_hold(&self, node: NodeIx) -> Duration {
        self.policy(node).indeterminate_slot_hold.min(self.task_timeout(node))
    }
}
