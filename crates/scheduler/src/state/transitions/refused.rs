//! The service surely did not accept the request: come back, change it, or give up. Nothing was paid.

use workflow::plan::NodeIx;

use crate::state::limits::spread;
use crate::state::{Failure, FailureKind, Halt, Outcome, Phase, Refusal, RefusalKind, RunState};
use crate::time::Millis;

impl RunState {
    pub(in crate::state) fn refused(&mut self, node: NodeIx, refusal: Refusal, now: Millis) {
        if !matches!(self.node(node).phase, Phase::Submitting { .. }) {
            return;
        }
        self.let_go(node);
        if self.halt.is_some() {
            self.end(node, Outcome::NotBegun);
            return;
        }
        self.node_mut(node).post_tries += 1;
        let tries = self.node(node).post_tries;
        let Refusal { kind, failure, retry_after } = refusal;
        let wait = retry_after.unwrap_or_else(|| self.policy.wait_after(tries));
        let until = now.after(wait);
        // What was refused together does not come back together.
        let back_at = until.after(spread(self.policy.seed, node, tries, wait));
        let patient = tries < self.policy.submit_tries;
        match kind {
            RefusalKind::Later => {
                self.limits.places.slow_down(self.node(node).sent_at, now, until);
                self.come_back_or_fail(node, failure, patient, back_at);
            }
            RefusalKind::Again => {
                if retry_after.is_some() {
                    self.limits.places.hold(until);
                }
                self.come_back_or_fail(node, failure, patient, back_at);
            }
            RefusalKind::Request => {
                let state = self.node_mut(node);
                // What moderation refuses is never sent again in any form.
                if state.by_url && !state.inline && failure.kind != FailureKind::InputModerated {
                    // The service may no longer reach a frame that it keeps itself: send the picture instead, once.
                    state.inline = true;
                    self.put(node, Phase::Ready { not_before: now });
                } else {
                    self.end(node, Outcome::Failed { failure, task: None });
                }
            }
            RefusalKind::Service => {
                self.end(node, Outcome::Failed { failure: failure.clone(), task: None });
                self.unusable(failure);
            }
        }
    }

    fn come_back_or_fail(&mut self, node: NodeIx, failure: Failure, patient: bool, at: Millis) {
        if patient {
            self.node_mut(node).trouble = Some(failure.message);
            self.put(node, Phase::Ready { not_before: at });
        } else {
            self.end(node, Outcome::Failed { failure, task: None });
        }
    }

    /// No request of this run can succeed: nothing more is submitted.
    pub(in crate::state) fn unusable(&mut self, failure: Failure) {
        if self.halt.is_none() {
            self.halt = Some(Halt::Unusable { failure });
            self.end_what_has_not_begun();
        }
    }
}
