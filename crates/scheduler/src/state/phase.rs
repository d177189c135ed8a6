//! Where one node stands.

use std::time::Duration;

use workflow::plan::NodeKey;

use crate::Download;
use crate::budget::Amount;
use crate::ids::{AttemptId, TaskId};
use crate::polling::TaskObservations;
use crate::timestamp::Timestamp;
use crate::{Decision, Outcome};

/// The phases of a node, in the order in which it passes through them.
#[derive(Debug, Clone, PartialEq)]
pub enum Phase {
    /// It waits for the nodes before it.
    Waiting,
    /// The ledger is being asked about its key.
    LookingUp,
    /// Another run that is alive now is submitting it.
    ClaimedByOtherRun,
    /// It may be submitted, as soon as there is room.
    Ready {
        /// Not before.
        not_before: Timestamp,
    },
    /// Its request is being made ready.
    Preparing,
    /// Its intent is on disk and the POST is on its way.
    Submitting {
        /// The attempt.
        attempt: AttemptId,
    },
    /// Its task is out at the service.
    InFlight {
        /// The attempt.
        attempt: AttemptId,
        /// The task.
        task: TaskId,
        /// When it was submitted.
        since: Timestamp,
    },
    /// Its video waits to be fetched.
    ReadyToDownload(Download),
    /// Its video is being fetched.
    Downloading(Download),
    /// It has ended.
    Done(Outcome),
}

impl Phase {
    /// Whether the node counts against the limit of tasks in flight.
    #[must_use]
    pub fn is_in_flight(&self) -> bool {
        match self {
            Self::Preparing | Self::Submitting { .. } | Self::InFlight { .. } => true,
            Self::Waiting
            | Self::LookingUp
            | Self::ClaimedByOtherRun
            | Self::Ready { .. }
            | Self::ReadyToDownload(_)
            | Self::Downloading(_)
            | Self::Done(_) => false,
        }
    }
}

/// What is known of one node.
#[derive(Debug, Clone)]
pub struct NodeState {
    /// Where it stands.
    pub phase: Phase,
    /// What was decided about it, once that is known.
    pub decision: Option<Decision>,
    /// The task's progress in percent, as last reported.
    pub progress: Option<u8>,
    /// When its task was submitted.
    pub submitted_at: Option<Timestamp>,
    /// When its video was on disk, in this run.
    pub done_at: Option<Timestamp>,
    /// The latest trouble that is being dealt with, for people.
    pub last_error: Option<String>,
    /// The node's key, once it is known.
    pub(super) key: Option<NodeKey>,
    /// What is held of the budget for it.
    pub(super) reserved: Option<Amount>,
    /// When the request or the poll that is on its way was let go.
    pub(super) sent_at: Timestamp,
    /// What its task has said so far in this run.
    pub(super) observations: Option<Box<TaskObservations>>,
    /// When its task is asked about next.
    pub(super) poll_at: Option<Timestamp>,
    pub(super) post_tries: u32,
    pub(super) download_tries: u32,
    /// Bytes of its video that are on disk, to go on from.
    pub(super) partial_bytes: u64,
    pub(super) resubmissions: u32,
    /// Tasks that this run submitted for it and that another attempt has taken the place of.
    pub(super) replaced: u32,
    pub(super) inline: bool,
    pub(super) by_url: bool,
    pub(super) was_downloaded: bool,
    pub(super) unreachable_since: Option<Timestamp>,
    /// Since when the service has said at every poll that it does not know the task.
    pub(super) missing_since: Option<Timestamp>,
}

impl NodeState {
    pub(super) fn new() -> Self {
        Self {
            phase: Phase::Waiting,
            decision: None,
            progress: None,
            submitted_at: None,
            done_at: None,
            last_error: None,
            key: None,
            reserved: None,
            sent_at: Timestamp::default(),
            observations: None,
            poll_at: None,
            post_tries: 0,
            download_tries: 0,
            partial_bytes: 0,
            resubmissions: 0,
            replaced: 0,
            inline: false,
            by_url: false,
            was_downloaded: false,
            unreachable_since: None,
            missing_since: None,
        }
    }

    /// How the node ended, if it has.
    #[must_use]
    pub fn outcome(&self) -> Option<&Outcome> {
        match &self.phase {
            Phase::Done(outcome) => Some(outcome),
            _ => None,
        }
    }

    /// The node's task, while it is known.
    #[must_use]
    pub fn task(&self) -> Option<&TaskId> {
        match &self.phase {
            Phase::ReadyToDownload(download) | Phase::Downloading(download) => Some(&download.task),
            Phase::InFlight { task, .. }
            | Phase::Done(Outcome::Done { task, .. } | Outcome::Detached { task, .. }) => Some(task),
            Phase::Done(Outcome::Failed { task, .. } | Outcome::NotSelected { task }) => task.as_ref(),
            Phase::Waiting
            | Phase::LookingUp
            | Phase::ClaimedByOtherRun
            | Phase::Ready { .. }
            | Phase::Preparing
            | Phase::Submitting { .. }
            | Phase::Done(
                Outcome::Indeterminate { .. }
                | Outcome::Blocked { .. }
                | Outcome::Unpicked { .. }
                | Outcome::NotBegun,
            ) => None,
        }
    }

    /// From submission to the file on disk, where both happened.
    #[must_use]
    pub fn took(&self) -> Option<Duration> {
        Some(self.done_at?.since(self.submitted_at?))
    }
}
