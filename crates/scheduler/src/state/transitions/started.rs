//! The run begins, or a node has ended: looks up the nodes that are no longer blocked.

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

    /// Looks up a waiting node whose dependencies are all done. One that waits for a pick ends here: a later run, with the pick, begins it.
    pub(crate) fn lookup_if_unblocked(&mut self, node: NodeIx, now: Timestamp, actions: &mut Vec<Action>) {
        // Existing work costs nothing, so a halted run still looks it up.
        let may_look_up =
            !matches!(self.halt_of(node), Some(Halt::Interrupted | Halt::ServiceUnusable { .. }));
        if self.node(node).phase != Phase::Pending || !may_look_up {
            return;
        }
        let is_done =
            |predecessor: &NodeIx| matches!(self.node(*predecessor).outcome(), Some(Outcome::Done { .. }));
        if !self.plan.predecessors(node).iter().all(is_done) {
            return;
        }
        let picks: Vec<String> = self.plan.unpicked(node).map(|open| open.name.into_owned()).collect();
        if !picks.is_empty() {
            self.end(node, Outcome::Unpicked { picks });
        } else if let Some(key) = self.assign_key(node) {
            self.set_phase(node, Phase::LookingUp);
            actions.push(Action::Lookup { node, key, not_before: now });
        }
    }

    /// Looks up the nodes that waited for `node`.
    pub(crate) fn lookup_successors(&mut self, node: NodeIx, now: Timestamp, actions: &mut Vec<Action>) {
        for next in self.plan.successors(node) {
            self.lookup_if_unblocked(next, now, actions);
        }
    }
}
