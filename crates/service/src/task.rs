//! A task: what was ordered, where it stands, and what came of it (spec 2.5, 3).

use serde::{Deserialize, Serialize};

use crate::{digest::Digest, id::TaskId, keys::KeyId, order::Order};

/// Where a task stands. It only ever moves forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    /// Accepted, waiting for a worker.
    Queued,
    /// Being rendered, or to be rendered again because the service stopped in between.
    InProgress,
    /// The video is there.
    Completed,
    /// There will be no video; the task's failure says why.
    Failed,
}

impl Status {
    /// The word on the wire and in the store.
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
    /// Its place in the order of acceptance.
    pub(crate) number: i64,
    pub(crate) id: TaskId,
    pub(crate) key: KeyId,
    pub(crate) order: Order,
    pub(crate) status: Status,
    /// How far it came, in percent; while it is being rendered, `workshop::Live` knows better.
    pub(crate) progress: u8,
    /// How often a worker has begun it, over all lives of the service.
    pub(crate) starts: u32,
    pub(crate) created_at: i64,
    pub(crate) completed_at: Option<i64>,
    /// When its files go; set once it has ended.
    pub(crate) expires_at: Option<i64>,
    pub(crate) failure: Option<Failure>,
    pub(crate) video: Option<StoredFile>,
    pub(crate) last_frame: Option<StoredFile>,
}

impl Task {
    pub(crate) fn expired(&self, now: i64) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
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

/// A finished file of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredFile {
    /// What its URL is made of; whoever knows it may read the file.
    pub(crate) token: String,
    pub(crate) bytes: u64,
    pub(crate) digest: Digest,
}

/// What a worker made of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Product {
    pub(crate) video: StoredFile,
    pub(crate) last_frame: Option<StoredFile>,
}
