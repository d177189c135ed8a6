//! Decides the next step of a shot after a refusal, a poll or a failed download: submit again, retry, poll again, fail or detach.
//!
//! The decision is recorded with the event ([`NextStep`]); the transitions apply it.

use std::time::Duration;

use workflow::plan::NodeIx;

use super::{Phase, RunState};
use crate::limits::jitter;
use crate::{
    AttemptId, Event, ExistingWork, Failure, FailureKind, NextStep, PollResult, Refusal, RefusalKind,
    Timestamp,
};

/// Progress in bytes after which the count of failed download tries restarts.
pub(super) const MIN_PROGRESS_BYTES: u64 = 1 << 20;

impl RunState {
    /// Completes an event with its next step. To be called before the event is recorded; [`RunState::apply`] does the same for incomplete
    /// events.
    #[must_use]
    pub fn decide(&self, event: Event, now: Timestamp) -> Event {
        match event {
            Event::Refused { node, attempt, refusal, halts: _, next: None } => {
                let next = self.after_refusal(node, &refusal, now);
                let halts = self.halts_after(node, refusal.kind, &next);
                Event::Refused { node, attempt, refusal, halts, next: Some(next) }
            }
            Event::Reconciled {
                node,
                attempt,
                since,
                reason: Some(reason),
                candidates,
                task: None,
                next: None,
            } => {
                let next = Some(self.after_refusal(node, &not_accepted(&reason), now));
                Event::Reconciled { node, attempt, since, reason: Some(reason), candidates, task: None, next }
            }
            Event::Polled { node, attempt, result, next: None } => {
                let result = self.without_foreign_refusals(node, result);
                let next = Some(self.after_poll(node, &attempt, &result, now));
                Event::Polled { node, attempt, result, next }
            }
            Event::DownloadFailed { node, attempt, failure, partial_bytes, next: None } => {
                let next = Some(self.after_failed_download(node, &failure, partial_bytes, now));
                Event::DownloadFailed { node, attempt, failure, partial_bytes, next }
            }
            Event::Indeterminate { node, attempt, reason, halts, suggested_task } => {
                let halts = halts && !self.lane(node).has_reached_service;
                Event::Indeterminate { node, attempt, reason, halts, suggested_task }
            }
            Event::LookupDone { node, existing: ExistingWork::ClaimedByOtherRun { ref run }, .. } => {
                match self.after_claim(node, run, now) {
                    Some(failure) => Event::PrepareFailed { node, failure },
                    None => event,
                }
            }
            Event::RunConfigured { .. }
            | Event::Started
            | Event::LookupDone { .. }
            | Event::Prepared { .. }
            | Event::ClaimConflict { .. }
            | Event::BudgetExceeded { .. }
            | Event::PrepareFailed { .. }
            | Event::Submitted { .. }
            | Event::Refused { .. }
            | Event::Polled { .. }
            | Event::Downloaded { .. }
            | Event::DownloadFailed { .. }
            | Event::FilmJoined { .. }
            | Event::JoinFailed { .. }
            | Event::Reconciled { .. }
            | Event::TaskExpired { .. }
            | Event::Resolved { .. }
            | Event::RendersAsked { .. }
            | Event::RendersWithdrawn { .. }
            | Event::TimerFired
            | Event::Interrupted => event,
        }
    }

    /// Nothing was accepted: submit again if that may help, within the number of tries; for a service that has never responded, also within
    /// the unreachable timeout.
    fn after_refusal(&self, node: NodeIx, refusal: &Refusal, now: Timestamp) -> NextStep {
        let state = self.node(node);
        match refusal.kind {
            RefusalKind::Throttled | RefusalKind::Retryable | RefusalKind::Unreachable => {
                let tries = state.refusals + 1;
                let is_timed_out = refusal.kind == RefusalKind::Unreachable
                    && !self.lane(node).has_reached_service
                    && self
                        .lane(node)
                        .unreachable_since
                        .is_some_and(|since| now.since(since) >= self.policy(node).unreachable_timeout);
                if (tries >= self.policy(node).max_submit_attempts || is_timed_out)
                    && self.halt_of(node).is_none()
                {
                    return NextStep::Fail;
                }
                // Jitter, so that shots that were refused together do not retry together.
                let wait = self.refusal_wait(node, refusal.retry_after);
                let not_before = now.after(wait).after(jitter(self.policy(node).seed, node, tries, wait));
                NextStep::Resubmit { not_before }
            }
            RefusalKind::NotSent => {
                let wait = self
                    .policy(node)
                    .heeded(refusal.retry_after)
                    .map_or(Duration::ZERO, |heeded| heeded.wait);
                let not_before =
                    now.after(wait).after(jitter(self.policy(node).seed, node, state.refusals, wait));
                NextStep::Resubmit { not_before }
            }
            // The service may no longer reach a frame that it hosts itself: the image is inlined instead, once. A request refused by
            // moderation is never sent again in another form.
            RefusalKind::InvalidRequest
                if state.by_url
                    && !state.is_inline
                    && refusal.failure.kind != FailureKind::InputModerated =>
            {
                NextStep::Resubmit { not_before: now }
            }
            RefusalKind::InvalidRequest | RefusalKind::ServiceUnusable => NextStep::Fail,
        }
    }

    /// The back-off after one more refusal.
    pub(super) fn own_refusal_wait(&self, node: NodeIx) -> Duration {
        self.policy(node).backoff_after(self.node(node).refusals + 1)
    }

    /// The wait of a shot after one more refusal: the heeded part of the service's Retry-After, or the back-off where that is longer, so
    /// that a service that always asks for a second does not use up all tries in a few.
    fn refusal_wait(&self, node: NodeIx, retry_after: Option<Duration>) -> Duration {
        let own_wait = self.own_refusal_wait(node);
        self.policy(node).heeded(retry_after).map_or(own_wait, |heeded| heeded.wait.max(own_wait))
    }

    pub(super) fn after_poll(
        &self,
        node: NodeIx,
        attempt: &AttemptId,
        result: &PollResult,
        now: Timestamp,
    ) -> NextStep {
        let state = self.node(node);
        let Phase::InFlight { attempt: current, since, .. } = &state.phase else { return NextStep::Continue };
        if current != attempt {
            return NextStep::Continue;
        }
        let elapsed = now.since(*since);
        let poll_again = || {
            if elapsed >= self.task_timeout(node) {
                let detail = match result {
                    PollResult::Throttled { .. } => ", and the service accepts no polls".to_owned(),
                    PollResult::Running { .. } => match result.undefined_status() {
                        Some(status) => format!(", and its status `{status}` is not one of the contract's"),
                        None => String::new(),
                    },
                    PollResult::Completed { .. }
                    | PollResult::Failed { .. }
                    | PollResult::NotFound { .. }
                    | PollResult::Unreachable { .. }
                    | PollResult::Unauthorized { .. } => String::new(),
                };
                NextStep::Detach {
                    reason: format!("it is not finished after {} s{detail}", elapsed.as_secs()),
                }
            } else {
                NextStep::Continue
            }
        };
        match result {
            PollResult::Running { .. } | PollResult::Throttled { .. } => poll_again(),
            PollResult::Completed { .. } => NextStep::Continue,
            // It had a video; its files are gone, whatever the service calls that.
            PollResult::Failed { failure } if state.adopted.was_downloaded => NextStep::Missing {
                reason: format!("the service now reports that it has failed: {}", failure.message),
            },
            PollResult::Failed { failure } => self.fail_or_retry(node, failure.kind, now),
            PollResult::NotFound { expired } => {
                self.after_not_found(node, *since, *expired, now).unwrap_or_else(poll_again)
            }
            PollResult::Unreachable { reason } => {
                let unreachable_since = state.unreachable_since.unwrap_or(now);
                if now.since(unreachable_since) >= self.policy(node).unreachable_timeout {
                    NextStep::Detach { reason: format!("the service does not respond: {reason}") }
                } else {
                    poll_again()
                }
            }
            PollResult::Unauthorized { failure } => NextStep::Detach { reason: failure.message.clone() },
        }
    }

    fn after_failed_download(
        &self,
        node: NodeIx,
        failure: &Failure,
        partial_bytes: u64,
        now: Timestamp,
    ) -> NextStep {
        let tries = self.failed_downloads(node, partial_bytes);
        // An event that comes too late to matter decides nothing.
        let is_in_time = self.download_of(node).is_none()
            || self.next_download(node, failure, partial_bytes, now).is_some();
        if tries < self.policy(node).max_download_attempts && !failure.kind.is_local() && is_in_time {
            return NextStep::Continue;
        }
        // The task is paid for. Another one is only if the shot's `retry` says so and the video is nowhere to be had.
        let unusable = self.download_of(node).map(|download| {
            let copies = self.node(node).unusable_copies.after(download, failure.kind);
            (copies.everywhere(download, now), copies.probably(download, now))
        });
        match unusable {
            Some((Some(kind), _)) if self.may_retry(node, kind) => self.fail_or_retry(node, kind, now),
            Some((_, Some(kind))) if !self.is_retried_after(node, kind) => {
                let what = if kind == FailureKind::Corrupt {
                    "is damaged at each of its addresses"
                } else {
                    "is gone"
                };
                NextStep::Missing { reason: format!("its video {what}: {}", failure.message) }
            }
            // This machine or the network is at fault; or the `retry` is left to a later run.
            _ => {
                NextStep::Detach { reason: format!("its video could not be downloaded: {}", failure.message) }
            }
        }
    }

    /// Failed downloads since the last progress, including one that left this many bytes on disk.
    pub(super) fn failed_downloads(&self, node: NodeIx, partial_bytes: u64) -> u32 {
        let state = self.node(node);
        let has_progressed = partial_bytes >= state.partial_bytes.saturating_add(MIN_PROGRESS_BYTES);
        if has_progressed { 1 } else { state.failed_downloads + 1 }
    }

    /// The task ended without a video. The shot's `retry` pays for another attempt if that is safe and may help.
    pub(super) fn fail_or_retry(&self, node: NodeIx, kind: FailureKind, now: Timestamp) -> NextStep {
        if !self.may_retry(node, kind) {
            return NextStep::Fail;
        }
        let attempt = self.node(node).shot.attempt_number();
        // A transient failure needs a delay.
        let wait = if kind == FailureKind::Transient {
            self.policy(node).backoff_after(attempt)
        } else {
            Duration::ZERO
        };
        let mut not_before = now.after(wait);
        if let Some(rate) = self.lane(node).limits.submit_rate.as_ref().filter(|rate| !rate.admits(now)) {
            not_before = not_before.max(rate.free_at());
        }
        NextStep::Retry { attempt: attempt + 1, of: self.plan.node(node).retry, not_before }
    }

    /// Whether the run pays for another task after such a failure of this one, as the shot's `retry` says.
    pub(super) fn may_retry(&self, node: NodeIx, kind: FailureKind) -> bool {
        self.halt_of(node).is_none() && self.is_retried_after(node, kind)
    }

    /// Whether the shot's `retry` covers such a failure of its task.
    fn is_retried_after(&self, node: NodeIx, kind: FailureKind) -> bool {
        let planned = self.plan.node(node);
        !self.node(node).adopted.excludes_retry
            && self.node(node).shot.attempt_number() < planned.retry
            && kind.retried_as().is_some_and(|failure| planned.retry_on.contains(failure))
    }
}

/// An indeterminate submission turned out not to have been accepted: treated as a retryable refusal.
pub(super) fn not_accepted(reason: &str) -> Refusal {
    let failure = Failure::new(FailureKind::Transient, reason);
    Refusal { kind: RefusalKind::Retryable, failure, retry_after: None }
}
