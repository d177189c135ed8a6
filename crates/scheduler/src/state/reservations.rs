//! The budget as the scheduler sees it: held when a request is made ready, settled or let go when its task has ended.

use workflow::plan::NodeIx;

use super::{Phase, RunState};
use crate::budget::Amount;

impl RunState {
    /// Holds what one more task of a node can cost.
    pub(super) fn reserve(&mut self, node: NodeIx) {
        let amount = self.budget.reservation(&self.plan, node).amount();
        if self.nodes[node.index()].reserved.replace(amount).is_none() {
            self.budget.reserved += amount;
            self.queues.reservations += 1;
        }
    }

    /// Lets go of what is held for a node: nothing was accepted.
    pub(super) fn release_reservation(&mut self, node: NodeIx) {
        self.take_reservation(node);
    }

    /// Counts what is held for a node as spent, or what it came to, where that is known. What an earlier run submitted holds nothing here.
    pub(super) fn spend_reservation(&mut self, node: NodeIx, cost: Option<i64>) {
        if let Some(reserved) = self.take_reservation(node) {
            self.budget.spent += Amount { cost: cost.unwrap_or(reserved.cost), ..reserved };
        }
    }

    fn take_reservation(&mut self, node: NodeIx) -> Option<Amount> {
        let state = &mut self.nodes[node.index()];
        let reserved = state.reserved.take()?;
        self.budget.reserved -= reserved;
        if state.phase != Phase::Done {
            self.queues.reservations -= 1;
        }
        Some(reserved)
    }
}
