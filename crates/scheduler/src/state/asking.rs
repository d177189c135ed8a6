//! When to ask about a task: what is known of tasks like it decides, where something is; otherwise [`crate::Policy::poll_after`].

use std::time::Duration;

use workflow::plan::NodeIx;

use super::{Outcome, Phase, RunState};
use crate::polling::{self, Class, Known, Standing};
use crate::time::Millis;

impl RunState {
    /// The same run with what earlier ones learnt about how long tasks take. It goes first through what takes longest.
    #[must_use]
    pub fn after_tasks(mut self, took: impl IntoIterator<Item = (Class, Duration)>) -> Self {
        for (class, took) in took {
            self.book.of(class).note(took);
        }
        self.rank_by_time();
        self
    }

    /// A task that was just accepted.
    pub(super) fn ask_first(&mut self, node: NodeIx, now: Millis) {
        self.node_mut(node).seen = None;
        let wait = self.wait(node, Duration::ZERO).min(self.allowed(node));
        self.set_poll(node, now.after(wait));
    }

    /// A task that an earlier run submitted at `since`: it has been out for a while, and is asked about at once unless it cannot be over yet.
    pub(super) fn ask_adopted(&mut self, node: NodeIx, since: Millis, now: Millis) {
        self.node_mut(node).seen = None;
        let elapsed = now.since(since);
        let class = Class::of(self.plan.node(node));
        let earliest = self.book.known(&class).and_then(Known::earliest).unwrap_or_default();
        let wait = earliest.saturating_sub(elapsed).min(self.allowed(node).saturating_sub(elapsed));
        self.set_poll(node, now.after(wait));
    }

    /// A task says that it is not finished.
    pub(super) fn note_running(&mut self, node: NodeIx, since: Millis, now: Millis, status: &str) {
        let elapsed = now.since(since).as_secs_f64();
        let state = self.node_mut(node);
        let progress = state.progress;
        state.seen.get_or_insert_default().note(elapsed, Standing::of(status), progress);
    }

    /// A task says that it is finished, and perhaps how long it took.
    pub(super) fn note_finished(&mut self, node: NodeIx, since: Millis, now: Millis, took: Option<Duration>) {
        let seen = self.node_mut(node).seen.take().map(|seen| *seen).unwrap_or_default();
        let class = Class::of(self.plan.node(node));
        self.book.of(class).finished(&seen, now.since(since).as_secs_f64(), took);
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
        // The last question is asked when the time is up.
        let wait = self.wait(node, elapsed).min(allowed.saturating_sub(elapsed)).max(self.policy.poll_min);
        self.set_poll(node, now.after(wait).max(not_before));
    }

    /// What past tasks and this one's own words say, for one that has been out for `elapsed`.
    fn wait(&self, node: NodeIx, elapsed: Duration) -> Duration {
        let state = self.node(node);
        let known = self.book.known(&Class::of(self.plan.node(node)));
        let seen = state.seen.as_deref().copied().unwrap_or_default();
        polling::wait(&self.policy, known, &seen, elapsed, state.progress)
    }

    /// Which nodes go first: those on the longest path, by the time that tasks like theirs took; where that is not known, by their length, in
    /// proportion.
    fn rank_by_time(&mut self) {
        let (mut took, mut length) = (0.0, 0.0);
        let typical: Vec<Option<f64>> = self
            .plan
            .nodes()
            .map(|(_, node)| {
                let known = self.book.known(&Class::of(node)).and_then(Known::typical);
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
