//! The video is on disk, or could not be fetched this time.

use std::time::Duration;

use workflow::plan::NodeIx;

use crate::artifact::Artifact;
use crate::limits::jitter;
use crate::state::{Phase, RunState};
use crate::timestamp::Timestamp;
use crate::{Action, Failure, FailureKind, Outcome};

/// So many more bytes on disk make a broken download worth as many tries again.
const MIN_PROGRESS_BYTES: u64 = 1 << 20;

impl RunState {
    pub(crate) fn downloaded(
        &mut self,
        node: NodeIx,
        artifact: Artifact,
        cost: Option<i64>,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let Phase::Downloading(download) = &self.node(node).phase else { return };
        let task = download.task.clone();
        self.settle_reservation(node, cost);
        self.limits.downloads.speed_up();
        self.node_mut(node).done_at = Some(now);
        self.end(node, Outcome::Done { artifact, task });
        self.look_up_successors(node, now, actions);
    }

    /// A download that broke off goes on where it was, as long as that leads further. Otherwise tries go by turns to the address that the
    /// service gave and to its content endpoint. When all have failed the task is kept for a later run: it is paid for.
    pub(crate) fn download_failed(
        &mut self,
        node: NodeIx,
        failure: Failure,
        partial_bytes: u64,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let Phase::Downloading(download) = &self.node(node).phase else { return };
        let mut download = download.clone();
        let state = self.node_mut(node);
        let goes_further = partial_bytes > state.partial_bytes;
        if partial_bytes >= state.partial_bytes.saturating_add(MIN_PROGRESS_BYTES) {
            state.download_tries = 0;
        }
        state.partial_bytes = partial_bytes;
        state.download_tries += 1;
        let tries = state.download_tries;
        let patient = tries < self.policy.max_download_attempts && failure.kind != FailureKind::Local;
        if !patient {
            // The video is there and cannot be had: only where the file says so is another one paid for.
            let is_lost = matches!(failure.kind, FailureKind::Corrupt | FailureKind::Expired);
            if is_lost && self.may_retry(node, failure.kind) {
                actions.push(Action::ExpireTask { node, attempt: download.attempt });
                self.settle_reservation(node, None);
                self.retry(node, failure, now);
                return;
            }
            let reason = format!("its video could not be fetched: {}", failure.message);
            self.end(node, Outcome::Detached { task: download.task, reason });
            return;
        }
        // An address that is dead stays dead: the content endpoint is asked at once.
        let is_dead = failure.kind == FailureKind::Expired && download.uses_url();
        let wait = if is_dead { Duration::ZERO } else { self.policy.backoff_after(tries) };
        let wait = failure.retry_after.unwrap_or(wait);
        let wait = wait + jitter(self.policy.seed, node, tries, wait);
        if failure.kind == FailureKind::RateLimited || failure.retry_after.is_some() {
            self.limits.downloads.slow_down(now, now.after(wait));
        }
        self.node_mut(node).last_error = Some(failure.message);
        download.not_before = now.after(wait);
        if !goes_further {
            download.source_index += 1;
        }
        self.set_phase(node, Phase::ReadyToDownload(download));
    }
}
