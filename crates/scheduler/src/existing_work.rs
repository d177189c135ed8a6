//! What the ledger knows of the work of a node when a run looks it up.

use serde::{Deserialize, Serialize};

use crate::artifact::Artifact;
use crate::ids::{AttemptId, RunId, TaskId};
use crate::timestamp::Timestamp;

/// Work that the ledger records for a key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ExistingWork {
    /// None that counts: the node is to be executed.
    None,
    /// The video exists and is verified.
    Completed {
        /// The attempt that rendered it.
        attempt: AttemptId,
        /// The task that rendered it.
        task: TaskId,
        artifact: Artifact,
    },
    /// A task is in flight, or finished at the service without having been downloaded.
    InFlight {
        attempt: AttemptId,
        task: TaskId,
        /// When it was submitted.
        since: Timestamp,
        /// Whether its video was downloaded once and is no longer on disk.
        was_downloaded: bool,
        /// Whether the service did not know the task when an earlier run asked.
        is_missing: bool,
        /// Whether it is missing because a `retry` of an earlier run gave it up, without another being accepted since.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_expired: bool,
        /// Whether it was submitted with another API key: if that is another account, this run cannot see it.
        is_other_account: bool,
        /// Why the video on disk cannot be used although its bytes are those that were downloaded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        damage: Option<String>,
    },
    /// A POST was sent without a response, and is not resolved yet.
    Indeterminate {
        attempt: AttemptId,
        /// When the intent was recorded.
        intended_at: Timestamp,
        /// The id that the response named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        suggested_task: Option<TaskId>,
        /// What went wrong, where a response was recorded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A POST was sent without a response, and a person abandoned it: it is submitted again only on request.
    Abandoned { attempt: AttemptId },
    /// The same work is in flight, or may be, at another service.
    OtherService {
        service: String,
        /// The attempt there.
        attempt: AttemptId,
        /// Its task, if known.
        task: Option<TaskId>,
    },
    /// Another live run is about to submit the same node.
    ClaimedByOtherRun { run: RunId },
    /// The record has changed since the lookup: an attempt of the same run holds the key, because another command has fetched or adopted
    /// its task, or the node is another render by now. It is looked up again.
    Changed {
        /// The attempt that holds the key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attempt: Option<AttemptId>,
    },
}

impl ExistingWork {
    /// Its name in output and in stored events.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Completed { .. } => "completed",
            Self::InFlight { .. } => "in-flight",
            Self::Indeterminate { .. } => "indeterminate",
            Self::Abandoned { .. } => "abandoned",
            Self::OtherService { .. } => "other-service",
            Self::ClaimedByOtherRun { .. } => "claimed-by-other-run",
            Self::Changed { .. } => "changed",
        }
    }

    /// Whether a `retry` may pay for another task in place of this one, should it fail: not where the task's video has been here before, and not
    /// where an earlier run has lost sight of the task. It is asked about, and a person decides.
    pub fn may_be_retried(&self) -> bool {
        match self {
            Self::InFlight { was_downloaded, is_missing, is_expired, .. } => {
                !was_downloaded && (!is_missing || *is_expired)
            }
            Self::None
            | Self::Completed { .. }
            | Self::Indeterminate { .. }
            | Self::Abandoned { .. }
            | Self::OtherService { .. }
            | Self::ClaimedByOtherRun { .. }
            | Self::Changed { .. } => true,
        }
    }

    /// The task that is in flight or rendered the video, if known.
    pub fn task(&self) -> Option<&TaskId> {
        match self {
            Self::Completed { task, .. } | Self::InFlight { task, .. } => Some(task),
            Self::OtherService { task, .. } => task.as_ref(),
            Self::None
            | Self::Indeterminate { .. }
            | Self::Abandoned { .. }
            | Self::ClaimedByOtherRun { .. }
            | Self::Changed { .. } => None,
        }
    }
}
