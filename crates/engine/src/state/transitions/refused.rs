//! The service surely did not accept the request: come back, change it, or give up. Nothing was paid.

use workflow::plan::NodeIx;

use crate::state::{Failure, Halt, Outcome, Phase, Refusal, RefusalKind, RunState};
use crate::time::Millis;

impl RunState {
    pub(in crate::state) fn refused(&mut self, node: NodeIx, refusal: Refusal, now: Millis) {
        if !matches!(self.node(node).phase, Phase::Submitting { .. }) {
            return;
        }
        if self.halt.is_some() {
            self.node_mut(node).end(Outcome::NotBegun);
            return;
        }
        self.node_mut(node).post_tries += 1;
        let tries = self.node(node).post_tries;
        let Refusal { kind, failure, retry_after } = refusal;
        let wait = retry_after.unwrap_or_else(|| self.policy.wait_after(tries));
        let patient = tries < self.policy.submit_tries;
        match kind {
            RefusalKind::Later => {
                self.limiter.slow_down(now, wait);
                self.come_back_or_fail(node, failure, patient, now.after(wait));
            }
            RefusalKind::Again => self.come_back_or_fail(node, failure, patient, now.after(wait)),
            RefusalKind::Request => {
                let state = self.node_mut(node);
                if state.by_url && !state.inline {
                    // The service may no longer reach a frame that it keeps itself: send the picture instead, once.
                    state.inline = true;
                    state.phase = Phase::Ready { not_before: now };
                } else {
                    state.end(Outcome::Failed { failure, task: None });
                }
            }
            RefusalKind::Service => {
                self.node_mut(node).end(Outcome::Failed { failure: failure.clone(), task: None });
                self.halt.get_or_insert(Halt::Unusable { failure });
            }
        }
    }

    fn come_back_or_fail(&mut self, node: NodeIx, failure: Failure, patient: bool, at: Millis) {
        let state = self.node_mut(node);
        if patient {
            state.trouble = Some(failure.message);
            state.phase = Phase::Ready { not_before: at };
        } else {
            state.end(Outcome::Failed { failure, task: None });
        }
    }
}
