//! A download finished or failed.

use std::time::Duration;

use workflow::plan::NodeIx;
use workflow::units::Money;

use crate::limits::jitter;
use crate::state::{Phase, RunState};
use crate::{Action, Failure, FailureKind, NextStep, Timestamp};

impl RunState {
    pub(crate) fn downloaded(
        &mut self,
        node: NodeIx,
        cost: Option<Money>,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        if !matches!(self.node(node).phase, Phase::Downloading(_)) {
            return;
        }
        self.spend_reservation(node, cost);
        self.limits.downloads.speed_up();
        self.sync_end(node);
        self.lookup_successors(node, now, actions);
    }

    /// An interrupted download resumes as long as that makes progress. Otherwise tries alternate between the task's URL and the content
    /// endpoint. When all have failed, the run detaches: the task is paid for.
    pub(crate) fn download_failed(
        &mut self,
        node: NodeIx,
        failure: &Failure,
        partial_bytes: u64,
        next: &NextStep,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let Phase::Downloading(download) = &self.node(node).phase else { return };
        let mut download = download.clone();
        let tries = self.failed_downloads(node, partial_bytes);
        let state = self.node_mut(node);
        let got_further = partial_bytes > state.partial_bytes;
        state.failed_downloads = tries;
        state.partial_bytes = partial_bytes;
        match next {
            NextStep::Continue => {}
            NextStep::Retry { .. } | NextStep::Resubmit { .. } => {
                actions.push(Action::ExpireTask { node, attempt: download.attempt });
                self.task_ended(node, next);
                return;
            }
            NextStep::Fail | NextStep::Detach { .. } => {
                self.sync_end(node);
                return;
            }
        }
        // An expired URL stays expired: use the content endpoint at once.
        let is_dead = failure.kind == FailureKind::Expired && download.uses_url();
        let wait = if is_dead { Duration::ZERO } else { self.policy.backoff_after(tries) };
        let wait = failure.retry_after.unwrap_or(wait);
        let wait = wait + jitter(self.policy.seed, node, tries, wait);
        if failure.kind == FailureKind::RateLimited || failure.retry_after.is_some() {
            self.limits.downloads.slow_down(now, now.after(wait));
        }
        download.not_before = now.after(wait);
        if !got_further {
            download.source_index += 1;
        }
        self.set_phase(node, Phase::ReadyToDownload(download));
    }
}
