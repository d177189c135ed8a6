//! A task: its render spec, status and result (spec 2.5, 3).

use serde::{Deserialize, Serialize};

use crate::{digest::Digest, id::TaskId, keys::KeyId, render_spec::RenderSpec};

/// The status of a task (spec 3). It only moves forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    /// Accepted, waiting for a render thread.
    Queued,
    /// Being rendered, or queued again because the service stopped meanwhile.
    InProgress,
    /// The video is available.
    Completed,
    /// There is no video; [`Task::failure`] has the reason.
    Failed,
}

impl Status {
    /// The value in the API and in the database.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        [Self::Queued, Self::InProgress, Self::Completed, Self::Failed]
            .into_iter()
            .find(|status| status.as_str() == text)
    }
}

/// A task as the store keeps it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Task {
    /// Sequence number in order of acceptance.
    pub(crate) number: i64,
    pub(crate) id: TaskId,
    pub(crate) key: KeyId,
    pub(crate) spec: RenderSpec,
    pub(crate) status: Status,
    /// Percent, as of the end of the task; while it is active, [`crate::jobs::ActiveTask`] holds the current value.
    pub(crate) progress: u8,
    /// Render attempts, across restarts of the service.
    pub(crate) starts: u32,
    pub(crate) created_at: i64,
    pub(crate) completed_at: Option<i64>,
    /// When its files expire; set when it ends.
    pub(crate) expires_at: Option<i64>,
    pub(crate) failure: Option<Failure>,
    pub(crate) video: Option<StoredFile>,
    pub(crate) last_frame: Option<StoredFile>,
    /// Whether its files are deleted.
    pub(crate) files_gone: bool,
}

impl Task {
    /// Whether its files can no longer be had: they have expired, or were deleted when the clock said so.
    pub(crate) fn files_expired(&self, now: i64) -> bool {
        self.files_gone || self.expired(now)
    }

    pub(crate) fn expired(&self, now: i64) -> bool {
        self.expires_at.is_some_and(|expiry| expiry <= now)
    }
}

/// Why a task has no video (spec 2.5 `error`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) code: String,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into() }
    }
}

/// A rendered file of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredFile {
    /// The unguessable part of its URL; grants read access.
    pub(crate) token: String,
    pub(crate) bytes: u64,
    pub(crate) digest: Digest,
}

/// The rendered files of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RenderedFiles {
    pub(crate) video: StoredFile,
    pub(crate) last_frame: Option<StoredFile>,
}
