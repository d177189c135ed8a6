//! When to ask about a task: what is known of tasks like it decides, where something is; otherwise [`crate::Policy::fallback_poll_interval`].

use std::time::Duration;

use workflow::plan::NodeIx;

use super::RunState;
use crate::polling::{self, Class, ClassStats, ReportedStatus};
use crate::timestamp::Timestamp;

impl RunState {
    /// The same run with what earlier ones learnt about how long tasks take. It goes first through what takes longest.
    #[must_use]
    pub fn with_task_durations(mut self, took: impl IntoIterator<Item = (Class, Duration)>) -> Self {
        for (class, took) in took {
            self.stats.entry(class).record(took);
        }
        self.rank_by_duration();
        self
    }

    /// A task that was just accepted.
    pub(super) fn schedule_first_poll(&mut self, node: NodeIx, now: Timestamp) {
        self.node_mut(node).observations = None;
        let wait = self.wait(node, Duration::ZERO).min(self.task_timeout(node));
        self.set_poll(node, now.after(wait));
    }

    /// A task that an earlier run submitted at `since`: it has been out for a while, and is asked about at once unless it cannot be over yet.
    pub(super) fn schedule_adopted_poll(&mut self, node: NodeIx, since: Timestamp, now: Timestamp) {
        self.node_mut(node).observations = None;
        let elapsed = now.since(since);
        let class = Class::new(self.plan.node(node));
        let earliest = self.stats.get(&class).and_then(ClassStats::earliest).unwrap_or_default();
        let wait = earliest.saturating_sub(elapsed).min(self.task_timeout(node).saturating_sub(elapsed));
        self.set_poll(node, now.after(wait));
    }

    /// A task says that it is not finished.
    pub(super) fn record_progress(&mut self, node: NodeIx, since: Timestamp, now: Timestamp, status: &str) {
        let elapsed = now.since(since).as_secs_f64();
        let state = self.node_mut(node);
        let progress = state.shot.progress();
        state.observations.get_or_insert_default().record(elapsed, ReportedStatus::parse(status), progress);
    }

    /// A task says that it is finished, and perhaps how long it took.
    pub(super) fn record_completion(
        &mut self,
        node: NodeIx,
        since: Timestamp,
        now: Timestamp,
        took: Option<Duration>,
    ) {
        let seen = self.node_mut(node).observations.take().map(|seen| *seen).unwrap_or_default();
        let class = Class::new(self.plan.node(node));
        self.stats.entry(class).finished(&seen, now.since(since).as_secs_f64(), took);
    }

    /// A task that is not finished: asks again, not before `not_before`, or lets go of what has been out for longer than its shot allows. It is
    /// kept for a later run.
    pub(super) fn schedule_next_poll(
        &mut self,
        node: NodeIx,
        since: Timestamp,
        now: Timestamp,
        not_before: Timestamp,
    ) {
        let timeout = self.task_timeout(node);
        let elapsed = now.since(since);
        // The last poll is made at the deadline.
        let wait =
            self.wait(node, elapsed).min(timeout.saturating_sub(elapsed)).max(self.policy.min_poll_interval);
        self.set_poll(node, now.after(wait).max(not_before));
    }

    /// What past tasks and this one's own words say, for one that has been out for `elapsed`.
    fn wait(&self, node: NodeIx, elapsed: Duration) -> Duration {
        let state = self.node(node);
        let known = self.stats.get(&Class::new(self.plan.node(node)));
        let seen = state.observations.as_deref().copied().unwrap_or_default();
        polling::wait(&self.policy, known, &seen, elapsed, state.shot.progress())
    }

    /// Which nodes go first: those on the longest path, by the time that tasks like theirs took; where that is not known, by their length, in
    /// proportion.
    fn rank_by_duration(&mut self) {
        let (mut took, mut length) = (0.0, 0.0);
        let typical: Vec<Option<f64>> = self
            .plan
            .nodes()
            .map(|(_, node)| {
                let known = self.stats.get(&Class::new(node)).and_then(ClassStats::median);
                if let Some(known) = known {
                    took += known;
                    length += node.seconds;
                }
                known
            })
            .collect();
        if length <= 0.0 {
            return;
        }
        let each = took / length;
        self.ranks = Some(self.plan.ranks_by(|ix| {
            let seconds = typical[ix.index()].unwrap_or_else(|| self.plan.node(ix).seconds * each);
            (seconds * 1e3).ceil().max(0.0) as u64
        }));
    }

    /// How early a node goes: the longest path from it to an end.
    pub(super) fn rank(&self, node: NodeIx) -> u64 {
        self.ranks.as_ref().map_or_else(|| self.plan.rank(node), |ranks| ranks[node.index()])
    }
}
