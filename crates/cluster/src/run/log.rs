//! The event log of a run, in segments: a state key of Restate for each segment, so that appending writes little and reading needs few keys.

use scheduler::{Event, Policy, RunId, Timestamp};
use serde::{Deserialize, Serialize};

/// Events of a full segment.
pub(crate) const SEGMENT_LEN: u64 = 32;
/// Segments in one page of a reader.
pub(crate) const PAGE_SEGMENTS: u64 = 16;

/// An event as it was decided, with the time at which it was applied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Logged {
    /// When it was applied. Never goes back within a run.
    pub time: Timestamp,
    /// The event.
    pub event: Event,
}

/// What is known of a run besides its events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunHead {
    /// The run's id.
    pub run: RunId,
    /// SHA-256 of its specification in the shared store.
    pub spec: String,
    /// The service's identity, part of every key.
    pub identity: String,
    /// The policy that it is executed with.
    pub policy: Policy,
    /// Number of its events.
    pub length: u64,
    /// When it began.
    pub started: Timestamp,
    /// When the last event was applied.
    pub last: Timestamp,
    /// Whether every node and every film have ended.
    pub over: bool,
}

/// The state key of a segment.
pub(crate) fn segment_key(segment: u64) -> String {
    format!("log/{segment}")
}
