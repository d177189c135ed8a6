//! The scheduler's view of the budget: reserved when a request is prepared; settled or released when its task has ended.

use workflow::plan::NodeIx;
use workflow::units::Money;

use super::{Phase, RunState};
use crate::budget::Amount;

impl RunState {
    /// Reserves the most that one more task of the node can cost.
    pub(super) fn reserve(&mut self, node: NodeIx) {
        let amount = self.budget.reservation(&self.plan, node).amount();
        if self.nodes[node.index()].reserved.replace(amount).is_none() {
            self.budget.reserved += amount;
            self.queues.reservations += 1;
        }
    }

    /// Releases the node's reservation: nothing was accepted.
    pub(super) fn release_reservation(&mut self, node: NodeIx) {
        self.take_reservation(node);
    }

    /// Settles the node's reservation at the actual cost, or in full if that is unknown. A task that an earlier run submitted has no
    /// reservation here.
    pub(super) fn spend_reservation(&mut self, node: NodeIx, cost: Option<Money>) {
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
