//! The record of a finished video: path, hash, length and size.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::timestamp::Timestamp;

/// When a file was last modified, in nanoseconds since the Unix epoch: file systems are more precise than [`Timestamp`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ModificationTime(pub i64);

/// A downloaded, verified video.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Artifact {
    /// Path of the file.
    pub path: PathBuf,
    /// SHA-256 of the file, lower-case hex.
    pub sha256: String,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Playing time, as probed.
    #[serde(rename = "seconds", with = "workflow::units::seconds")]
    pub duration: Duration,
    /// Picture width in pixels.
    pub width: u32,
    /// Picture height in pixels.
    pub height: u32,
    /// URL of the last frame at the service, if the task returned one (`metadata.last_frame_url`).
    pub last_frame_url: Option<String>,
    /// When the service deletes its copies (spec 2.5 `expires_at`), if it reported that.
    pub expires_at: Option<Timestamp>,
    /// Modification time of the file, as the file system reports it. Together with the size it detects changes without reading the file.
    #[serde(default, rename = "changed_at", skip_serializing_if = "Option::is_none")]
    pub modified_at: Option<ModificationTime>,
}

impl Artifact {
    /// The URL of the last frame if it is valid for at least `margin` longer.
    #[must_use]
    pub fn usable_last_frame_url(&self, now: Timestamp, margin: Duration) -> Option<&str> {
        match self.expires_at {
            Some(expires) if now.after(margin) >= expires => None,
            _ => self.last_frame_url.as_deref(),
        }
    }
}
