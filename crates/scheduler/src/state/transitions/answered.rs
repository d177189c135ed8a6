//! A poll has brought something: the task runs, is finished, has failed, is unknown, or cannot be asked.

use std::time::Duration;

use workflow::plan::NodeIx;

use crate::ids::{AttemptId, TaskId};
use crate::state::limits::spread;
use crate::state::{
    Action, Answer, Decision, Download, Event, Failure, FailureKind, Outcome, Phase, RunState,
};
use crate::time::Millis;

impl RunState {
    pub(in crate::state) fn answered(
        &mut self,
        node: NodeIx,
        attempt: AttemptId,
        answer: Answer,
        now: Millis,
        actions: &mut Vec<Action>,
    ) {
        let Phase::Out { attempt: ref current, ref task, since } = self.node(node).phase else { return };
        if *current != attempt {
            return;
        }
        let task = task.clone();
        if !matches!(answer, Answer::Unreachable { .. }) {
            let is_refused = matches!(answer, Answer::Later { .. });
            if !is_refused {
                self.limits.polls.speed_up();
            }
            let state = self.node_mut(node);
            if !is_refused && !matches!(answer, Answer::Missing { .. }) {
                state.missing_since = None;
            }
            state.unreachable_since = None;
            state.trouble = None;
        }
        match answer {
            Answer::Running { progress, status } => {
                let state = self.node_mut(node);
                // Progress never goes back for those who watch, whatever the service says.
                state.progress = state.progress.max(progress.map(|percent| percent.min(100)));
                self.note_running(node, since, now, &status);
                self.ask_again(node, since, now, now);
            }
            Answer::Later { retry_after, reason } => {
                let waits = (self.policy.backoff, self.policy.backoff_max);
                let sent = self.node(node).sent_at;
                let until = self.limits.polls.slow_down(sent, now, retry_after, waits);
                let spread = spread(self.policy.seed, node, 0, until.since(now));
                self.node_mut(node).trouble = Some(reason);
                self.ask_again(node, since, now, until.after(spread));
            }
            Answer::Completed { url, last_frame_url, expires_at, took } => {
                let Some(key) = self.key(node) else { return };
                self.note_finished(node, since, now, took);
                let state = self.node_mut(node);
                state.progress = Some(100);
                self.put(
                    node,
                    Phase::Finished(Download {
                        node,
                        key,
                        attempt,
                        task,
                        url,
                        turn: 0,
                        last_frame_url,
                        expires_at,
                        at: now,
                    }),
                );
            }
            Answer::Failed { failure } => {
                self.settle(node, None);
                self.fail_or_try_again(node, failure, task, now);
            }
            Answer::Missing { expired } => self.missing(node, expired, attempt, now, actions),
            Answer::Unreachable { reason } => {
                let patience = self.policy.unreachable;
                let state = self.node_mut(node);
                let from = *state.unreachable_since.get_or_insert(now);
                if now.since(from) >= patience {
                    let reason = format!("the service does not answer: {reason}");
                    self.keep_place(node, since.after(self.allowed(node)));
                    self.end(node, Outcome::Detached { task, reason });
                } else {
                    state.trouble = Some(reason);
                    self.ask_again(node, since, now, now);
                }
            }
            Answer::Unusable { failure } => {
                self.end(node, Outcome::Detached { task, reason: failure.message.clone() });
                self.unusable(failure);
            }
        }
    }

    /// How long a node's task may be out.
    pub(in crate::state) fn allowed(&self, node: NodeIx) -> Duration {
        self.plan.node(node).timeout.unwrap_or(self.policy.timeout)
    }

    /// Whether an event decides anything. Polls that only say "not yet" and ticks of the clock do not: they would fill the ledger, and
    /// a replay goes the same way without them.
    #[must_use]
    pub fn decides(&self, event: &Event, now: Millis) -> bool {
        match event {
            Event::Woke => self.ends_grace(now),
            Event::Answered { node, answer: Answer::Running { .. } | Answer::Later { .. }, .. } => {
                match self.node(*node).phase {
                    Phase::Out { since, .. } => now.since(since) >= self.allowed(*node),
                    _ => false,
                }
            }
            Event::Scoped { .. }
            | Event::Started
            | Event::Looked { .. }
            | Event::Prepared { .. }
            | Event::Taken { .. }
            | Event::Capped { .. }
            | Event::Unprepared { .. }
            | Event::Submitted { .. }
            | Event::Refused { .. }
            | Event::Lost { .. }
            | Event::Answered { .. }
            | Event::Downloaded { .. }
            | Event::NotDownloaded { .. }
            | Event::Joined { .. }
            | Event::NotJoined { .. }
            | Event::Interrupted => true,
        }
    }

    /// The task has ended without a video. A shot's `retry` pays for another one where that is safe and may help.
    fn fail_or_try_again(&mut self, node: NodeIx, failure: Failure, task: TaskId, now: Millis) {
        if self.may_try_again(node, failure.kind) {
            self.try_again(node, failure, now);
        } else {
            self.end(node, Outcome::Failed { failure, task: Some(task) });
        }
    }

    fn missing(
        &mut self,
        node: NodeIx,
        expired: bool,
        attempt: AttemptId,
        now: Millis,
        actions: &mut Vec<Action>,
    ) {
        let Phase::Out { task, since, .. } = &self.node(node).phase else { return };
        let (task, since) = (task.clone(), *since);
        // Services that replicate answer 404 for a moment after they accepted a task, or while one of them is behind. What is paid for is
        // not given up for that: it counts as gone when it has been unknown for a while, without a word to the contrary.
        let missing_since = *self.node_mut(node).missing_since.get_or_insert(now);
        if !expired && now.since(missing_since) < self.policy.settle_in {
            self.ask_again(node, since, now, now);
            return;
        }
        actions.push(Action::Forget { attempt });
        self.settle(node, None);
        let state = self.node_mut(node);
        if state.was_downloaded {
            // It was delivered once and its file was removed since; now the service has forgotten it too.
            state.was_downloaded = false;
            state.missing_since = None;
            state.submitted_at = None;
            state.decision = Some(Decision::Execute);
            self.put(node, Phase::Ready { not_before: now });
            return;
        }
        let said = if expired {
            "the service says that the task has expired"
        } else {
            "the service does not know the task"
        };
        self.fail_or_try_again(node, Failure::new(FailureKind::Expired, said), task, now);
    }
}
