//! Outcomes of nodes and runs. Failures are data: an outcome in the summary, never an error of the run.

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workflow::plan::{NodeIx, RetryOn};

use crate::artifact::Artifact;
use crate::budget::BudgetCap;
use crate::ids::{AttemptId, TaskId};

/// What a run does about a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// The video exists and is verified: nothing is submitted.
    Reuse,
    /// A task of an earlier run is in flight: it is polled, not submitted again.
    Adopt,
    /// A task is submitted.
    Execute,
    /// It depends on a frame that does not exist yet: it is submitted then, unless its video turns out to exist.
    Deferred,
    /// It cannot be submitted now: see why.
    Blocked,
    /// The run does not select this shot: nothing of it is submitted.
    NotSelected,
}

impl Decision {
    /// Its name in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reuse => "reuse",
            Self::Adopt => "adopt",
            Self::Execute => "execute",
            Self::Deferred => "deferred",
            Self::Blocked => "blocked",
            Self::NotSelected => "not-selected",
        }
    }
}

/// A failure of a shot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The kind, which decides whether it is retried.
    pub kind: FailureKind,
    /// A message for people: a lower-case fragment.
    pub message: String,
    /// The service's error code, if it sent one (spec 7).
    pub code: Option<String>,
    /// The service's Retry-After, if it sent one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<Duration>,
}

impl Failure {
    /// A failure without an error code of the service.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), code: None, retry_after: None }
    }
}

/// Kinds of failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// The prompt or an input image was refused by moderation: never retried.
    InputModerated,
    /// The result was withheld by moderation.
    OutputModerated,
    /// The service throttled for too long.
    RateLimited,
    /// The account is out of credit.
    Quota,
    /// The key is missing, wrong or lacks a permission.
    Unauthorized,
    /// The service refused the request as invalid.
    Invalid,
    /// A transient failure of the service or the network.
    Transient,
    /// The service no longer has the task or its video.
    Expired,
    /// The downloaded file is not a complete video.
    Corrupt,
    /// A local file could not be read or written.
    Local,
    /// Videos cannot be stored: the disk is full or read-only, or belongs to somebody else.
    Storage,
    /// The service failed the task for another reason.
    Task,
    /// Its submission was abandoned: the outcome is unknown, and it is repeated only on request.
    Abandoned,
    /// Its video exists and is on no record: it is submitted only on request.
    Unrecorded,
}

impl FailureKind {
    /// Whether the same request would fail again, so that a render that was asked for is not waited for any more.
    pub fn is_final(self) -> bool {
        match self {
            Self::InputModerated
            | Self::OutputModerated
            | Self::Invalid
            | Self::Expired
            | Self::Corrupt
            | Self::Task
            | Self::Abandoned => true,
            Self::RateLimited
            | Self::Quota
            | Self::Unauthorized
            | Self::Transient
            | Self::Local
            | Self::Storage
            | Self::Unrecorded => false,
        }
    }

    /// Whether it is a failure of this machine, which trying again does not change.
    pub fn is_local(self) -> bool {
        matches!(self, Self::Local | Self::Storage)
    }

    /// Its name in a shot's `retry`; `None` if another attempt would not help or could pay twice, whatever the file says.
    pub(crate) fn retried_as(self) -> Option<RetryOn> {
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
            | Self::Storage
            | Self::Abandoned
            | Self::Unrecorded => None,
        }
    }
}

/// How a node ended in this run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Outcome {
    /// Its video is on disk.
    Done {
        artifact: Artifact,
        /// The task that rendered it.
        task: TaskId,
    },
    /// It failed for good in this run.
    Failed {
        failure: Failure,
        /// The task, if one was accepted.
        task: Option<TaskId>,
    },
    /// A submission may or may not have been accepted; it is not repeated until it is resolved.
    Indeterminate {
        /// The attempt to name to `runner resolve`.
        attempt: AttemptId,
        reason: String,
        /// The id of a task that the response named, to be adopted if the account lists it.
        suggested_task: Option<TaskId>,
    },
    /// Its task is in flight and is left to a later run.
    Detached {
        task: TaskId,
        /// Why this run stopped waiting.
        reason: String,
    },
    /// The same work is in flight, or may be, at another service than that of the run.
    AtOtherService {
        service: String,
        /// The attempt there.
        attempt: AttemptId,
        /// Its task; `None` where it is not known to be accepted.
        task: Option<TaskId>,
        /// What the run says about it.
        reason: String,
    },
    /// The service does not know its task, which is paid for, or has no intact video of it. It is not submitted again without a decision of the user.
    Missing {
        task: TaskId,
        /// What the service said.
        reason: String,
    },
    /// Its video is there, and the ledger does not know it: a person has to decide whether it is recorded or paid for again.
    Unrecorded {
        /// The video, and what the run says about it.
        reason: String,
    },
    /// It was not started because something that it depends on did not succeed.
    Blocked {
        /// The dependency.
        by: NodeIx,
    },
    /// It was not started because it depends on one of several takes or instances and none is picked.
    Unpicked {
        /// Names of the shots or instances with something to pick from.
        picks: Vec<String>,
    },
    /// It was not started because the run ended first.
    NotStarted,
    /// The run did not select it.
    NotSelected {
        /// Its task, if one of an earlier run is in flight: it stays so, and a run that selects this shot adopts it.
        task: Option<TaskId>,
    },
}

/// Why a run stopped submitting.
#[derive(Debug, Clone, PartialEq)]
pub enum Halt {
    /// The user interrupted the run.
    Interrupted,
    /// The service cannot be used with this account or at this address.
    ServiceUnusable { failure: Failure },
    /// Videos cannot be stored: what is submitted would be paid for and not kept.
    StorageUnusable { failure: Failure },
    /// One more task would exceed a budget cap.
    BudgetExceeded { cap: BudgetCap },
    /// A shot failed under fail-fast.
    FailFast { shot: String },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Film {
    /// Path of the file.
    pub path: PathBuf,
    /// Playing time.
    #[serde(rename = "seconds", with = "workflow::units::seconds")]
    pub duration: Duration,
    /// Frame width in pixels.
    pub width: u32,
    /// Frame height in pixels.
    pub height: u32,
    /// Whether it has an audio track.
    pub audio: bool,
    /// SHA-256 over the clips' hashes in order, and the edit.
    #[serde(rename = "made_of")]
    pub clips_digest: String,
    /// Whether the file existed and did not have to be joined.
    pub reused: bool,
    /// The loudness of its sound, measured when it was joined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loudness: Option<FilmLoudness>,
    /// What became of the frames when it was joined; `None` if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<FilmFrames>,
    /// The clips whose colors were to be matched and differ by more than a drift, by name; they are as the service has rendered them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmatched: Vec<String>,
}

/// The loudness of a film's sound (ITU-R BS.1770).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FilmLoudness {
    /// Of the whole film, in LUFS.
    pub integrated: f64,
    /// The highest true peak, in dBTP.
    pub true_peak: f64,
    /// The loudness that the film was to have, in LUFS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<f64>,
}

/// What became of the frames of a film's clips.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilmFrames {
    /// Copied bit for bit.
    pub copied: u64,
    pub encoded: u64,
}

/// The outcome of a film.
#[derive(Debug, Clone, PartialEq)]
pub enum FilmOutcome {
    /// It is on disk.
    Done { film: Film },
    /// Some of its clips are missing.
    Pending {
        /// Number of missing clips.
        missing: usize,
    },
    /// Nothing is picked of what it shows, or of what its clips depend on.
    Unpicked {
        /// Number of clips missing for that reason.
        missing: usize,
        /// Names of the shots or instances with something to pick from, in the order of the clips.
        picks: Vec<String>,
    },
    /// The clips could not be joined.
    Failed { failure: Failure },
}
