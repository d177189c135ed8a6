//! The ledger rejected an intent, because with the reservations of other runs it would exceed a budget cap.

use workflow::plan::NodeIx;

use crate::Halt;
use crate::budget::BudgetCap;
use crate::state::{Phase, RunState};
use crate::timestamp::Timestamp;

impl RunState {
    pub(crate) fn budget_exceeded(&mut self, node: NodeIx, cap: BudgetCap) {
        if !self.is_being_prepared(node) {
            return;
        }
        self.release_reservation(node);
        // Back to ready, where the next run begins.
        self.set_phase(node, Phase::Ready { not_before: Timestamp(0) });
        // As in admission: tasks in flight may cost less than is reserved for them; without any, the cap is reached.
        if self.queues.may_free_budget() {
            self.queues.is_over_cap = true;
        } else {
            self.halt.get_or_insert(Halt::BudgetExceeded { cap });
        }
    }
}
