//! Schedules the polls of nodes by [`crate::polling`].

use std::sync::Arc;
use std::time::Duration;

use workflow::plan::NodeIx;

use super::RunState;
use crate::polling;
use crate::timestamp::Timestamp;

impl RunState {
    /// Schedules the first poll of a task that was just accepted.
    pub(super) fn schedule_first_poll(&mut self, node: NodeIx, now: Timestamp) {
        let timeout = self.task_timeout(node);
        let wait = self.first_poll_age(node).unwrap_or(self.policy(node).first_poll);
        self.set_deadline(node, now.after(timeout));
        self.set_poll(node, now.after(wait.max(self.policy(node).min_poll_interval).min(timeout)));
    }

    /// Schedules the first poll of an adopted task that was submitted at `since`: immediately, unless it is too early.
    pub(super) fn schedule_adopted_poll(&mut self, node: NodeIx, since: Timestamp, now: Timestamp) {
        let (elapsed, timeout) = (now.since(since), self.task_timeout(node));
        let wait = self.first_poll_age(node).unwrap_or_default().min(timeout).saturating_sub(elapsed);
        // A task whose timeout has passed already is polled once, also after a wait that the service asks for.
        self.set_deadline(node, since.after(timeout).max(now.after(self.policy(node).max_retry_after)));
        self.set_poll(node, now.after(wait));
    }

    /// A poll reported the task as finished, possibly with its duration.
    pub(super) fn record_duration(
        &mut self,
        node: NodeIx,
        since: Timestamp,
        now: Timestamp,
        took: Option<Duration>,
    ) {
        // An adopted task may have ended while no run was there to see it, unless the service says when.
        if took.is_some() || self.is_task_of_this_run(node) {
            let model = Arc::clone(&self.plan.node(node).model);
            self.lane_mut(node).first_polls.record(&model, now.since(since), took);
        }
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

    fn first_poll_age(&self, node: NodeIx) -> Option<Duration> {
        self.lane(node).first_polls.age(&self.plan.node(node).model)
    }
}
