//! The run begins, or a node has ended: whatever has become possible is looked up.

use workflow::plan::NodeIx;

use crate::state::{Phase, RunState};
use crate::timestamp::Timestamp;
use crate::{Action, Halt, Outcome};

impl RunState {
    pub(crate) fn started(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        let all: Vec<NodeIx> = self.plan.nodes().map(|(node, _)| node).collect();
        for node in all {
            self.lookup_if_unblocked(node, now, actions);
        }
    }

    /// Asks the ledger about a waiting node whose predecessors are all done. One that waits for somebody to pick a take ends here: a later
    /// run, which knows the pick, begins it.
    pub(crate) fn lookup_if_unblocked(&mut self, node: NodeIx, now: Timestamp, actions: &mut Vec<Action>) {
        // What is made already costs nothing, so a run that submits nothing more still looks for it.
        let goes_on = matches!(self.halt, None | Some(Halt::BudgetExceeded { .. } | Halt::FailFast { .. }));
        if self.node(node).phase != Phase::Waiting || !goes_on {
            return;
        }
        let is_done = |before: &NodeIx| matches!(self.node(*before).outcome(), Some(Outcome::Done { .. }));
        if !self.plan.predecessors(node).iter().all(is_done) {
            return;
        }
        let takes: Vec<String> =
            self.plan.unpicked(node).map(|takes| self.plan.takes_name(takes).to_owned()).collect();
        if !takes.is_empty() {
            self.end(node, Outcome::Unpicked { takes });
        } else if let Some(key) = self.key(node) {
            self.node_mut(node).key = Some(key);
            self.set_phase(node, Phase::LookingUp);
            actions.push(Action::Lookup { node, key, not_before: now });
        }
    }

    /// Looks up what waited for `node`.
    pub(crate) fn lookup_successors(&mut self, node: NodeIx, now: Timestamp, actions: &mut Vec<Action>) {
        for next in self.plan.successors(node) {
            self.lookup_if_unblocked(next, now, actions);
        }
    }
}
