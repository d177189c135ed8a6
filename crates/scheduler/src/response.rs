//! What responses of the service mean: refusals of submissions, results of polls.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::outcome::Failure;
use crate::timestamp::Timestamp;

/// A POST that created no task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    /// What to do about it.
    pub kind: RefusalKind,
    /// The message, for people.
    pub failure: Failure,
    /// The Retry-After, if the service sent one.
    pub retry_after: Option<Duration>,
}

/// Classes of refusals by what helps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RefusalKind {
    /// Throttled (429): slow down and retry.
    Throttled,
    /// Not sent, because the service throttled another submission and its Retry-After has not passed: retry; does not count as an attempt.
    NotSent,
    /// A transient failure (503): retry.
    Retryable,
    /// No connection, so the request was never sent: retry.
    Unreachable,
    /// The request itself is invalid (4xx): it would be refused again.
    InvalidRequest,
    /// The account or the address (401, 403, 402, 404 on the path): no request of this run can succeed.
    ServiceUnusable,
}

/// The result of a poll.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum PollResult {
    /// Queued or in progress, or an unknown status.
    Running {
        /// Progress in percent, if reported.
        progress: Option<u8>,
        /// `queued` or `in_progress`, in whichever words the service says so; any other as it was sent.
        status: String,
        /// How long the service asks to wait before the next poll (`Retry-After`, `openai-poll-after-ms`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        poll_after: Option<Duration>,
    },
    /// Finished without an error.
    Completed {
        /// `metadata.url`, if set.
        url: Option<String>,
        /// `metadata.last_frame_url`, if set.
        last_frame_url: Option<String>,
        /// When the service deletes its copies.
        expires_at: Option<Timestamp>,
        /// From creation to completion by the service's clock, if it reports both.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        took: Option<Duration>,
    },
    /// The task failed at the service.
    Failed { failure: Failure },
    /// The service does not know the task (404), or no longer has it (410).
    NotFound {
        /// Whether the service reported that the task has expired.
        expired: bool,
    },
    /// Throttled (429, 503): the service is reachable, and polls have to slow down.
    Throttled {
        /// The Retry-After, if the service sent one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<Duration>,
        reason: String,
    },
    /// No usable response.
    Unreachable { reason: String },
    /// The account no longer works (401, 403).
    Unauthorized { failure: Failure },
}

impl PollResult {
    /// The status of an unfinished task, if it is one that the contract does not define (spec 3).
    pub fn undefined_status(&self) -> Option<&str> {
        match self {
            Self::Running { status, .. } if status != "queued" && status != "in_progress" => Some(status),
            Self::Running { .. }
            | Self::Completed { .. }
            | Self::Failed { .. }
            | Self::NotFound { .. }
            | Self::Throttled { .. }
            | Self::Unreachable { .. }
            | Self::Unauthorized { .. } => None,
        }
    }
}
