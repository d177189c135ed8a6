//! A poll has brought something: the task runs, is finished, has failed, is unknown, or cannot be asked.

use std::time::Duration;

use workflow::plan::NodeIx;

use crate::ids::{AttemptId, TaskId};
use crate::limits::jitter;
use crate::state::{Phase, RunState};
use crate::timestamp::Timestamp;
use crate::{Action, Decision, Download, Event, Failure, FailureKind, Outcome, PollResult};

impl RunState {
    pub(crate) fn polled(
        &mut self,
        node: NodeIx,
        attempt: AttemptId,
        result: PollResult,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let Phase::InFlight { attempt: ref current, ref task, since } = self.node(node).phase else { return };
        if *current != attempt {
            return;
        }
        let task = task.clone();
        if !matches!(result, PollResult::Unreachable { .. }) {
            let is_refused = matches!(result, PollResult::Throttled { .. });
            if !is_refused {
                self.limits.poll_rate.speed_up();
            }
            let state = self.node_mut(node);
            if !is_refused && !matches!(result, PollResult::NotFound { .. }) {
                state.missing_since = None;
            }
            state.unreachable_since = None;
            state.last_error = None;
        }
        match result {
            PollResult::Running { progress, status } => {
                let state = self.node_mut(node);
                // Progress never goes back for those who watch, whatever the service says.
                state.progress = state.progress.max(progress.map(|percent| percent.min(100)));
                self.record_progress(node, since, now, &status);
                self.schedule_next_poll(node, since, now, now);
            }
            PollResult::Throttled { retry_after, reason } => {
                let waits = (self.policy.backoff, self.policy.max_backoff);
                let sent = self.node(node).sent_at;
                let until = self.limits.poll_rate.slow_down(sent, now, retry_after, waits);
                let spread = jitter(self.policy.seed, node, 0, until.since(now));
                self.node_mut(node).last_error = Some(reason);
                self.schedule_next_poll(node, since, now, until.after(spread));
            }
            PollResult::Completed { url, last_frame_url, expires_at, took } => {
                let Some(key) = self.key(node) else { return };
                self.record_completion(node, since, now, took);
                let state = self.node_mut(node);
                state.progress = Some(100);
                self.set_phase(
                    node,
                    Phase::ReadyToDownload(Download {
                        node,
                        key,
                        attempt,
                        task,
                        url,
                        source_index: 0,
                        last_frame_url,
                        expires_at,
                        not_before: now,
                    }),
                );
            }
            PollResult::Failed { failure } => {
                self.settle_reservation(node, None);
                self.fail_or_retry(node, failure, task, now);
            }
            PollResult::NotFound { expired } => self.not_found(node, expired, attempt, now, actions),
            PollResult::Unreachable { reason } => {
                let timeout = self.policy.unreachable_timeout;
                let state = self.node_mut(node);
                let from = *state.unreachable_since.get_or_insert(now);
                if now.since(from) >= timeout {
                    let reason = format!("the service does not answer: {reason}");
                    self.hold_slot(node, since.after(self.task_timeout(node)));
                    self.end(node, Outcome::Detached { task, reason });
                } else {
                    state.last_error = Some(reason);
                    self.schedule_next_poll(node, since, now, now);
                }
            }
            PollResult::Unauthorized { failure } => {
                self.end(node, Outcome::Detached { task, reason: failure.message.clone() });
                self.unusable(failure);
            }
        }
    }

    /// How long a node's task may be out.
    pub(crate) fn task_timeout(&self, node: NodeIx) -> Duration {
        self.plan.node(node).timeout.unwrap_or(self.policy.task_timeout)
    }

    /// Whether an event must be recorded. Polls that only say "not yet" and timers are not: a replay reaches the same state without
    /// them.
    #[must_use]
    pub fn must_persist(&self, event: &Event, now: Timestamp) -> bool {
        match event {
            Event::TimerFired => self.ends_grace(now),
            Event::Polled {
                node, result: PollResult::Running { .. } | PollResult::Throttled { .. }, ..
            } => match self.node(*node).phase {
                Phase::InFlight { since, .. } => now.since(since) >= self.task_timeout(*node),
                _ => false,
            },
            Event::RunConfigured { .. }
            | Event::Started
            | Event::LookupDone { .. }
            | Event::Prepared { .. }
            | Event::ClaimConflict { .. }
            | Event::BudgetExceeded { .. }
            | Event::PrepareFailed { .. }
            | Event::Submitted { .. }
            | Event::Refused { .. }
            | Event::Indeterminate { .. }
            | Event::Polled { .. }
            | Event::Downloaded { .. }
            | Event::DownloadFailed { .. }
            | Event::Reconciled { .. }
            | Event::TaskExpired { .. }
            | Event::Resolved { .. }
            | Event::FilmJoined { .. }
            | Event::JoinFailed { .. }
            | Event::Interrupted => true,
        }
    }

    /// The task has ended without a video. A shot's `retry` pays for another one where that is safe and may help.
    fn fail_or_retry(&mut self, node: NodeIx, failure: Failure, task: TaskId, now: Timestamp) {
        if self.may_retry(node, failure.kind) {
            self.retry(node, failure, now);
        } else {
            self.end(node, Outcome::Failed { failure, task: Some(task) });
        }
    }

    fn not_found(
        &mut self,
        node: NodeIx,
        expired: bool,
        attempt: AttemptId,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let Phase::InFlight { task, since, .. } = &self.node(node).phase else { return };
        let (task, since) = (task.clone(), *since);
        // Services that replicate answer 404 for a moment after they accepted a task, or while one of them is behind. What is paid for is
        // not given up for that: it counts as gone when it has been unknown for a while, without a word to the contrary.
        let missing_since = *self.node_mut(node).missing_since.get_or_insert(now);
        if !expired && now.since(missing_since) < self.policy.not_found_grace {
            self.schedule_next_poll(node, since, now, now);
            return;
        }
        actions.push(Action::ExpireTask { node, attempt });
        self.settle_reservation(node, None);
        let state = self.node_mut(node);
        if state.was_downloaded {
            // It was delivered once and its file was removed since; now the service has forgotten it too.
            state.was_downloaded = false;
            state.missing_since = None;
            state.submitted_at = None;
            state.decision = Some(Decision::Execute);
            self.set_phase(node, Phase::Ready { not_before: now });
            return;
        }
        let said = if expired {
            "the service says that the task has expired"
        } else {
            "the service does not know the task"
        };
        self.fail_or_retry(node, Failure::new(FailureKind::Expired, said), task, now);
    }
}
