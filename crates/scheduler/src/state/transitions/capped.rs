//! The ledger did not take an intent, because with what other runs hold it would cross a cap.

use workflow::plan::NodeIx;

use crate::budget::Cap;
use crate::state::{Halt, Phase, RunState};
use crate::time::Millis;

impl RunState {
    pub(in crate::state) fn capped(&mut self, node: NodeIx, cap: Cap) {
        if !self.is_being_prepared(node) {
            return;
        }
        self.let_go(node);
        // Back among what is ready, for the next run to begin with; this one submits nothing more.
        self.put(node, Phase::Ready { not_before: Millis(0) });
        self.halt.get_or_insert(Halt::Capped { cap });
    }
}
