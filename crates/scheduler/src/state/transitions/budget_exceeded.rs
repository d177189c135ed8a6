//! The ledger did not take an intent, because with what other runs hold it would cross a cap.

use workflow::plan::NodeIx;

use crate::Halt;
use crate::budget::BudgetLimit;
use crate::state::{Phase, RunState};
use crate::timestamp::Timestamp;

impl RunState {
    pub(crate) fn budget_exceeded(&mut self, node: NodeIx, limit: BudgetLimit) {
        if !self.is_being_prepared(node) {
            return;
        }
        self.release_reservation(node);
        // Back among what is ready, for the next run to begin with; this one submits nothing more.
        self.set_phase(node, Phase::Ready { not_before: Timestamp(0) });
        self.halt.get_or_insert(Halt::BudgetExceeded { limit });
    }
}
