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
    /// SHA-256 of the file that was downloaded first, where the service has delivered the task's video again with other bytes
    /// ([`Self::delivered_after`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_sha256: Option<String>,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Playing time, as probed.
    #[serde(rename = "seconds", with = "workflow::units::seconds")]
    pub duration: Duration,
    /// Frame width in pixels.
    pub width: u32,
    /// Frame height in pixels.
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
    /// The hash that stands for the video in the keys of shots that take frames from it: that of the file that was downloaded first. Another
    /// delivery of the same task is the same video, and what continues it is not other work.
    pub fn identity_sha256(&self) -> &str {
        self.first_sha256.as_ref().unwrap_or(&self.sha256)
    }

    /// The same video, delivered again for a task whose video was on record before with this identity ([`Self::identity_sha256`]).
    pub fn delivered_after(mut self, identity: Option<&str>) -> Self {
        if let Some(identity) = identity {
            self.first_sha256 = Some(identity.to_owned()).filter(|first| *first != self.sha256);
        }
        self
    }

    /// The URL of the last frame if it is valid for at least `margin` longer.
    pub fn usable_last_frame_url(&self, now: Timestamp, margin: Duration) -> Option<&str> {
        match self.expires_at {
            Some(expires) if now.after(margin) >= expires => None,
            _ => self.last_frame_url.as_deref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn video_keeps_its_identity_however_often_it_is_delivered() {
        let video = |sha256: &str| Artifact {
            path: PathBuf::new(),
            sha256: sha256.to_owned(),
            first_sha256: None,
            bytes: 1,
            duration: Duration::from_secs(1),
            width: 1,
            height: 1,
            last_frame_url: None,
            expires_at: None,
            modified_at: None,
        };
        let mut current = video("a").delivered_after(None);
        for (sha256, first) in [("b", Some("a")), ("c", Some("a")), ("a", None), ("b", Some("a"))] {
            current = video(sha256).delivered_after(Some(current.identity_sha256()));
            assert_eq!((current.first_sha256.as_deref(), current.identity_sha256()), (first, "a"));
        }
    }
}
