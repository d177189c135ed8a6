//! The ledger rejected an intent, because with the reservations of other runs it would exceed a budget cap.

use workflow::plan::NodeIx;

use crate::Halt;
use crate::budget::BudgetCap;
use crate::state::{Phase, RunState};
use crate::timestamp::Timestamp;

impl RunState {
    pub(crate) fn budget_exceeded(&mut self, node: NodeIx, cap: BudgetCap) {
        if !self.node(node).phase.is_being_prepared() {
            return;
        }
        self.release_reservation(node);
        // Back to ready, where the next run begins; this run submits nothing more.
        self.set_phase(node, Phase::Ready { not_before: Timestamp(0) });
        self.halt.get_or_insert(Halt::BudgetExceeded { cap });
    }
}
