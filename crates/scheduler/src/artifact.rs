//! The record of a finished video: where it is, its hash, length and size.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::timestamp::Timestamp;

/// A downloaded, verified video.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Artifact {
    /// Where the file is.
    pub path: PathBuf,
    /// SHA-256 of the file, lower-case hex.
    pub sha256: String,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Playing time in seconds, as probed.
    pub seconds: f64,
    /// Picture width in pixels.
    pub width: u32,
    /// Picture height in pixels.
    pub height: u32,
    /// Where the service keeps the last frame, when the task returned one (`metadata.last_frame_url`).
    pub last_frame_url: Option<String>,
    /// When the service's own copies expire (spec 2.5 `expires_at`), where it said so.
    pub expires_at: Option<Timestamp>,
    /// When the file was last changed, in nanoseconds since the epoch, as its file system tells: with the size, enough to see that it is
    /// still the same without reading it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_at: Option<i64>,
}

impl Artifact {
    /// The last frame's address if it can still be relied upon: `margin` must remain before it expires.
    #[must_use]
    pub fn usable_last_frame_url(&self, now: Timestamp, margin: std::time::Duration) -> Option<&str> {
        match self.expires_at {
            Some(expires) if now.after(margin) >= expires => None,
            _ => self.last_frame_url.as_deref(),
        }
    }
}
