//! The service surely did not accept the request: come back, change it, or give up. Nothing was paid.

use workflow::plan::NodeIx;

use crate::limits::jitter;
use crate::state::{Phase, RunState};
use crate::timestamp::Timestamp;
use crate::{Failure, FailureKind, Halt, Outcome, Refusal, RefusalKind};

impl RunState {
    pub(crate) fn refused(&mut self, node: NodeIx, refusal: Refusal, now: Timestamp) {
        if !matches!(self.node(node).phase, Phase::Submitting { .. }) {
            return;
        }
        self.release_reservation(node);
        if self.halt.is_some() {
            self.end(node, Outcome::NotBegun);
            return;
        }
        self.node_mut(node).post_tries += 1;
        let tries = self.node(node).post_tries;
        let Refusal { kind, failure, retry_after } = refusal;
        let wait = retry_after.unwrap_or_else(|| self.policy.backoff_after(tries));
        let until = now.after(wait);
        // What was refused together does not come back together.
        let back_at = until.after(jitter(self.policy.seed, node, tries, wait));
        let patient = tries < self.policy.max_submit_attempts;
        match kind {
            RefusalKind::Throttled => {
                self.limits.concurrency.slow_down(self.node(node).sent_at, now, until);
                self.retry_post_or_fail(node, failure, patient, back_at);
            }
            RefusalKind::Retryable => {
                if retry_after.is_some() {
                    self.limits.concurrency.hold(until);
                }
                self.retry_post_or_fail(node, failure, patient, back_at);
            }
            RefusalKind::InvalidRequest => {
                let state = self.node_mut(node);
                // What moderation refuses is never sent again in any form.
                if state.by_url && !state.inline && failure.kind != FailureKind::InputModerated {
                    // The service may no longer reach a frame that it keeps itself: send the picture instead, once.
                    state.inline = true;
                    self.set_phase(node, Phase::Ready { not_before: now });
                } else {
                    self.end(node, Outcome::Failed { failure, task: None });
                }
            }
            RefusalKind::ServiceUnusable => {
                self.end(node, Outcome::Failed { failure: failure.clone(), task: None });
                self.unusable(failure);
            }
        }
    }

    fn retry_post_or_fail(&mut self, node: NodeIx, failure: Failure, patient: bool, at: Timestamp) {
        if patient {
            self.node_mut(node).last_error = Some(failure.message);
            self.set_phase(node, Phase::Ready { not_before: at });
        } else {
            self.end(node, Outcome::Failed { failure, task: None });
        }
    }

    /// No request of this run can succeed: nothing more is submitted.
    pub(crate) fn unusable(&mut self, failure: Failure) {
        if self.halt.is_none() {
            self.halt = Some(Halt::ServiceUnusable { failure });
            self.cancel_pending();
        }
    }
}
