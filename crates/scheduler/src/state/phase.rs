//! Phase and state of one node.

use workflow::plan::NodeKey;

use crate::budget::Amount;
use crate::ids::{AttemptId, TaskId};
use crate::timestamp::Timestamp;
use crate::{Artifact, Download, FailureKind, Outcome, Shot, StatusKind};

/// The phases of a node, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Phase {
    /// It waits for its dependencies.
    Pending,
    /// Its key is being looked up in the ledger.
    LookingUp,
    /// Another live run is submitting it. It is waited for as long as for a task: until the shot's timeout.
    ClaimedByOtherRun {
        /// Since when this run has known that.
        since: Timestamp,
    },
    /// It may be submitted as soon as limits and budget admit it.
    Ready { not_before: Timestamp },
    /// Its request is being prepared.
    Preparing,
    /// Its intent is recorded and its POST is in progress.
    Submitting { attempt: AttemptId },
    /// Its task is in flight.
    InFlight {
        attempt: AttemptId,
        task: TaskId,
        /// When it was submitted.
        since: Timestamp,
    },
    /// Its video is ready to be downloaded.
    ReadyToDownload(Box<Download>),
    /// Its video is being downloaded.
    Downloading(Box<Download>),
    /// It has ended: see [`NodeState::outcome`].
    Done,
}

impl Phase {
    /// Its name in logs.
    pub(crate) const fn as_str(&self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::LookingUp => "looking-up",
            Self::ClaimedByOtherRun { .. } => "claimed-by-other-run",
            Self::Ready { .. } => "ready",
            Self::Preparing => "preparing",
            Self::Submitting { .. } => "submitting",
            Self::InFlight { .. } => "in-flight",
            Self::ReadyToDownload(_) => "ready-to-download",
            Self::Downloading(_) => "downloading",
            Self::Done => "done",
        }
    }

    /// Whether the node waits for its request. In a replay it is still ready: its intent shows that it was admitted
    /// ([`super::RunState::replaying`]).
    pub(crate) fn is_being_prepared(&self) -> bool {
        matches!(self, Self::Preparing | Self::Ready { .. })
    }

    /// Whether the node counts against the limit of tasks in flight.
    pub fn is_in_flight(&self) -> bool {
        match self {
            Self::Preparing | Self::Submitting { .. } | Self::InFlight { .. } => true,
            Self::Pending
            | Self::LookingUp
            | Self::ClaimedByOtherRun { .. }
            | Self::Ready { .. }
            | Self::ReadyToDownload(_)
            | Self::Downloading(_)
            | Self::Done => false,
        }
    }
}

/// What the record says about the task of an earlier run.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of the record, not states of one thing")]
pub(super) struct AdoptedTask {
    /// Its video was downloaded before and is no longer on disk.
    pub(super) was_downloaded: bool,
    /// The service did not know it when an earlier run asked.
    pub(super) was_missing: bool,
    /// It was submitted with another API key.
    pub(super) is_other_account: bool,
    /// No `retry` pays for another task in its place ([`crate::ExistingWork::may_be_retried`]).
    pub(super) excludes_retry: bool,
}

/// What is wrong with a video at each of its addresses, as of the last try there: [`FailureKind::Corrupt`] or [`FailureKind::Expired`].
#[derive(Debug, Clone, Copy, Default)]
pub struct UnusableCopies {
    /// At `metadata.url`.
    url: Option<FailureKind>,
    /// At the content endpoint.
    content: Option<FailureKind>,
}

impl UnusableCopies {
    /// After one more failed try.
    pub fn after(self, download: &Download, failure: FailureKind) -> Self {
        let kind = Some(failure).filter(|kind| matches!(kind, FailureKind::Corrupt | FailureKind::Expired));
        if download.uses_url() { Self { url: kind, ..self } } else { Self { content: kind, ..self } }
    }

    /// Why there is no video to be had, as far as is known: as [`Self::everywhere`], or because the service's own endpoint says that it is gone. That
    /// is no proof: another address may have it, which cannot be reached or refuses access.
    pub fn probably(self, download: &Download, now: Timestamp) -> Option<FailureKind> {
        self.everywhere(download, now).or(self.content.filter(|kind| *kind == FailureKind::Expired))
    }

    /// Why no address has the video any more, by the service's own endpoint. `None` where one may: it cannot be reached or refuses access, and the
    /// files have not expired by the time that the service gave.
    pub fn everywhere(self, download: &Download, now: Timestamp) -> Option<FailureKind> {
        let has_expired = download.expires_at.is_some_and(|expires_at| now >= expires_at);
        self.content.filter(|_| download.url.is_none() || self.url.is_some() || has_expired)
    }
}

/// A node in a run: its projection, and what else the scheduler needs.
#[derive(Debug, Clone)]
pub struct NodeState {
    pub phase: Phase,
    pub(super) shot: Shot,
    /// The node's key, once it is known.
    pub(super) key: Option<NodeKey>,
    /// The number in the list of renders of its instance, once its key is known.
    pub(super) render: Option<u32>,
    /// What is reserved of the budget for it.
    pub(super) reserved: Option<Amount>,
    /// When the request or the poll in progress was sent.
    pub(super) sent_at: Timestamp,
    /// When the POST of its current attempt left.
    pub(super) left_at: Timestamp,
    /// When its task is polled next.
    pub(super) poll_at: Option<Timestamp>,
    /// When the run detaches from its task even if it cannot be polled.
    pub(super) deadline: Option<Timestamp>,
    /// Refusals of its request since the last acceptance.
    pub(super) refusals: u32,
    /// Failed downloads of its video since the last progress.
    pub(super) failed_downloads: u32,
    /// Bytes of its video on disk, from which a download resumes.
    pub(super) partial_bytes: u64,
    /// Where its video cannot be had any more.
    pub(super) unusable_copies: UnusableCopies,
    /// Whether to inline frames: the service refused their URLs.
    pub(super) is_inline: bool,
    /// Whether the request in progress refers to frames by URL.
    pub(super) by_url: bool,
    /// What the record says about the task that it adopted.
    pub(super) adopted: AdoptedTask,
    /// Whether the service has reported on its task in this run.
    pub(super) has_answered: bool,
    pub(super) unreachable_since: Option<Timestamp>,
    /// Since when every poll has reported that the task is unknown.
    pub(super) missing_since: Option<Timestamp>,
}

impl NodeState {
    pub(super) fn new() -> Self {
        Self {
            phase: Phase::Pending,
            shot: Shot::new(true),
            key: None,
            render: None,
            reserved: None,
            sent_at: Timestamp::default(),
            left_at: Timestamp::default(),
            poll_at: None,
            deadline: None,
            refusals: 0,
            failed_downloads: 0,
            partial_bytes: 0,
            unusable_copies: UnusableCopies::default(),
            is_inline: false,
            by_url: false,
            adopted: AdoptedTask::default(),
            has_answered: false,
            unreachable_since: None,
            missing_since: None,
        }
    }

    /// The projection of its events: attempts, status, decision, last error.
    pub fn shot(&self) -> &Shot {
        &self.shot
    }

    /// The kind of its status. A request in preparation counts as being submitted.
    pub fn kind(&self) -> StatusKind {
        if self.phase == Phase::Preparing { StatusKind::Submitting } else { self.shot.kind() }
    }

    /// How the node ended, if it has.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.shot.outcome()
    }

    /// Its finished video.
    pub fn artifact(&self) -> Option<&Artifact> {
        match self.outcome() {
            Some(Outcome::Done { artifact, .. }) => Some(artifact),
            _ => None,
        }
    }

    /// The node's task, if known.
    pub fn task(&self) -> Option<&TaskId> {
        self.shot.task()
    }
}
