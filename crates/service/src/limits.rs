//! Configured limits (spec 8 leaves the numbers open). [`crate::admission`] enforces those on tasks and submissions.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Limits of the whole service. The defaults only protect the machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Bytes of a request body; beyond them 413. Pictures may come inline as data URIs.
    pub body_bytes: usize,
    /// Bytes of request bodies in memory at once, over all connections; further requests wait.
    pub bodies_bytes: usize,
    /// Characters of a prompt, and of a `user`; beyond them 400.
    pub text_chars: usize,
    /// Unfinished tasks over all keys; beyond them 429.
    pub queued_tasks: usize,
    /// Limits of keys without their own.
    pub per_key: KeyLimits,
    /// Limits of media inputs.
    pub media: MediaLimits,
    /// Render attempts of one task, counted across crashes of the service. Beyond them the task fails as their likely cause.
    pub max_starts: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 32 << 20,
            bodies_bytes: 256 << 20,
            text_chars: 20_000,
            queued_tasks: 10_000,
            per_key: KeyLimits::default(),
            media: MediaLimits::default(),
            max_starts: 64,
        }
    }
}

/// Limits of one API key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyLimits {
    /// Unfinished tasks; beyond them 429.
    pub running_tasks: u32,
    /// Submissions per second on average (the refill rate of a token bucket); beyond them 429.
    pub submissions_per_second: f64,
    /// Submissions at once (the capacity of the token bucket).
    pub burst: u32,
    /// Seconds of video in total; `None` is unlimited. A failed task gives its seconds back.
    pub quota_seconds: Option<u64>,
}

impl Default for KeyLimits {
    fn default() -> Self {
        Self { running_tasks: 5_000, submissions_per_second: 500.0, burst: 2_000, quota_seconds: None }
    }
}

/// Limits of media inputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaLimits {
    /// Media inputs of one request, of all kinds.
    pub assets: usize,
    /// Bytes of one encoded picture (PNG, JPEG or WebP).
    pub image_bytes: usize,
    /// The smallest side of a picture, in pixels.
    pub min_side: u32,
    /// The largest side of a picture, in pixels.
    pub max_side: u32,
    /// Bytes of one reference video or audio file.
    pub clip_bytes: usize,
    /// Time for fetching all media URLs of a request together.
    pub fetch_timeout: Duration,
}

impl Default for MediaLimits {
    fn default() -> Self {
        Self {
            assets: 16,
            image_bytes: 24 << 20,
            min_side: 16,
            max_side: 6_000,
            clip_bytes: 64 << 20,
            fetch_timeout: Duration::from_secs(20),
        }
    }
}
