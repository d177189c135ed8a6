//! How nodes and runs end. Failures are data: an outcome in the summary, never an error of the run.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use workflow::plan::{NodeIx, RetryOn};

use crate::artifact::Artifact;
use crate::budget::BudgetLimit;
use crate::ids::{AttemptId, TaskId};

/// What is to be done with a node (DESIGN section 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// The video is there and verified: nothing is submitted.
    Reuse,
    /// A task of an earlier run is still out there: it is waited for, not submitted again.
    Adopt,
    /// A task is submitted.
    Execute,
    /// It depends on a frame that is not made yet: it will be submitted unless its video turns out to exist.
    Deferred,
    /// It cannot be done now: see why.
    Blocked,
    /// The run was told to make other shots: this one is not made, and nothing of it is submitted.
    Unselected,
}

impl Decision {
    /// Its name in output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reuse => "reuse",
            Self::Adopt => "adopt",
            Self::Execute => "execute",
            Self::Deferred => "deferred",
            Self::Blocked => "blocked",
            Self::Unselected => "unselected",
        }
    }
}

/// Why something did not work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What kind of trouble, which decides what is done about it.
    pub kind: FailureKind,
    /// What happened, for people: a lower-case fragment.
    pub message: String,
    /// The service's own code, where it gave one (spec 7).
    pub code: Option<String>,
    /// When to come back, where the service said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<Duration>,
}

impl Failure {
    /// A failure without a code of the service.
    #[must_use]
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), code: None, retry_after: None }
    }
}

/// Kinds of trouble (DESIGN section 9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// The prompt or an input image was refused by moderation: never retried.
    InputModerated,
    /// The result was withheld by moderation.
    OutputModerated,
    /// The service refused for too long because of its rate limits.
    RateLimited,
    /// The account is out of credit.
    Quota,
    /// The key is missing, wrong or lacks a permission.
    Unauthorized,
    /// The service refused the request as invalid.
    Invalid,
    /// Passing trouble of the service or the network.
    Transient,
    /// The service no longer has the task or its video.
    Expired,
    /// What was downloaded is not a whole video.
    Corrupt,
    /// A file of this machine could not be read or written.
    Local,
    /// The service failed the task for a reason of its own.
    Task,
    /// Its submission was given up: nobody knows what became of it, and it is not repeated unasked.
    Abandoned,
}

impl FailureKind {
    /// What stands for it in a shot's `retry`; nothing where another attempt would not help or could pay twice, whatever the file says.
    #[must_use]
    pub fn retried_as(self) -> Option<RetryOn> {
        match self {
            Self::OutputModerated => Some(RetryOn::OutputModerated),
            Self::Transient => Some(RetryOn::Transient),
            Self::Task => Some(RetryOn::Failed),
            Self::Expired => Some(RetryOn::Expired),
            Self::Corrupt => Some(RetryOn::Corrupt),
            Self::InputModerated
            | Self::RateLimited
            | Self::Quota
            | Self::Unauthorized
            | Self::Invalid
            | Self::Local
            | Self::Abandoned => None,
        }
    }
}

/// How a node ended in this run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Outcome {
    /// Its video is on disk.
    Done {
        /// The video.
        artifact: Artifact,
        /// The task that made it.
        task: TaskId,
    },
    /// It failed for good in this run.
    Failed {
        /// Why.
        failure: Failure,
        /// The task, if one was accepted.
        task: Option<TaskId>,
    },
    /// A submission may or may not have been accepted; it is not repeated until someone says what became of it.
    Indeterminate {
        /// The attempt to name to `runner resolve`.
        attempt: AttemptId,
        /// What went wrong.
        reason: String,
    },
    /// Its task is out at the service and is left to a later run.
    Detached {
        /// The task.
        task: TaskId,
        /// Why this run does not wait.
        reason: String,
    },
    /// It was not begun because something before it did not end well.
    Blocked {
        /// What it waits for.
        by: NodeIx,
    },
    /// It was not begun because it begins on one of several takes, and nobody has picked one yet.
    Unpicked {
        /// The shots, or instances of them, whose takes are to be picked from.
        takes: Vec<String>,
    },
    /// It was not begun because the run was ended first.
    NotBegun,
    /// It is not made, and the run was told to make other shots.
    NotSelected {
        /// Its task, if one of an earlier run is still out: it stays out, and a run that makes this shot adopts it.
        task: Option<TaskId>,
    },
}

/// Why a run stopped submitting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "halt", rename_all = "kebab-case")]
pub enum Halt {
    /// The user asked.
    Interrupted,
    /// The service cannot be used with this account or at this address.
    ServiceUnusable {
        /// Why.
        failure: Failure,
    },
    /// One more task would cross a cap of the run.
    BudgetExceeded {
        /// Which.
        limit: BudgetLimit,
    },
    /// A shot failed, and the run was told to submit nothing more then.
    FailFast {
        /// The shot.
        shot: String,
    },
}

/// A finished film.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Film {
    /// Where the file is.
    pub path: PathBuf,
    /// Playing time in seconds.
    pub seconds: f64,
    /// Picture width in pixels.
    pub width: u32,
    /// Picture height in pixels.
    pub height: u32,
    /// Whether it has sound.
    pub audio: bool,
    /// SHA-256 over the clips' hashes, in order: what it was made of.
    pub made_of: String,
    /// Whether it was there already and had not to be joined again.
    pub reused: bool,
}

/// What became of the film.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum FilmOutcome {
    /// It is on disk.
    Done {
        /// The film.
        film: Film,
    },
    /// Some of its clips are missing.
    Waiting {
        /// How many.
        missing: usize,
    },
    /// Nobody has picked yet which takes it shows, or those that its clips begin on.
    Unpicked {
        /// How many of its clips are missing for that reason.
        missing: usize,
    },
    /// The clips could not be joined.
    Failed {
        /// Why.
        failure: Failure,
    },
}
