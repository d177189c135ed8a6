//! What a response of the service means: refusals of submissions, and results of polls.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::outcome::Failure;
use crate::timestamp::Timestamp;

/// A POST that surely left nothing to pay for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    /// What to do about it.
    pub kind: RefusalKind,
    /// What was said, for people.
    pub failure: Failure,
    /// When to come back, where the service said so.
    pub retry_after: Option<Duration>,
}

/// What a refusal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RefusalKind {
    /// Too much at once (429): slow down and come back.
    Throttled,
    /// A transient failure (503): come back.
    Retryable,
    /// No connection could be made, so the request never left: come back.
    Unreachable,
    /// The request itself (4xx): the same request would be refused again.
    InvalidRequest,
    /// The account or the address (401, 403, 402, 404 on the path): no request of this run can succeed.
    ServiceUnusable,
}

/// What a poll brought.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum PollResult {
    /// Queued or in progress, or a status that we do not know.
    Running {
        /// Percent, where the service said.
        progress: Option<u8>,
        /// The status word, as sent.
        status: String,
    },
    /// Finished, without an error.
    Completed {
        /// `metadata.url`, where it was filled.
        url: Option<String>,
        /// `metadata.last_frame_url`, where it was filled.
        last_frame_url: Option<String>,
        /// When the service's copies expire.
        expires_at: Option<Timestamp>,
        /// From its creation to its completion, by the service's own clock, where it gives both.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        took: Option<Duration>,
    },
    /// The task failed at the service.
    Failed {
        /// Why.
        failure: Failure,
    },
    /// The service does not know the task (404), or no longer has it (410).
    NotFound {
        /// Whether it said that the task has expired.
        expired: bool,
    },
    /// Too much at once (429, 503): the service is there, and wants to be asked less often.
    Throttled {
        /// When to come back, where the service said so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<Duration>,
        /// What it said.
        reason: String,
    },
    /// No usable answer.
    Unreachable {
        /// Why.
        reason: String,
    },
    /// The account no longer works (401, 403).
    Unauthorized {
        /// Why.
        failure: Failure,
    },
}
