//! When to ask about a task.

use workflow::plan::NodeIx;

use super::{Outcome, Phase, RunState};
use crate::time::Millis;

impl RunState {
    /// A task that was just accepted.
    pub(super) fn ask_first(&mut self, node: NodeIx, now: Millis) {
        self.set_poll(node, now.after(self.policy.poll_min));
    }

    /// A task that an earlier run submitted at `since`.
    pub(super) fn ask_adopted(&mut self, node: NodeIx, _since: Millis, now: Millis) {
        self.set_poll(node, now);
    }

    /// A task that is not finished: asks again, not before `not_before`, or lets go of what has been out for longer than its shot allows. It is
    /// kept for a later run.
    pub(super) fn ask_again(&mut self, node: NodeIx, since: Millis, now: Millis, not_before: Millis) {
        let Phase::Out { task, .. } = &self.node(node).phase else { return };
        let allowed = self.allowed(node);
        let elapsed = now.since(since);
        if elapsed >= allowed {
            let reason = format!("it is not finished after {} s", elapsed.as_secs());
            let task = task.clone();
            self.end(node, Outcome::Detached { task, reason });
            return;
        }
        let wait = self.policy.poll_after(elapsed, self.node(node).progress);
        // The last question is asked when the time is up.
        let wait = wait.min(allowed.saturating_sub(elapsed)).max(self.policy.poll_min);
        self.set_poll(node, now.after(wait).max(not_before));
    }
}
