//! Outcomes of shots and films: lines of the event stream, and parts of the summary.

use std::time::Duration;

use scheduler::Decision;
use schemars::JsonSchema;
use serde::Serialize;
use workflow::units;

use super::line::{Failure, Video};

/// The outcome of a shot.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FinishedShot<'a> {
    pub(crate) shot: &'a str,
    /// The decision; `null` if the run ended before it was made.
    pub(crate) decision: Option<Decision>,
    pub(crate) outcome: Outcome<'a>,
    /// Its task, if any.
    pub(crate) task: Option<&'a str>,
    /// Time from submission to the verified file, in milliseconds, if both happened in this run.
    #[serde(rename = "elapsed_ms", with = "units::millis")]
    #[schemars(with = "Option<u64>")]
    pub(crate) took: Option<Duration>,
    /// Number of attempts in this run that failed and were retried.
    pub(crate) retries: u32,
}

/// Outcomes of shots.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub(crate) enum Outcome<'a> {
    /// The video is on disk.
    Done { artifact: Video },
    /// It failed, and will not be retried in this run.
    Failed { failure: Failure },
    /// A submission may or may not have been accepted: `runner resolve` with this attempt.
    Indeterminate {
        attempt: &'a str,
        reason: String,
        /// The id of a task that the response named, if any: `runner resolve --adopt`.
        suggested_task: Option<&'a str>,
    },
    /// Its task is in flight and left to a later run.
    Detached { reason: String },
    /// The same work is in flight, or may be, at another service than that of the run.
    AtOtherService { service: &'a str, attempt: &'a str, reason: String },
    /// The service does not know its task, which is paid for, or has no intact video of it; only `--rerun` pays for another one.
    Missing { reason: String },
    /// Its video is there, and the ledger does not know it: `runner ledger adopt`.
    Unrecorded { reason: String },
    /// A shot that it depends on is not done.
    Blocked {
        /// That shot.
        by: &'a str,
    },
    /// It waits for picks of these shots.
    Unpicked { picks: Vec<&'a str> },
    /// The run ended first.
    NotStarted,
    /// It is not selected.
    NotSelected,
}

/// The outcome of a film.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FilmResult<'a> {
    /// Its file name in the workflow.
    pub(crate) name: &'a str,
    #[serde(flatten)]
    pub(crate) outcome: FilmOutcome,
}

/// Outcomes of films.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub(crate) enum FilmOutcome {
    /// The film is on disk.
    Done { film: JoinedFilm },
    /// Clips are missing.
    Pending { missing: usize },
    /// Picks are missing.
    Unpicked { missing: usize },
    /// Joining failed.
    Failed { failure: Failure },
}

/// A film on disk.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct JoinedFilm {
    /// Path of the file.
    pub(crate) path: String,
    /// Duration in seconds.
    #[serde(rename = "seconds", with = "units::seconds")]
    #[schemars(with = "f64")]
    pub(crate) duration: Duration,
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Whether it has an audio track.
    pub(crate) audio: bool,
    /// SHA-256 over the clips' hashes in order, and the edit.
    pub(crate) clips_digest: String,
    /// Whether it existed already, as the same edit of the same clips.
    pub(crate) reused: bool,
    /// The loudness of its sound; absent if it is silent or existed already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) loudness: Option<FilmLoudness>,
    /// What became of the clips' frames; absent if it existed already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) frames: Option<FilmFrames>,
    /// Clips whose colors were to be matched and differ by more than a drift; they are as the service has rendered them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) unmatched: Vec<String>,
}

/// The loudness of a film's sound (ITU-R BS.1770).
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FilmLoudness {
    /// Of the whole film, in LUFS.
    pub(crate) integrated: f64,
    /// The highest true peak, in dBTP.
    pub(crate) true_peak: f64,
    /// The loudness that the workflow asks for, in LUFS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<f64>,
}

/// What became of the frames of a film's clips.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FilmFrames {
    /// Copied bit for bit.
    pub(crate) copied: u64,
    /// Encoded again.
    pub(crate) encoded: u64,
}
