//! A poll has a result: the task is running, finished, failed or unknown, or the poll failed.

use std::time::Duration;

use workflow::plan::NodeIx;

use crate::ids::AttemptId;
use crate::limits::jitter;
use crate::state::{AdoptedTask, Phase, RunState, UnusableCopies};
use crate::timestamp::Timestamp;
use crate::{Action, Download, Event, ExistingWork, NextStep, PollResult};

impl RunState {
    pub(crate) fn polled(
        &mut self,
        node: NodeIx,
        attempt: AttemptId,
        result: PollResult,
        next: &NextStep,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let Phase::InFlight { attempt: ref current, ref task, since } = self.node(node).phase else { return };
        if *current != attempt {
            return;
        }
        let task = task.clone();
        let is_throttled = matches!(result, PollResult::Throttled { .. });
        if !matches!(result, PollResult::Unreachable { .. }) {
            let sent_at = self.node(node).sent_at;
            let lane = self.lane_mut(node);
            lane.has_reached_service = true;
            if !is_throttled {
                lane.limits.poll_rate.speed_up(sent_at);
            }
            let state = self.node_mut(node);
            if !is_throttled && !matches!(result, PollResult::NotFound { .. }) {
                state.missing_since = None;
            }
            state.unreachable_since = None;
        }
        let mut not_before = now;
        match &result {
            PollResult::Running { poll_after, .. } => {
                let asked = poll_after.unwrap_or_default().min(self.policy(node).max_retry_after);
                not_before = now.after(asked);
                self.task_answered(node, now);
            }
            PollResult::Throttled { retry_after, .. } => {
                // Without a time it is nothing new, or not from the service at all ([`Action::Overdue`]).
                let held_until =
                    self.lane(node).limits.poll_rate.held_until(now).filter(|_| retry_after.is_none());
                let until = held_until.unwrap_or_else(|| {
                    let waits = (self.policy(node).backoff, self.policy(node).max_backoff);
                    let (sent_at, heeded) = (self.node(node).sent_at, self.policy(node).heeded(*retry_after));
                    self.lane_mut(node).limits.poll_rate.slow_down(sent_at, now, heeded, waits)
                });
                not_before = until.after(jitter(self.policy(node).seed, node, 0, until.since(now)));
            }
            PollResult::NotFound { .. } => {
                self.node_mut(node).missing_since.get_or_insert(now);
                self.lane_mut(node).unknown_tasks.insert(node);
            }
            PollResult::Unreachable { .. } => {
                self.lane_mut(node).limits.poll_rate.no_response();
                self.node_mut(node).unreachable_since.get_or_insert(now);
            }
            PollResult::Completed { .. } | PollResult::Failed { .. } => self.task_answered(node, now),
            PollResult::Unauthorized { .. } => {}
        }
        match next {
            NextStep::Continue => match result {
                PollResult::Completed { url, last_frame_url, expires_at, took: _ } => {
                    let Some(key) = self.key(node) else { return };
                    let download = Download {
                        node,
                        key,
                        attempt,
                        task,
                        url,
                        source_index: 0,
                        last_frame_url,
                        expires_at,
                        not_before: now,
                        deadline: None,
                    };
                    self.set_phase(node, Phase::ReadyToDownload(Box::new(download)));
                }
                PollResult::Running { .. }
                | PollResult::Failed { .. }
                | PollResult::NotFound { .. }
                | PollResult::Throttled { .. }
                | PollResult::Unreachable { .. }
                | PollResult::Unauthorized { .. } => self.schedule_next_poll(node, since, now, not_before),
            },
            NextStep::Retry { .. } | NextStep::Resubmit { .. } | NextStep::Fail => {
                if matches!(result, PollResult::NotFound { .. }) {
                    actions.push(Action::ExpireTask { node, attempt });
                }
                self.task_ended(node, next);
            }
            NextStep::Missing { .. } => {
                self.spend_reservation(node, None);
                // It may still be rendering it.
                if !self.node(node).adopted.was_downloaded {
                    self.hold_indeterminate_slot(node, since);
                }
                self.sync_end(node);
            }
            NextStep::Detach { .. } => {
                // A service that does not respond may still be rendering it.
                if matches!(result, PollResult::Unreachable { .. })
                    && now.since(since) < self.task_timeout(node)
                {
                    self.hold_slot(node, since.after(self.task_timeout(node)));
                }
                self.sync_end(node);
            }
        }
    }

    /// A task ended without a video: it counts as spent, and its node is submitted again or has failed.
    pub(crate) fn task_ended(&mut self, node: NodeIx, next: &NextStep) {
        self.spend_reservation(node, None);
        self.lane_mut(node).unknown_tasks.remove(&node);
        let state = self.node_mut(node);
        state.adopted = AdoptedTask::default();
        state.has_answered = false;
        state.missing_since = None;
        state.failed_downloads = 0;
        state.partial_bytes = 0;
        state.unusable_copies = UnusableCopies::default();
        match next {
            NextStep::Retry { not_before, .. } | NextStep::Resubmit { not_before } => {
                let not_before = *not_before;
                self.set_phase(node, Phase::Ready { not_before });
            }
            NextStep::Fail | NextStep::Continue | NextStep::Detach { .. } | NextStep::Missing { .. } => {
                self.sync_end(node);
            }
        }
    }

    /// The timeout of a node's task.
    pub(crate) fn task_timeout(&self, node: NodeIx) -> Duration {
        self.plan.node(node).timeout.unwrap_or(self.policy(node).task_timeout)
    }

    /// Whether an event that must be recorded may be applied first, and recorded with the next one: it leads to reads and to other events only, and
    /// whatever has an effect outside follows an event of its own. After a crash in between, the next run looks up or polls again.
    pub fn may_be_deferred(&self, event: &Event) -> bool {
        match event {
            Event::LookupDone { existing, .. } => *existing == ExistingWork::None,
            Event::Polled { result: PollResult::Completed { .. }, next, .. } => {
                next.as_ref().is_none_or(|next| *next == NextStep::Continue)
            }
            Event::RunConfigured { .. }
            | Event::Started
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
            | Event::RendersAsked { .. }
            | Event::RendersWithdrawn { .. }
            | Event::FilmJoined { .. }
            | Event::JoinFailed { .. }
            | Event::TimerFired
            | Event::Interrupted => false,
        }
    }

    /// Whether an event must be recorded. Polls that report an unfinished task and timers need not be: a replay reaches the same state
    /// without them.
    pub fn must_persist(&self, event: &Event, now: Timestamp) -> bool {
        match event {
            Event::TimerFired => self.ends_grace(now),
            Event::LookupDone { .. } => !self.repeats_claim(event),
            Event::Polled { node, attempt, result, next } => match result {
                PollResult::Running { .. } | PollResult::Throttled { .. } => {
                    let decided = || self.after_poll(*node, attempt, result, now);
                    next.clone().unwrap_or_else(decided) != NextStep::Continue
                }
                PollResult::Completed { .. }
                | PollResult::Failed { .. }
                | PollResult::NotFound { .. }
                | PollResult::Unreachable { .. }
                | PollResult::Unauthorized { .. } => true,
            },
            Event::RunConfigured { .. }
            | Event::Started
            | Event::Prepared { .. }
            | Event::ClaimConflict { .. }
            | Event::BudgetExceeded { .. }
            | Event::PrepareFailed { .. }
            | Event::Submitted { .. }
            | Event::Refused { .. }
            | Event::Indeterminate { .. }
            | Event::Downloaded { .. }
            | Event::DownloadFailed { .. }
            | Event::Reconciled { .. }
            | Event::TaskExpired { .. }
            | Event::Resolved { .. }
            | Event::RendersAsked { .. }
            | Event::RendersWithdrawn { .. }
            | Event::FilmJoined { .. }
            | Event::JoinFailed { .. }
            | Event::Interrupted => true,
        }
    }
}
