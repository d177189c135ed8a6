//! The lines of the event stream: the contract that docs/events.md describes. They change only with [`VERSION`], whatever the engine's own
//! events become.

use schemars::JsonSchema;
use serde::Serialize;

use super::run_ended::RunEnded;

/// The form's version; it moves when a reader of the old one would misread the new one. New kinds and members are no such change.
pub(crate) const VERSION: u32 = 1;

/// One line.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Line<'a> {
    /// The version of this form: 1.
    #[schemars(range(min = 1, max = 1))]
    pub(crate) version: u32,
    /// Counts the lines, from 1, without a gap.
    #[schemars(range(min = 1))]
    pub(crate) seq: u64,
    /// When it happened, in milliseconds since the epoch. Never before the line above.
    pub(crate) at: i64,
    #[serde(flatten)]
    pub(crate) event: EventKind<'a>,
}

/// What happened.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum EventKind<'a> {
    /// The first line.
    RunBegun {
        /// The run.
        run: &'a str,
        /// The workflow's name.
        workflow: &'a str,
        /// The service, as it stands in every key: `embedded`, or its address.
        service: &'a str,
        /// How many shots there are, each instance and take counted.
        shots: usize,
        /// How many films.
        films: usize,
        /// The most tasks out at once.
        jobs: usize,
    },
    /// There is nothing to run: the only line.
    NothingToRun { reason: String },
    /// The run was told more than its workflow.
    Scoped {
        /// How many shots it may submit, where that is not all of them.
        only: Option<usize>,
        /// Whether nothing more is submitted once a shot has failed.
        fail_fast: bool,
    },
    /// The ledger was asked what it knows about a shot's key.
    Looked {
        shot: &'a str,
        /// The beginning of the shot's key.
        key: String,
        #[serde(flatten)]
        found: Found<'a>,
    },
    /// The request is ready and the intent to submit it is durable. Only now may it leave.
    Prepared {
        shot: &'a str,
        attempt: &'a str,
        /// The beginning of the shot's key.
        key: String,
        /// SHA-256 of the request, lower-case hex.
        request: &'a str,
        /// The most that it can cost, in millionths of the price table's currency; `null` where it has no price.
        held: Option<i64>,
        /// The most seconds of video that it can come to.
        seconds: f64,
        /// Whether someone asked for it to be made anew.
        anew: bool,
    },
    /// The intent was not written, because another attempt for the same work is live.
    Taken {
        shot: &'a str,
        #[serde(flatten)]
        found: Found<'a>,
    },
    /// The intent was not written, because it would cross a cap.
    Capped { shot: &'a str, cap: Cap },
    /// The request could not be made ready.
    Unprepared { shot: &'a str, failure: Failure },
    /// The service accepted the request: from here on there is something to pay for.
    Submitted { shot: &'a str, attempt: &'a str, task: &'a str },
    /// The service surely did not accept the request.
    Refused {
        shot: &'a str,
        attempt: &'a str,
        refusal: Refusal,
        failure: Failure,
        /// How long the service asked to wait.
        retry_after_ms: Option<u64>,
    },
    /// The request left and no usable answer came: it may or may not have been accepted.
    Lost { shot: &'a str, attempt: &'a str, reason: String },
    /// The task is queued or in progress. Of polls that bring little news only some are told.
    Progress {
        shot: &'a str,
        attempt: &'a str,
        task: Option<&'a str>,
        /// The service's word.
        status: String,
        /// Percent, where the service said.
        #[schemars(range(max = 100))]
        percent: Option<u8>,
    },
    /// The service has finished the task; its video is fetched next.
    Rendered {
        shot: &'a str,
        attempt: &'a str,
        /// When the service's copies expire, in milliseconds since the epoch.
        expires_at: Option<i64>,
        /// How long it took by the service's own clock, where that says.
        took_ms: Option<u64>,
    },
    /// The task failed at the service.
    TaskFailed { shot: &'a str, attempt: &'a str, failure: Failure },
    /// The service does not know the task, or no longer.
    TaskMissing { shot: &'a str, attempt: &'a str, expired: bool },
    /// The service wants to be asked less often. Of several such answers in a row only some are told.
    Throttled {
        shot: &'a str,
        attempt: &'a str,
        reason: String,
        /// How long the service asked to wait.
        retry_after_ms: Option<u64>,
    },
    /// A poll brought no usable answer. Of several in a row only some are told.
    Unreachable { shot: &'a str, attempt: &'a str, reason: String },
    /// The account no longer works.
    Unusable { shot: &'a str, attempt: &'a str, failure: Failure },
    /// The video is on disk and verified.
    Downloaded {
        shot: &'a str,
        attempt: &'a str,
        video: Video,
        /// What the task came to, in millionths of the price table's currency, where a price is known.
        spent: Option<i64>,
    },
    /// The video could not be fetched this time.
    NotDownloaded {
        shot: &'a str,
        attempt: &'a str,
        failure: Failure,
        /// How many bytes of it are kept, to go on from.
        kept: u64,
    },
    /// A shot has ended in this run. Each shot ends once.
    ShotEnded(Ended<'a>),
    /// A film has ended in this run. Each film ends once.
    FilmEnded(FilmEnded<'a>),
    /// The user asked the run to end: nothing more is submitted, tasks that are out are left to the next run.
    Interrupted,
    /// Nothing more is submitted from here on.
    Halted(Halt),
    /// Videos are made to pick from: `runner pick`.
    PickNeeded {
        shot: &'a str,
        /// How many takes there are.
        takes: usize,
    },
    /// The last line of a run that ended in good order.
    RunEnded(Box<RunEnded<'a>>),
    /// The last line of a run that could not go on: the ledger or the disk cannot be used. What had been submitted is in the ledger.
    RunBroken {
        reason: String,
        /// The code that the process exits with.
        exit: u8,
    },
}

/// What the ledger knows from before.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "found", rename_all = "kebab-case")]
pub(crate) enum Found<'a> {
    /// Nothing that counts.
    Nothing,
    /// The video is there and verified.
    Made { attempt: &'a str, task: &'a str },
    /// A task is out at the service, or finished there.
    Out {
        attempt: &'a str,
        task: &'a str,
        /// When it was submitted.
        since: i64,
    },
    /// A request left and its answer never came back: `runner resolve`.
    Unanswered { attempt: &'a str },
    /// Nobody knows what became of it, and it was given up.
    GivenUp { attempt: &'a str },
    /// The same work is out at another service.
    AtOther { service: &'a str, attempt: &'a str, task: Option<&'a str> },
    /// A run that is alive is submitting it now.
    Busy { run: &'a str },
}

/// Why something did not work.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Failure {
    /// What kind of trouble.
    pub(crate) kind: FailureKind,
    /// What happened, for people.
    #[schemars(length(max = 500))]
    pub(crate) message: String,
    /// The service's own code, where it gave one.
    pub(crate) code: Option<String>,
}

/// Kinds of trouble.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FailureKind {
    InputModerated,
    OutputModerated,
    RateLimited,
    Quota,
    Unauthorized,
    Invalid,
    Transient,
    Expired,
    Corrupt,
    Local,
    Task,
    GivenUp,
}

/// What a refusal asks for.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Refusal {
    /// Too much at once: it is tried again later.
    Later,
    /// Passing trouble: it is tried again.
    Again,
    /// The request itself: the same would be refused again.
    Request,
    /// The account or the address: no request of this run can succeed.
    Service,
}

/// Which cap.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Cap {
    Cost,
    Tasks,
    Seconds,
}

/// A video on disk.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Video {
    /// Where the file is.
    pub(crate) path: String,
    /// SHA-256 of the file, lower-case hex.
    pub(crate) sha256: String,
    pub(crate) bytes: u64,
    /// Playing time.
    pub(crate) seconds: f64,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

/// What is done about a shot.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Decision {
    Reuse,
    Adopt,
    Execute,
    Deferred,
    Blocked,
    Unselected,
}

/// What one shot came to.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Ended<'a> {
    pub(crate) shot: &'a str,
    /// What was decided about it; `null` when the run ended before that was known.
    pub(crate) decision: Option<Decision>,
    pub(crate) outcome: Outcome<'a>,
    /// Its task, if it has one.
    pub(crate) task: Option<&'a str>,
    /// From submission to the file on disk, when both happened in this run.
    pub(crate) took_seconds: Option<f64>,
    /// How many tasks of it failed in this run, each of which another attempt has taken the place of.
    pub(crate) retries: u32,
}

/// How a shot ended in a run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub(crate) enum Outcome<'a> {
    /// Its video is on disk.
    Done { artifact: Video },
    /// It failed for good in this run.
    Failed { failure: Failure },
    /// A submission may or may not have been accepted: `runner resolve` with this attempt.
    Ambiguous { attempt: &'a str, reason: String },
    /// Its task is out and is left to a later run.
    Detached { reason: String },
    /// What comes before it did not end well.
    Blocked {
        /// That shot.
        by: &'a str,
    },
    /// It waits until takes of these shots are picked.
    Unpicked { takes: Vec<&'a str> },
    /// The run was ended first.
    NotBegun,
    /// The run was told to make other shots.
    NotSelected,
}

/// What one film came to.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FilmEnded<'a> {
    /// Its file name, as the workflow gives it.
    pub(crate) name: &'a str,
    #[serde(flatten)]
    pub(crate) outcome: FilmOutcome,
}

/// How a film ended.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub(crate) enum FilmOutcome {
    /// It is on disk.
    Done { film: Film },
    /// Some of its clips are missing.
    Waiting { missing: usize },
    /// Takes that it shows are still to be picked.
    Unpicked { missing: usize },
    /// The clips could not be joined.
    Failed { failure: Failure },
}

/// A film on disk.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Film {
    /// Where the file is.
    pub(crate) path: String,
    /// Playing time.
    pub(crate) seconds: f64,
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Whether it has sound.
    pub(crate) audio: bool,
    /// SHA-256 over the clips' hashes in their order.
    pub(crate) made_of: String,
    /// Whether it was there already, made of the same clips.
    pub(crate) reused: bool,
}

/// Why a run stopped submitting.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "halt", rename_all = "kebab-case")]
pub(crate) enum Halt {
    /// The user asked.
    Interrupted,
    /// The service cannot be used with this account or at this address.
    Unusable { failure: Failure },
    /// A cap is reached.
    Capped { cap: Cap },
    /// A shot failed, and the run was told to submit nothing more then.
    FailFast { shot: String },
}

/// The JSON Schema (2020-12) of a line.
pub(crate) fn schema() -> serde_json::Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12();
    let mut schema = settings.into_generator().into_root_schema_for::<Line<'_>>().to_value();
    schema["title"] = "event".into();
    schema["description"] = "One line of `runner run --format ndjson`.".into();
    schema
}
