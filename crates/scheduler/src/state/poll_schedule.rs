//! Schedules the polls of nodes by [`crate::polling`].

use workflow::plan::NodeIx;

use super::RunState;
use crate::polling;
use crate::timestamp::Timestamp;

impl RunState {
    /// Schedules the first poll of a task that was just accepted.
    pub(super) fn schedule_first_poll(&mut self, node: NodeIx, now: Timestamp) {
        let (timeout, policy) = (self.task_timeout(node), self.policy(node));
        let wait = policy.first_poll.max(policy.min_poll_interval).min(timeout);
        self.set_deadline(node, now.after(timeout));
        self.set_poll(node, now.after(wait));
    }

    /// Schedules the first poll of an adopted task that was submitted at `since`: immediately.
    pub(super) fn schedule_adopted_poll(&mut self, node: NodeIx, since: Timestamp, now: Timestamp) {
        // A task whose timeout has passed already is polled once, also after a wait that the service asks for.
        self.set_deadline(
            node,
            since.after(self.task_timeout(node)).max(now.after(self.policy(node).max_retry_after)),
        );
        self.set_poll(node, now);
    }

    /// Schedules the next poll of an unfinished task, not before `not_before`; the last one is made at its timeout.
    pub(super) fn schedule_next_poll(
        &mut self,
        node: NodeIx,
        since: Timestamp,
        now: Timestamp,
        not_before: Timestamp,
    ) {
        let elapsed = now.since(since);
        let wait = polling::wait(self.policy(node), elapsed)
            .min(self.task_timeout(node).saturating_sub(elapsed))
            .max(self.policy(node).min_poll_interval);
        self.set_poll(node, now.after(wait).max(not_before));
    }
}
