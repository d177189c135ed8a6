//! The lines of the event stream, as docs/events.md describes them. A stable format with its own [`VERSION`]; of the scheduler
//! it shares the names of kinds, which the published schema pins.

use std::time::Duration;

use scheduler::budget::BudgetCap;
use scheduler::{FailureKind, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use workflow::units::{self, Money, VideoDuration};

use super::outcomes::{FilmResult, FinishedShot};
use super::run_finished::RunFinished;

/// Format version. Incremented when a reader of the previous version would misread the new one; new kinds and members do not count.
pub(crate) const VERSION: u32 = 4;

/// One line.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EventLine<'a> {
    /// Format version: 4.
    #[schemars(range(min = 4, max = 4))]
    pub(crate) version: u32,
    /// Line number, from 1, without gaps.
    #[schemars(range(min = 1))]
    pub(crate) seq: u64,
    /// Time of the event, in milliseconds since the Unix epoch. Never decreases.
    pub(crate) time: Timestamp,
    #[serde(flatten)]
    pub(crate) event: EventKind<'a>,
}

/// Event kinds.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum EventKind<'a> {
    /// The first line: the run is recorded.
    RunStarted {
        /// The run's id.
        run: &'a str,
        /// The workflow's name.
        workflow: &'a str,
        /// The service: `embedded`, or its base URL.
        service: &'a str,
        /// Number of shots, counting each instance and take.
        shots: usize,
        /// Number of films.
        films: usize,
        /// Maximum number of tasks in flight.
        jobs: usize,
    },
    /// There is nothing to run. The only line.
    NothingToRun { reason: String },
    /// The run has a selection or `--fail-fast`.
    Configured {
        /// Number of selected shots; `null` if all are selected.
        selected: Option<usize>,
        /// Whether submitting stops after the first failed shot.
        fail_fast: bool,
    },
    /// The ledger was queried for existing work with the shot's key.
    Lookup {
        shot: &'a str,
        /// Prefix of the shot's key.
        key: String,
        #[serde(flatten)]
        existing: ExistingWork<'a>,
    },
    /// The intent to submit is durable. The POST is sent only after this.
    Prepared {
        shot: &'a str,
        attempt: &'a str,
        /// Prefix of the shot's key.
        key: String,
        /// SHA-256 of the request, in lower-case hex.
        request: &'a str,
        /// Maximum cost, in millionths of the price table's currency; `null` without a price.
        #[serde(with = "units::micros")]
        #[schemars(with = "Option<i64>")]
        reserved: Option<Money>,
        /// Maximum duration of the video, in seconds.
        #[serde(rename = "seconds", with = "units::seconds")]
        #[schemars(with = "f64")]
        duration: VideoDuration,
        /// Whether `--rerun` asked for it.
        rerun: bool,
    },
    /// The intent was not written: another attempt with the same key is live.
    ClaimConflict {
        shot: &'a str,
        #[serde(flatten)]
        existing: ExistingWork<'a>,
    },
    /// The intent was not written: it would exceed a cap.
    BudgetExceeded { shot: &'a str, cap: BudgetCap },
    /// The request could not be prepared.
    PrepareFailed { shot: &'a str, failure: Failure },
    /// The service accepted the request. It is paid for from here on.
    Submitted { shot: &'a str, attempt: &'a str, task: &'a str },
    /// The service definitely did not accept the request.
    Refused {
        shot: &'a str,
        attempt: &'a str,
        refusal: RefusalKind,
        failure: Failure,
        /// How long the service asked to wait, in milliseconds.
        #[serde(rename = "retry_after_ms", with = "units::millis")]
        #[schemars(with = "Option<u64>")]
        retry_after: Option<Duration>,
        /// When the next submission may be sent, in milliseconds since the Unix epoch, if the service asked to wait.
        not_before: Option<Timestamp>,
    },
    /// The request was sent and no usable response arrived: it may or may not have been accepted.
    Indeterminate {
        shot: &'a str,
        attempt: &'a str,
        reason: String,
        /// The id of a task that the response names, if any: `runner resolve --adopt`.
        suggested_task: Option<&'a str>,
    },
    /// The task is queued or in progress. Repeated polls are throttled.
    Progress {
        shot: &'a str,
        attempt: &'a str,
        task: Option<&'a str>,
        /// The status in the service's words.
        status: String,
        /// Progress in percent, if the service reports it.
        #[schemars(range(max = 100))]
        percent: Option<u8>,
    },
    /// The service completed the task. Its video is downloaded next.
    Rendered {
        shot: &'a str,
        attempt: &'a str,
        /// When the service's copy expires, in milliseconds since the Unix epoch.
        expires_at: Option<Timestamp>,
        /// Duration of the task by the service's own timestamps, in milliseconds.
        #[serde(rename = "task_duration_ms", with = "units::millis")]
        #[schemars(with = "Option<u64>")]
        took: Option<Duration>,
    },
    /// The task failed at the service.
    TaskFailed { shot: &'a str, attempt: &'a str, failure: Failure },
    /// The service does not know the task (404), or no longer (410: `expired`).
    TaskNotFound { shot: &'a str, attempt: &'a str, expired: bool },
    /// A poll was rejected for now (429, 503). Repetitions are throttled.
    Throttled {
        shot: &'a str,
        attempt: &'a str,
        reason: String,
        /// How long the service asked to wait, in milliseconds.
        #[serde(rename = "retry_after_ms", with = "units::millis")]
        #[schemars(with = "Option<u64>")]
        retry_after: Option<Duration>,
        /// When the next poll may be sent, in milliseconds since the Unix epoch, if the service asked to wait.
        not_before: Option<Timestamp>,
    },
    /// A poll got no usable response. Repetitions are throttled.
    Unreachable { shot: &'a str, attempt: &'a str, reason: String },
    /// A poll was rejected because of the account (401, 403).
    Unauthorized { shot: &'a str, attempt: &'a str, failure: Failure },
    /// The video is on disk and verified.
    Downloaded {
        shot: &'a str,
        attempt: &'a str,
        video: Video,
        /// Actual cost, in millionths of the price table's currency, if it has a price.
        #[serde(with = "units::micros")]
        #[schemars(with = "Option<i64>")]
        cost: Option<Money>,
    },
    /// A download failed. It may be retried.
    DownloadFailed {
        shot: &'a str,
        attempt: &'a str,
        failure: Failure,
        /// Number of bytes that were downloaded and kept.
        partial_bytes: u64,
        /// How long the service asked to wait, in milliseconds.
        #[serde(rename = "retry_after_ms", with = "units::millis")]
        #[schemars(with = "Option<u64>")]
        retry_after: Option<Duration>,
        /// When the next try begins, in milliseconds since the Unix epoch; `null` if there is none.
        not_before: Option<Timestamp>,
    },
    /// A shot has an outcome. Once per shot.
    ShotFinished(FinishedShot<'a>),
    /// A film is being joined. For films that take longer than two seconds, at most once a second.
    FilmProgress {
        /// The film's file name.
        name: &'a str,
        /// Its frames that are copied or encoded.
        frames: u64,
        /// All its frames. Its sound follows them.
        all_frames: u64,
    },
    /// A film has an outcome. Once per film.
    FilmFinished(FilmResult<'a>),
    /// The run was interrupted. Nothing more is submitted; tasks in flight are left to the next run.
    Interrupted,
    /// The run stopped submitting.
    Halted(Halt),
    /// Takes or instances are rendered and none is picked: `runner pick`.
    PickNeeded {
        shot: &'a str,
        /// Number of takes or instances to pick from.
        candidates: usize,
    },
    /// The last line of a run that was not aborted.
    RunFinished(Box<RunFinished<'a>>),
    /// The last line of a run that was aborted because the ledger or the disk cannot be used. Submitted tasks are in the ledger.
    RunAborted {
        reason: String,
        /// Exit code of the process.
        exit: u8,
    },
}

/// Existing work with the same key.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "existing", rename_all = "kebab-case")]
pub(crate) enum ExistingWork<'a> {
    /// None.
    None,
    /// The video exists and is verified.
    Completed { attempt: &'a str, task: &'a str },
    /// A task is in flight, or completed but not downloaded.
    InFlight {
        attempt: &'a str,
        task: &'a str,
        /// When it was submitted, in milliseconds since the Unix epoch.
        since: Timestamp,
    },
    /// A submission without a known outcome: `runner resolve`.
    Indeterminate {
        attempt: &'a str,
        /// The id of a task that the response named, if any.
        suggested_task: Option<&'a str>,
    },
    /// Abandoned with `runner resolve --abandon`.
    Abandoned { attempt: &'a str },
    /// The same work was submitted to another service.
    OtherService { service: &'a str, attempt: &'a str, task: Option<&'a str> },
    /// A live run is submitting it.
    ClaimedByOtherRun { run: &'a str },
    /// The record has changed since the last lookup, and it is looked up again: another command has fetched or adopted the task of this attempt of
    /// this run, or another render is asked for.
    Changed { attempt: Option<&'a str> },
}

/// A failure.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Failure {
    /// The kind of failure.
    pub(crate) kind: FailureKind,
    /// The message, for people.
    #[schemars(length(max = 500))]
    pub(crate) message: String,
    /// The service's error code, if it sent one.
    pub(crate) code: Option<String>,
}

/// Kinds of refusals.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RefusalKind {
    /// Rate limited (429): retried later.
    Throttled,
    /// Not sent, because the service throttled another submission of a cluster: sent later, and not counted as a try.
    NotSent,
    /// A transient failure (503), or no connection: retried.
    Retryable,
    /// The request is invalid: not retried.
    InvalidRequest,
    /// The account or the URL: no request of this run can succeed.
    ServiceUnusable,
}

/// A video on disk.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Video {
    /// Path of the file.
    pub(crate) path: String,
    /// SHA-256 of the file, in lower-case hex.
    pub(crate) sha256: String,
    pub(crate) bytes: u64,
    /// Duration in seconds.
    #[serde(rename = "seconds", with = "units::seconds")]
    #[schemars(with = "f64")]
    pub(crate) duration: Duration,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

/// Reasons to stop submitting.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "halt", rename_all = "kebab-case")]
pub(crate) enum Halt {
    /// An interrupt.
    Interrupted,
    /// The service cannot be used with this account or at this URL.
    ServiceUnusable { failure: Failure },
    /// Videos cannot be stored: the disk is full or read-only, or belongs to somebody else.
    StorageUnusable { failure: Failure },
    /// A cap is reached.
    BudgetExceeded { cap: BudgetCap },
    /// A shot failed, with `--fail-fast`.
    FailFast { shot: String },
}

/// The JSON Schema (2020-12) of a line.
pub(crate) fn schema() -> serde_json::Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12();
    let mut schema = settings.into_generator().into_root_schema_for::<EventLine<'_>>().to_value();
    schema["title"] = "event".into();
    schema["description"] = "One line of `runner run --format ndjson`.".into();
    schema
}
