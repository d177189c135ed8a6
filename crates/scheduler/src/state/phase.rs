//! Where one node stands.

use std::time::Duration;

use workflow::plan::NodeKey;

use super::action::Download;
use super::outcome::{Decision, Outcome};
use crate::budget::Amount;
use crate::ids::{AttemptId, TaskId};
use crate::polling::Seen;
use crate::time::Millis;

/// The phases of a node, in the order in which it passes through them.
#[derive(Debug, Clone, PartialEq)]
pub enum Phase {
    /// It waits for the nodes before it.
    Waiting,
    /// The ledger is being asked about its key.
    Looking,
    /// Another run that is alive now is submitting it.
    Elsewhere,
    /// It may be submitted, as soon as there is room.
    Ready {
        /// Not before.
        not_before: Millis,
    },
    /// Its request is being made ready.
    Preparing,
    /// Its intent is on disk and the POST is on its way.
    Submitting {
        /// The attempt.
        attempt: AttemptId,
    },
    /// Its task is out at the service.
    Out {
        /// The attempt.
        attempt: AttemptId,
        /// The task.
        task: TaskId,
        /// When it was submitted.
        since: Millis,
    },
    /// Its video waits to be fetched.
    Finished(Download),
    /// Its video is being fetched.
    Downloading(Download),
    /// It has ended.
    Over(Outcome),
}

impl Phase {
    /// Whether the node counts against the limit of tasks in flight.
    #[must_use]
    pub fn is_in_flight(&self) -> bool {
        match self {
            Self::Preparing | Self::Submitting { .. } | Self::Out { .. } => true,
            Self::Waiting
            | Self::Looking
            | Self::Elsewhere
            | Self::Ready { .. }
            | Self::Finished(_)
            | Self::Downloading(_)
            | Self::Over(_) => false,
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
    pub submitted_at: Option<Millis>,
    /// When its video was on disk, in this run.
    pub done_at: Option<Millis>,
    /// The latest trouble that is being dealt with, for people.
    pub trouble: Option<String>,
    /// The node's key, once it is known.
    pub(super) key: Option<NodeKey>,
    /// What is held of the budget for it.
    pub(super) held: Option<Amount>,
    /// When the request or the poll that is on its way was let go.
    pub(super) sent_at: Millis,
    /// What its task has said so far in this run.
    pub(super) seen: Option<Box<Seen>>,
    /// When its task is asked about next.
    pub(super) poll_at: Option<Millis>,
    pub(super) post_tries: u32,
    pub(super) download_tries: u32,
    /// Bytes of its video that are on disk, to go on from.
    pub(super) kept: u64,
    pub(super) resubmissions: u32,
    /// Tasks that this run submitted for it and that another attempt has taken the place of.
    pub(super) replaced: u32,
    pub(super) inline: bool,
    pub(super) by_url: bool,
    pub(super) was_downloaded: bool,
    pub(super) unreachable_since: Option<Millis>,
    /// Since when the service has said at every poll that it does not know the task.
    pub(super) missing_since: Option<Millis>,
}

impl NodeState {
    pub(super) fn new() -> Self {
        Self {
            phase: Phase::Waiting,
            decision: None,
            progress: None,
            submitted_at: None,
            done_at: None,
            trouble: None,
            key: None,
            held: None,
            sent_at: Millis::default(),
            seen: None,
            poll_at: None,
            post_tries: 0,
            download_tries: 0,
            kept: 0,
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
            Phase::Over(outcome) => Some(outcome),
            _ => None,
        }
    }

    /// The node's task, while it is known.
    #[must_use]
    pub fn task(&self) -> Option<&TaskId> {
        match &self.phase {
            Phase::Finished(download) | Phase::Downloading(download) => Some(&download.task),
            Phase::Out { task, .. }
            | Phase::Over(Outcome::Done { task, .. } | Outcome::Detached { task, .. }) => Some(task),
            Phase::Over(Outcome::Failed { task, .. } | Outcome::NotSelected { task }) => task.as_ref(),
            Phase::Waiting
            | Phase::Looking
            | Phase::Elsewhere
            | Phase::Ready { .. }
            | Phase::Preparing
            | Phase::Submitting { .. }
            | Phase::Over(
                Outcome::Ambiguous { .. }
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
