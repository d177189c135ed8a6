//! The service refused the request or could not be reached: nothing was accepted or paid. A 429 or 503 slows submissions down.
//! A Retry-After is heeded up to [`crate::Policy::max_retry_after`]; if it asked for more, a single submission is tried after that.
//! A held request does not count as an attempt.

use workflow::plan::NodeIx;

use crate::limits::ThrottledSubmission;
use crate::state::{Phase, RunState};
use crate::{NextStep, Refusal, RefusalKind, Timestamp};

impl RunState {
    pub(crate) fn refused(&mut self, node: NodeIx, refusal: &Refusal, next: &NextStep, now: Timestamp) {
        if !matches!(self.node(node).phase, Phase::Submitting { .. }) {
            return;
        }
        self.release_reservation(node);
        let (kind, retry_after) = (refusal.kind, refusal.retry_after);
        let heeded = self.policy(node).heeded(retry_after);
        let until = now.after(heeded.map_or_else(|| self.own_refusal_wait(node), |heeded| heeded.wait));
        let state = self.node_mut(node);
        state.refusals += u32::from(kind != RefusalKind::NotSent);
        let sent_at = state.sent_at;
        match kind {
            RefusalKind::Throttled => {
                let (left_at, wait) = (self.node(node).left_at, until.since(now));
                let lane = self.lane_mut(node);
                lane.limits.concurrency.slow_down(sent_at, now, until);
                let in_flight = lane.queues.in_flight - lane.queues.posting;
                let refusal = ThrottledSubmission {
                    admitted: sent_at,
                    left_at,
                    now,
                    wait,
                    is_asked: heeded.is_some(),
                    in_flight,
                };
                if let Some(discovery) = &mut lane.limits.discovery {
                    discovery.refused(refusal);
                }
            }
            RefusalKind::NotSent => {
                let left_at = self.node(node).left_at;
                let lane = self.lane_mut(node);
                lane.limits.concurrency.hold(until);
                if let Some(discovery) = &mut lane.limits.discovery {
                    discovery.not_sent(left_at);
                }
            }
            RefusalKind::Retryable if heeded.is_some_and(|heeded| heeded.is_capped) => {
                self.lane_mut(node).limits.concurrency.hold_and_probe(until);
            }
            RefusalKind::Retryable if heeded.is_some() => {
                self.lane_mut(node).limits.concurrency.hold(until);
            }
            RefusalKind::Retryable | RefusalKind::Unreachable | RefusalKind::ServiceUnusable => {}
            RefusalKind::InvalidRequest => self.node_mut(node).is_inline = true,
        }
        if kind == RefusalKind::Unreachable {
            self.lane_mut(node).unreachable_since.get_or_insert(now);
        } else {
            self.lane_mut(node).has_reached_service = true;
        }
        match next {
            NextStep::Resubmit { not_before } => {
                let not_before = *not_before;
                self.set_phase(node, Phase::Ready { not_before });
            }
            // Only an accepted task can continue, be retried or detached from.
            NextStep::Fail
            | NextStep::Continue
            | NextStep::Retry { .. }
            | NextStep::Detach { .. }
            | NextStep::Missing { .. } => {
                self.sync_end(node);
            }
        }
    }

    /// Whether a refusal and the step that follows it mean that no request of this run can succeed.
    pub(crate) fn halts_after(&self, node: NodeIx, kind: RefusalKind, next: &NextStep) -> bool {
        match kind {
            RefusalKind::ServiceUnusable => true,
            RefusalKind::Unreachable => !self.lane(node).has_reached_service && *next == NextStep::Fail,
            RefusalKind::Throttled
            | RefusalKind::NotSent
            | RefusalKind::Retryable
            | RefusalKind::InvalidRequest => false,
        }
    }
}
