//! The run begins, or a node has ended: whatever has become possible is looked up.

use workflow::plan::NodeIx;

use crate::state::{Action, Decision, Halt, Outcome, Phase, RunState};
use crate::time::Millis;

impl RunState {
    pub(in crate::state) fn started(&mut self, now: Millis, actions: &mut Vec<Action>) {
        let all: Vec<NodeIx> = self.plan.nodes().map(|(node, _)| node).collect();
        for node in all {
            self.look_if_possible(node, now, actions);
        }
    }

    /// Asks the ledger about a waiting node whose predecessors are all done. One that waits for somebody to pick a take ends here: a later
    /// run, which knows the pick, begins it.
    pub(in crate::state) fn look_if_possible(
        &mut self,
        node: NodeIx,
        now: Millis,
        actions: &mut Vec<Action>,
    ) {
        // What is made already costs nothing, so a run that submits nothing more still looks for it.
        let goes_on = matches!(self.halt, None | Some(Halt::Capped { .. } | Halt::FailFast { .. }));
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
            self.node_mut(node).decision = Some(Decision::Deferred);
            self.end(node, Outcome::Unpicked { takes });
        } else if let Some(key) = self.key(node) {
            self.node_mut(node).key = Some(key);
            self.put(node, Phase::Looking);
            actions.push(Action::Look { node, key, at: now });
        }
    }

    /// Looks up what waited for `node`.
    pub(in crate::state) fn look_after(&mut self, node: NodeIx, now: Millis, actions: &mut Vec<Action>) {
        for next in self.plan.successors(node) {
            self.look_if_possible(next, now, actions);
        }
    }
}
