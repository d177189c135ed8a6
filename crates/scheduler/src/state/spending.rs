//! The budget as the scheduler sees it: held when a request is made ready, settled or let go when its task has ended.

use workflow::plan::NodeIx;

use super::{Phase, RunState};
use crate::budget::Amount;

impl RunState {
    /// Holds what one more task of a node can cost.
    pub(super) fn hold(&mut self, node: NodeIx) {
        let amount = self.budget.hold(&self.plan, node).amount();
        if self.nodes[node.index()].held.replace(amount).is_none() {
            self.budget.held += amount;
            self.standing.may_settle += 1;
        }
    }

    /// Lets go of what is held for a node: nothing was accepted.
    pub(super) fn let_go(&mut self, node: NodeIx) {
        self.stop_holding(node);
    }

    /// Counts what is held for a node as spent, or what it came to, where that is known. What an earlier run submitted holds nothing here.
    pub(super) fn settle(&mut self, node: NodeIx, cost: Option<i64>) {
        if let Some(held) = self.stop_holding(node) {
            self.budget.spent += Amount { cost: cost.unwrap_or(held.cost), ..held };
        }
    }

    fn stop_holding(&mut self, node: NodeIx) -> Option<Amount> {
        let state = &mut self.nodes[node.index()];
        let held = state.held.take()?;
        self.budget.held -= held;
        if !matches!(state.phase, Phase::Over(_)) {
            self.standing.may_settle -= 1;
        }
        Some(held)
    }
}
