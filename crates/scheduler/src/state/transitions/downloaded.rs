//! A download finished or failed.

use std::time::Duration;

use workflow::plan::NodeIx;
use workflow::units::Money;

use crate::limits::jitter;
use crate::state::{Phase, RunState};
use crate::{Action, Download, Failure, FailureKind, NextStep, Timestamp};

/// How long before its expiry a file is downloaded whatever the service asks for.
const EXPIRY_MARGIN: Duration = Duration::from_mins(1);

/// The next try of a download.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NextDownload {
    not_before: Timestamp,
    /// Whether it goes to the video's other address.
    switches: bool,
    /// Until when other downloads wait as well.
    hold_until: Option<Timestamp>,
}

impl RunState {
    pub(crate) fn downloaded(
        &mut self,
        node: NodeIx,
        cost: Option<Money>,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        if self.download_of(node).is_none() {
            return;
        }
        self.spend_reservation(node, cost);
        self.lane_mut(node).limits.downloads.speed_up();
        self.sync_end(node);
        self.lookup_successors(node, now, actions);
    }

    /// An interrupted download resumes as long as that makes progress. Otherwise tries alternate between the task's URL and the content
    /// endpoint. When all have failed, the run detaches: the task is paid for. Where the video is nowhere to be had, the task is missing.
    pub(crate) fn download_failed(
        &mut self,
        node: NodeIx,
        failure: &Failure,
        partial_bytes: u64,
        next: &NextStep,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let Some(mut download) = self.download_of(node).cloned() else { return };
        let tries = self.failed_downloads(node, partial_bytes);
        let next_try = self.next_download(node, failure, partial_bytes, now);
        let state = self.node_mut(node);
        state.unusable_copies = state.unusable_copies.after(&download, failure.kind);
        state.failed_downloads = tries;
        state.partial_bytes = partial_bytes;
        match next {
            NextStep::Continue => {}
            NextStep::Retry { .. } | NextStep::Resubmit { .. } => {
                actions.push(Action::ExpireTask { node, attempt: download.attempt });
                self.task_ended(node, next);
                return;
            }
            NextStep::Missing { .. } => {
                self.spend_reservation(node, None);
                self.sync_end(node);
                return;
            }
            NextStep::Fail | NextStep::Detach { .. } => {
                self.sync_end(node);
                return;
            }
        }
        if let Some(next_try) = next_try {
            if let Some(until) = next_try.hold_until {
                self.lane_mut(node).limits.downloads.slow_down(now, until);
            }
            download.not_before = next_try.not_before;
            download.source_index += u32::from(next_try.switches);
        }
        self.set_phase(node, Phase::ReadyToDownload(Box::new(download)));
    }

    /// The next try after a failed one; `None` if its time is up before.
    ///
    /// A wait that the service asks for is heeded unless it is too long ([`crate::Policy::max_retry_after`]), the file expires before or the
    /// time for the download is up. Then the video's other address is tried instead.
    pub(crate) fn next_download(
        &self,
        node: NodeIx,
        failure: &Failure,
        partial_bytes: u64,
        now: Timestamp,
    ) -> Option<NextDownload> {
        let state = self.node(node);
        let download = self.download_of(node)?;
        let deadline = download.deadline.unwrap_or(Timestamp(i64::MAX));
        if now >= deadline {
            return None;
        }
        let gained = partial_bytes.saturating_sub(state.partial_bytes);
        let elapsed = now.since(state.sent_at.max(download.not_before));
        let is_slow = self.policy(node).min_download_rate.exceeds(gained, elapsed);
        let switches = gained == 0 || is_slow;
        let tries = self.failed_downloads(node, partial_bytes);
        // An expired URL stays expired: use the content endpoint at once.
        let is_dead = failure.kind == FailureKind::Expired && download.uses_url();
        let own_wait = if is_dead { Duration::ZERO } else { self.policy(node).backoff_after(tries) };
        let heeded = self.policy(node).heeded(failure.retry_after);
        let wait = heeded.map_or(own_wait, |heeded| heeded.wait.max(own_wait));
        let jittered = |wait| now.after(wait).after(jitter(self.policy(node).seed, node, tries, wait));
        let not_before = jittered(wait);
        let is_throttled = failure.kind == FailureKind::RateLimited || heeded.is_some();
        let is_too_late = not_before >= deadline || expires_before(download, not_before);
        let is_capped = heeded.is_some_and(|heeded| heeded.is_capped);
        if heeded.is_some() && (is_too_late || (is_capped && download.uses_url())) {
            if download.url.is_none() && !expires_before(download, not_before) {
                return None;
            }
            let not_before = jittered(own_wait).min(latest_start(download, now));
            // Not a hold for the others, whose files may be elsewhere.
            return Some(NextDownload { not_before, switches: true, hold_until: Some(now) });
        }
        Some(NextDownload { not_before, switches, hold_until: is_throttled.then_some(not_before) })
    }

    /// The download of a node that is being downloaded or, in a replay, has not been admitted yet, because that depends on timers.
    pub(crate) fn download_of(&self, node: NodeIx) -> Option<&Download> {
        match &self.node(node).phase {
            Phase::Downloading(download) | Phase::ReadyToDownload(download) => Some(download),
            Phase::Pending
            | Phase::LookingUp
            | Phase::ClaimedByOtherRun { .. }
            | Phase::Ready { .. }
            | Phase::Preparing
            | Phase::Submitting { .. }
            | Phase::InFlight { .. }
            | Phase::Done => None,
        }
    }

    /// Whether a ready download may not wait until `until`: its file expires before.
    pub(crate) fn is_urgent(&self, node: NodeIx, until: Timestamp) -> bool {
        matches!(&self.node(node).phase, Phase::ReadyToDownload(download) if expires_before(download, until))
    }
}

/// Whether the file may have expired at `until`.
fn expires_before(download: &Download, until: Timestamp) -> bool {
    download.expires_at.is_some_and(|expires_at| until.after(EXPIRY_MARGIN) >= expires_at)
}

/// The latest time to begin with a file that expires.
fn latest_start(download: &Download, now: Timestamp) -> Timestamp {
    let margin = i64::try_from(EXPIRY_MARGIN.as_millis()).unwrap_or(i64::MAX);
    download
        .expires_at
        .map_or(Timestamp(i64::MAX), |expires_at| Timestamp(expires_at.0.saturating_sub(margin)).max(now))
}
