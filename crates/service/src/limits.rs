//! Configured limits (spec 8 leaves the numbers open). [`crate::admission`] enforces those on tasks and submissions.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::ServiceError;

/// Limits of the whole service. The defaults only protect the machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Limits of request bodies.
    pub body: BodyLimits,
    /// Characters of a prompt, and of a `user`; beyond them 400.
    pub text_chars: usize,
    /// Unfinished tasks over all keys; beyond them 429.
    pub queued_tasks: usize,
    /// Limits of keys without their own.
    pub per_key: KeyLimits,
    /// Limits of media inputs.
    pub media: MediaLimits,
    /// Limits of HTTP connections.
    pub connections: ConnectionLimits,
    /// Media that are decoded at once: each takes many times the bytes of its input.
    pub decodes: usize,
}

/// Those limits that a file of the operator may set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsFile {
    /// [`Limits::queued_tasks`].
    pub queued_tasks: usize,
    /// [`Limits::per_key`].
    pub per_key: KeyLimits,
}

impl Default for LimitsFile {
    fn default() -> Self {
        let Limits { queued_tasks, per_key, .. } = Limits::default();
        Self { queued_tasks, per_key }
    }
}

impl LimitsFile {
    /// Reads a file of limits: JSON with the members of this type, each of which may be absent.
    ///
    /// # Errors
    /// When the text is not JSON, has an unknown member, or a value of the wrong type or out of range.
    pub fn from_json(text: &str) -> Result<Self, ServiceError> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let limits: Self = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
            ServiceError::Limits { location: error.path().to_string(), reason: error.inner().to_string() }
        })?;
        let rate = limits.per_key.submissions_per_second;
        if !rate.is_finite() || rate <= 0.0 {
            return Err(ServiceError::Limits {
                location: "per_key.submissions_per_second".to_owned(),
                reason: format!("{rate} is not a positive number"),
            });
        }
        Ok(limits)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: BodyLimits::default(),
            text_chars: 20_000,
            queued_tasks: 10_000,
            per_key: KeyLimits::default(),
            media: MediaLimits::default(),
            connections: ConnectionLimits::default(),
            decodes: 3,
        }
    }
}

/// Limits of request bodies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyLimits {
    /// Bytes of one body; beyond them 413. Images may come inline as data URIs.
    pub bytes: usize,
    /// Bytes of bodies in memory at once; further bodies wait.
    pub total_bytes: usize,
    /// How long nothing of a body may arrive.
    pub timeout: Duration,
}

impl Default for BodyLimits {
    fn default() -> Self {
        Self { bytes: 32 << 20, total_bytes: 256 << 20, timeout: Duration::from_secs(30) }
    }
}

/// Limits of one API key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
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
    /// Bytes of one encoded image (PNG, JPEG or WebP).
    pub image_bytes: usize,
    /// The smallest side of an image, in pixels.
    pub min_side: u32,
    /// The largest side of an image, in pixels.
    pub max_side: u32,
    /// Bytes of one reference video or audio file.
    pub clip_bytes: usize,
    /// Bytes of fetched media in memory at once; further ones wait.
    pub total_bytes: usize,
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
            total_bytes: 256 << 20,
            fetch_timeout: Duration::from_secs(20),
        }
    }
}

/// Limits of HTTP connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Open connections; further ones wait.
    pub total: usize,
    /// How long a client may take for the head of a request, may leave a connection without one, and may leave what was
    /// written unread.
    pub timeout: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self { total: 4_096, timeout: Duration::from_secs(75) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn live_limits_are_read_from_json() {
        let limits = LimitsFile::from_json(r#"{"per_key": {"burst": 3}}"#).unwrap();
        let expected = KeyLimits { burst: 3, ..KeyLimits::default() };
        assert_eq!(limits, LimitsFile { per_key: expected, ..LimitsFile::default() });
        let error = |text: &str| LimitsFile::from_json(text).unwrap_err().to_string();
        insta::assert_snapshot!(
            [
                error("{"),
                error(r#"{"queue": 3}"#),
                error(r#"{"per_key": {"burst": -3}}"#),
                error(r#"{"per_key": {"submissions_per_second": 0}}"#)
            ]
            .join("\n"),
            @r"
        the limits are invalid at ?: EOF while parsing an object at line 1 column 1
        the limits are invalid at queue: unknown field `queue`, expected `queued_tasks` or `per_key` at line 1 column 8
        the limits are invalid at per_key.burst: invalid value: integer `-3`, expected u32 at line 1 column 24
        the limits are invalid at per_key.submissions_per_second: 0 is not a positive number
        "
        );
    }
}
