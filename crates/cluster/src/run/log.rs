//! The event log of a run: full segments, each in a state key of Restate, and the last events beside the head of the run. So appending
//! writes little, a segment is written once, and reading needs few keys.

use scheduler::{Event, Policy, RunId, Timestamp};
use serde::{Deserialize, Serialize};

/// Events of a segment.
pub(crate) const SEGMENT_LEN: u64 = 32;
/// Segments in one page of a reader.
pub(crate) const PAGE_SEGMENTS: u64 = 16;

/// An event as it was decided, with the time at which it was applied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogEntry {
    /// When it was applied. Never goes back within a run.
    pub time: Timestamp,
    pub event: Event,
    /// Whether it is of an answer to a message of the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_answer: bool,
    /// Whether it is of a check, with which messages that are not answered are sent again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_check: bool,
}

/// What is known of a run besides its events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunHead {
    pub run: RunId,
    /// SHA-256 of its specification in the shared store.
    pub spec: String,
    /// The service's identity, part of every key.
    pub identity: String,
    /// The policy that it is executed with.
    pub policy: Policy,
    /// Number of its events.
    pub length: u64,
    pub started: Timestamp,
    /// When the last event was applied.
    pub last: Timestamp,
    /// Whether every node and every film have ended.
    pub is_ended: bool,
}

/// A run as it is stored, besides full segments of its log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredRun {
    pub(crate) head: RunHead,
    /// The events after the last full segment.
    pub(crate) tail: Vec<LogEntry>,
    /// When the run is checked next.
    pub(crate) next_check: Timestamp,
}

/// The state key of a segment.
pub(crate) fn segment_key(segment: u64) -> String {
    format!("log/{segment}")
}
