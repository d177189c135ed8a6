//! Schedules polls: by the statistics of the task's class, or else by [`crate::Policy::fallback_poll_interval`].

use std::time::Duration;

use workflow::plan::NodeIx;

use super::RunState;
use crate::polling::{self, Class, ClassIx, ClassStats, ReportedStatus, TaskObservations};
use crate::timestamp::Timestamp;

impl RunState {
    /// The same run with task durations that earlier runs measured. Nodes on the longest expected path go first.
    #[must_use]
    pub fn with_task_durations(mut self, took: impl IntoIterator<Item = (Class, Duration)>) -> Self {
        for (class, took) in took {
            self.stats.entry(class).record(took);
        }
        self.rank_by_duration();
        self
    }

    /// Schedules the first poll of a task that was just accepted.
    pub(super) fn schedule_first_poll(&mut self, node: NodeIx, now: Timestamp) {
        self.node_mut(node).observations = None;
        let timeout = self.task_timeout(node);
        let wait = self.wait(node, Duration::ZERO).min(timeout);
        self.set_deadline(node, now.after(timeout));
        self.set_poll(node, now.after(wait));
    }

    /// Schedules the first poll of an adopted task that was submitted at `since`: immediately, unless it cannot have ended yet.
    pub(super) fn schedule_adopted_poll(&mut self, node: NodeIx, since: Timestamp, now: Timestamp) {
        self.node_mut(node).observations = Some(Box::new(TaskObservations::adopted()));
        let (elapsed, timeout) = (now.since(since), self.task_timeout(node));
        let class = self.class(node);
        let earliest = self.stats.at(class).earliest().unwrap_or_default();
        let wait = earliest.saturating_sub(elapsed).min(timeout.saturating_sub(elapsed));
        // A task whose timeout has passed already is polled once, also after a wait that the service asks for.
        self.set_deadline(node, since.after(timeout).max(now.after(self.policy.max_retry_after)));
        self.set_poll(node, now.after(wait));
    }

    /// A poll reported the task as unfinished.
    pub(super) fn record_progress(&mut self, node: NodeIx, since: Timestamp, now: Timestamp, status: &str) {
        let elapsed = now.since(since);
        let state = self.node_mut(node);
        let progress = state.shot.progress();
        state.observations.get_or_insert_default().record(elapsed, ReportedStatus::parse(status), progress);
    }

    /// A poll reported the task as finished, possibly with its duration.
    pub(super) fn record_completion(
        &mut self,
        node: NodeIx,
        since: Timestamp,
        now: Timestamp,
        took: Option<Duration>,
    ) {
        let observations =
            self.node_mut(node).observations.take().map(|observations| *observations).unwrap_or_default();
        let class = self.class(node);
        // Every task in flight has a deadline.
        let in_flight = self.queues.deadlines.iter().map(|(_, node)| &self.nodes[node.index()]);
        let unfinished = in_flight.filter(|state| state.class == Some(class)).filter_map(|state| {
            let observations = state.observations.as_deref()?;
            Some(observations.running_at())
        });
        self.stats.at_mut(class).finished(&observations, now.since(since), took, unfinished);
    }

    /// Schedules the next poll of an unfinished task, not before `not_before`; detaches from it once its timeout has passed.
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

    /// The wait by class statistics and this task's observations, `elapsed` after its submission.
    fn wait(&mut self, node: NodeIx, elapsed: Duration) -> Duration {
        let class = self.class(node);
        let state = self.node(node);
        let class_stats = Some(self.stats.at(class));
        let observations = state.observations.as_deref().copied().unwrap_or_default();
        let (progress, in_flight) = (state.shot.progress(), self.queues.in_flight);
        polling::wait(&self.policy, class_stats, &observations, elapsed, progress, in_flight)
    }

    /// The class of a node's tasks.
    fn class(&mut self, node: NodeIx) -> ClassIx {
        let state = &mut self.nodes[node.index()];
        *state.class.get_or_insert_with(|| self.stats.index(Class::new(self.plan.node(node))))
    }

    /// Critical-path ranks: by expected task time; where that is unknown, proportional to the video length.
    fn rank_by_duration(&mut self) {
        let (mut took, mut length) = (0.0, 0.0);
        let typical: Vec<Option<Duration>> = self
            .plan
            .nodes()
            .map(|(_, node)| {
                let median = self.stats.get(&Class::new(node)).and_then(ClassStats::median);
                if let Some(median) = median {
                    took += median.as_secs_f64();
                    length += node.duration.as_secs_f64();
                }
                median
            })
            .collect();
        if length <= 0.0 {
            return;
        }
        let each = took / length;
        self.ranks = Some(self.plan.ranks_by(|ix| {
            let seconds = match typical[ix.index()] {
                Some(typical) => typical.as_secs_f64(),
                None => self.plan.node(ix).duration.as_secs_f64() * each,
            };
            (seconds * 1e3).ceil().max(0.0) as u64
        }));
    }

    /// A node's rank: the length of the longest path from it.
    pub(super) fn rank(&self, node: NodeIx) -> u64 {
        self.ranks.as_ref().map_or_else(|| self.plan.rank(node), |ranks| ranks[node.index()])
    }
}
