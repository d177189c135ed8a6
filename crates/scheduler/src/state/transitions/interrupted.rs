//! The user asks the run to end. Nothing more is submitted; what is out is kept for the next run; what is finished is fetched within a grace.

use workflow::plan::NodeIx;

use crate::state::{Action, Halt, Outcome, Phase, RunState};
use crate::time::Millis;

const REASON: &str = "the run was interrupted";

impl RunState {
    pub(in crate::state) fn interrupted(&mut self, now: Millis, actions: &mut Vec<Action>) {
        self.halt = Some(Halt::Interrupted);
        self.end_what_has_not_begun();
        // A POST on its way is waited for as well: its answer holds the id of something paid for.
        let out: Vec<NodeIx> = self
            .plan
            .nodes()
            .filter(|(node, _)| matches!(self.node(*node).phase, Phase::Out { .. }))
            .map(|(node, _)| node)
            .collect();
        for node in out {
            self.let_go_of_task(node);
        }
        let until = now.after(self.policy.grace);
        self.grace_until = Some(until);
        if self.is_fetching() {
            actions.push(Action::Wake { at: until });
        }
    }

    /// A time has come: downloads of an interrupted run are not waited for any longer.
    pub(in crate::state) fn woke(&mut self, now: Millis) {
        while self.wakes.first().is_some_and(|at| *at <= now) {
            self.wakes.pop_first();
        }
        if !self.ends_grace(now) {
            return;
        }
        let fetching: Vec<NodeIx> = self
            .plan
            .nodes()
            .filter(|(node, _)| matches!(self.node(*node).phase, Phase::Finished(_) | Phase::Downloading(_)))
            .map(|(node, _)| node)
            .collect();
        for node in fetching {
            self.let_go_of_task(node);
        }
    }

    /// Whether a tick of the clock at `now` ends the grace of an interrupted run.
    pub(in crate::state) fn ends_grace(&self, now: Millis) -> bool {
        self.grace_until.is_some_and(|until| now >= until) && self.is_fetching()
    }

    fn is_fetching(&self) -> bool {
        self.standing.downloading > 0 || !self.standing.finished.is_empty()
    }

    fn let_go_of_task(&mut self, node: NodeIx) {
        if let Some(task) = self.node(node).task().cloned() {
            self.end(node, Outcome::Detached { task, reason: REASON.to_owned() });
        }
    }
}
