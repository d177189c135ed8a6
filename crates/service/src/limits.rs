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
    /// Requests that are parsed, and media that are decoded, at once: either takes many times the bytes of its input.
    pub decodes: usize,
    /// Render attempts of one task, counted across crashes of the service. Beyond them the task fails as their likely cause.
    pub max_starts: u32,
}

/// Bytes that decoding one picture of the largest size takes, with its input.
const DECODE_BYTES: usize = 160 << 20;

impl Limits {
    /// The least memory for [`Limits::for_memory`].
    pub const MIN_MEMORY: usize = 256 << 20;

    /// Limits for a service that takes at most about so many bytes of memory, besides its renderers: a quarter for bodies,
    /// a quarter for fetched media, and the rest for what they are decoded to.
    #[must_use]
    pub fn for_memory(bytes: usize) -> Self {
        let bytes = bytes.max(Self::MIN_MEMORY);
        let mut limits = Self::default();
        limits.body.total_bytes = bytes / 4;
        limits.body.bytes = limits.body.bytes.min(bytes / 8);
        limits.media.total_bytes = bytes / 4;
        limits.media.clip_bytes = limits.media.clip_bytes.min(bytes / 8);
        limits.media.image_bytes = limits.media.image_bytes.min(bytes / 8);
        limits.decodes = (bytes / 2 / DECODE_BYTES).clamp(1, 8);
        limits
    }
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
            max_starts: 64,
        }
    }
}

/// Limits of request bodies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyLimits {
    /// Bytes of one body; beyond them 413. Pictures may come inline as data URIs.
    pub bytes: usize,
    /// Bytes of bodies in memory at once, a quarter of them for one key; further bodies wait.
    pub total_bytes: usize,
    /// Bytes per second that a body must arrive with, on average after `grace`; a slower one is rejected.
    pub min_rate: usize,
    /// See `min_rate`.
    pub grace: Duration,
}

impl Default for BodyLimits {
    fn default() -> Self {
        Self { bytes: 32 << 20, total_bytes: 256 << 20, min_rate: 64 << 10, grace: Duration::from_secs(10) }
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
    /// Bytes of one encoded picture (PNG, JPEG or WebP).
    pub image_bytes: usize,
    /// The smallest side of a picture, in pixels.
    pub min_side: u32,
    /// The largest side of a picture, in pixels.
    pub max_side: u32,
    /// Bytes of one reference video or audio file.
    pub clip_bytes: usize,
    /// Bytes of fetched media in memory at once, a quarter of them for one key; further ones wait.
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

/// Limits of HTTP connections. A connection counts as authenticated once a request on it has presented a valid key or
/// the token of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Open connections. Beyond them the oldest one that is not authenticated is closed, then the oldest idle one; if
    /// there is none, new ones wait.
    pub total: usize,
    /// Connections from one IPv4 address or IPv6 /64 that are not authenticated. Beyond them the oldest one is closed.
    pub per_network: usize,
    /// A connection without a key is closed for another one only after so much time without a request: its first request
    /// may be on its way.
    pub min_idle: Duration,
    /// The same for an authenticated connection, which a client may use again at any moment.
    pub min_authenticated_idle: Duration,
    /// From the first byte of a request until its head is complete.
    pub head_timeout: Duration,
    /// Without traffic, between requests or while a response is not read.
    pub idle_timeout: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            total: 4_096,
            per_network: 512,
            min_idle: Duration::from_secs(1),
            min_authenticated_idle: Duration::from_secs(10),
            head_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_mins(5),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn for_memory_scales_what_takes_memory() {
        assert_eq!(Limits::for_memory(1 << 30), Limits::default());
        let small = Limits::for_memory(0);
        assert_eq!((small.body.total_bytes >> 20, small.body.bytes >> 20, small.decodes), (64, 32, 1));
        assert_eq!((small.media.total_bytes >> 20, small.media.clip_bytes >> 20), (64, 32));
        let large = Limits::for_memory(8 << 30);
        assert_eq!((large.body.total_bytes >> 20, large.body.bytes >> 20, large.decodes), (2048, 32, 8));
    }

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
