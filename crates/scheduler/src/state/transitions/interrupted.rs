//! An interrupt: nothing more is submitted, tasks in flight are detached, and downloads continue for a grace period.

use workflow::plan::NodeIx;

use crate::state::{Phase, RunState};
use crate::timestamp::Timestamp;
use crate::{Action, Halt};

impl RunState {
    pub(crate) fn interrupted(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        self.halt = Some(Halt::Interrupted);
        self.cancel_pending(|_, _| true);
        // A POST in progress is awaited as well: its response has the id of a paid task.
        let in_flight: Vec<NodeIx> = self
            .plan
            .nodes()
            .filter(|(node, _)| matches!(self.node(*node).phase, Phase::InFlight { .. }))
            .map(|(node, _)| node)
            .collect();
        for node in in_flight {
            self.detach_task(node);
        }
        let graces = self.lanes.iter().map(|lane| lane.policy.shutdown_grace);
        let until = now.after(graces.max().unwrap_or_default());
        self.grace_until = Some(until);
        if self.is_fetching() {
            actions.push(Action::Wake { deadline: until });
        }
    }

    /// A timer has fired: the grace period of an interrupted run may have ended.
    pub(crate) fn timer_fired(&mut self, now: Timestamp) {
        while self.wakes.first().is_some_and(|deadline| *deadline <= now) {
            self.wakes.pop_first();
        }
        if !self.ends_grace(now) {
            return;
        }
        let fetching: Vec<NodeIx> = self
            .plan
            .nodes()
            .filter(|(node, _)| {
                matches!(self.node(*node).phase, Phase::ReadyToDownload(_) | Phase::Downloading(_))
            })
            .map(|(node, _)| node)
            .collect();
        for node in fetching {
            self.detach_task(node);
        }
    }

    /// Whether a timer at `now` ends the grace period of an interrupted run.
    pub(crate) fn ends_grace(&self, now: Timestamp) -> bool {
        self.grace_until.is_some_and(|until| now >= until) && self.is_fetching()
    }

    fn is_fetching(&self) -> bool {
        self.lanes.iter().any(|lane| lane.queues.downloading > 0 || !lane.queues.downloads.is_empty())
    }

    fn detach_task(&mut self, node: NodeIx) {
        let now = self.now;
        self.node_mut(node).shot.detach_interrupted(now);
        self.sync_end(node);
    }
}
