//! Messages between the objects, and the names of the objects and their handlers. Everything here is in Restate's journal: hashes, names,
//! ids and events; no key of the service, and no media.

use scheduler::budget::Reservation;
use scheduler::{AttemptId, Download, Event, Resolution, RunId, TaskId, Timestamp};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use workflow::plan::NodeIx;

use crate::account::{AccountLimits, AccountSettlement, Admission, Share};
use crate::index::RenderFact;
use crate::run::{LogEntry, RunHead};
use engine::effects::InputSource;

/// The virtual object of a run; its key is the run's id.
pub const RUN: &str = "Run";
/// The virtual object of a node's key; its key is the node's.
pub const NODE: &str = "Node";
/// The virtual object of an account at a service.
pub const ACCOUNT: &str = "Account";
/// The service that joins films.
pub const FILMS: &str = "Films";
/// The virtual object of an index of runs; its key is a workflow's, or that of all.
pub const INDEX: &str = "RunIndex";
/// The service that says what the workers work for.
pub const ENGINE: &str = "Engine";

/// Answers to messages of a run, in order. A worker sends those that arrive together in one message.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Answers {
    /// When the worker sent them.
    #[serde(rename = "at")]
    pub time: Timestamp,
    pub answers: Vec<Answer>,
}

/// The answer to a message of a run. It may arrive more than once: the run takes the first one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The sequence number of the message.
    pub seq: u64,
    /// What happened, in order.
    pub events: Vec<Event>,
}

/// Looks for existing work for the node's key. Answered with [`Event::LookupDone`] or [`Event::Reconciled`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Lookup {
    /// The run that asks.
    pub run: RunId,
    /// The message's sequence number in the run.
    pub seq: u64,
    pub node: NodeIx,
    /// The number in the list of renders of its instance.
    pub render: u32,
}

/// Prepares a request, waits for a permit, records the intent and submits it. Answered with [`Event::Prepared`] and what became of the
/// submission, or with what kept it from being prepared.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Prepare {
    pub run: RunId,
    /// The message's sequence number in the run.
    pub seq: u64,
    /// SHA-256 of its plan.
    pub plan: String,
    pub node: NodeIx,
    pub attempt: AttemptId,
    /// Where its inputs come from. Paths are names in the shared store.
    pub sources: Vec<InputSource>,
    /// The most that the task can cost.
    pub reservation: Reservation,
    /// How long the attempt may hold its permit.
    pub lease: Duration,
    /// The number in the list of renders of its instance.
    pub render: u32,
}

/// An attempt of the node: to be discarded, or submitted if that has not happened.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AttemptRef {
    pub run: RunId,
    /// The message's sequence number in the run.
    pub seq: u64,
    pub node: NodeIx,
    pub attempt: AttemptId,
}

/// The end of an attempt without a video, as the run learned it: expired or missing. Not answered.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EndAttempt {
    pub attempt: AttemptId,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Poll {
    pub run: RunId,
    /// The message's sequence number in the run.
    pub seq: u64,
    pub node: NodeIx,
    pub attempt: AttemptId,
    pub task: TaskId,
}

/// Downloads a finished video into the shared store.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DownloadVideo {
    pub run: RunId,
    /// The message's sequence number in the run.
    pub seq: u64,
    /// SHA-256 of the run's specification, for the price of the task.
    pub spec: String,
    pub download: Download,
}

/// A person resolves an attempt.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Resolve {
    pub attempt: AttemptId,
    pub resolution: Resolution,
}

/// What became of [`Resolve`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ResolutionResult {
    /// It is recorded; the next run acts on it.
    Done,
    /// The key has no such attempt.
    NoSuchAttempt,
    /// The attempt is in a state that nobody has to resolve.
    NotResolvable { state: scheduler::AttemptState },
    /// Another attempt owns the task.
    TaskTaken,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Join {
    pub run: RunId,
    /// The message's sequence number in the run.
    pub seq: u64,
    /// SHA-256 of its specification.
    pub spec: String,
    /// The film's index in the plan.
    pub index: usize,
    /// The hash of each node's video that it shows.
    pub videos: Vec<(NodeIx, String)>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Start {
    /// SHA-256 of its specification in the shared store.
    pub spec: String,
}

/// Asks for the events of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReadEvents {
    /// The number of the first one, from 0.
    pub from: u64,
}

/// Events of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EventPage {
    /// The run as it is; `None` if there is no such run.
    pub head: Option<RunHead>,
    /// Its events from the number that was asked for. There may be more.
    pub events: Vec<LogEntry>,
}

/// Asks for one more render of instances of a workflow.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AskRenders {
    pub instances: Vec<String>,
    /// Whether one more is asked for although one is asked for already.
    pub asks_for_another: bool,
    /// Instances that are not in the plan any more: what is asked for of them is withdrawn.
    pub gone: Vec<String>,
    /// When the client sent it. Two messages of one time are one.
    #[serde(rename = "at")]
    pub time: Timestamp,
}

/// Asks for facts about the renders of a workflow.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReadRenders {
    /// The number of the first segment.
    pub from: u64,
}

/// Facts about the renders of a workflow, in order.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RenderPage {
    pub facts: Vec<RenderFact>,
    /// Where they go on.
    pub next: Option<u64>,
}

/// Checks a run: what it waits for too long is sent again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// When the check was due. A check that is not the next one of its run sets no timer, so that there is one timer for each run.
    pub due: Timestamp,
}

/// Requests to an account. A worker sends those that arrive together in one message.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AccountBatch {
    /// The time of the worker.
    pub now: Timestamp,
    /// The limits of the account, from the worker's configuration.
    pub limits: AccountLimits,
    /// The requests, in order.
    pub requests: Vec<AccountRequest>,
}

/// A request to an account. It may arrive more than once, which changes nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum AccountRequest {
    /// Asks for a permit and a reservation.
    Admit(Admit),
    /// An attempt has ended.
    Finish(FinishAttempt),
    /// The outcome of an attempt is unknown.
    HoldUntil(HoldUntil),
    /// Asks which of these tasks is the attempt's.
    ClaimTask(ClaimTask),
    /// Renews a worker's share of what is limited over all workers.
    RenewShare(RenewShare),
}

/// The answer to an [`AccountRequest`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum AccountReply {
    /// To [`AccountRequest::Admit`].
    Admission { admission: Admission },
    /// To [`AccountRequest::ClaimTask`].
    Claimed { task: Option<TaskId> },
    /// To [`AccountRequest::RenewShare`].
    Share { share: Share },
    /// To the others.
    Done,
}

/// Renews a worker's share of the limits on polls and downloads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenewShare {
    /// The worker, by the start of its process.
    pub worker: String,
    /// What the service answered to polls since the last renewal.
    pub polls: ObservedResponses,
    /// What it answered to downloads.
    pub downloads: ObservedResponses,
    pub downloading: usize,
}

/// What the service answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedResponses {
    /// Number of requests that were not throttled.
    pub answered: u32,
    /// The last one that was.
    pub throttled: Option<ThrottleNotice>,
}

/// Asks an account for a permit and a reservation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Admit {
    pub attempt: AttemptId,
    pub run: RunId,
    /// The most that its task can cost.
    pub reservation: Reservation,
    /// How long it may hold its permit.
    pub lease: Duration,
    /// The awakeable that is resolved with the admission if it has to wait.
    pub awakeable: String,
}

/// A run has ended early: what waits for a permit on its behalf does not wait any more.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Withdraw {
    pub run: RunId,
}

/// Asks an account which of these tasks, oldest first, no other attempt owns; that one is the attempt's from then on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimTask {
    pub attempt: AttemptId,
    pub candidates: Vec<TaskId>,
}

/// Until when an attempt whose outcome is unknown holds its permit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HoldUntil {
    pub attempt: AttemptId,
    /// When its permit lapses.
    pub until: Timestamp,
}

/// The end of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinishAttempt {
    pub attempt: AttemptId,
    /// What becomes of its reservation.
    pub settlement: AccountSettlement,
    /// If the service throttled it: when it was sent, and its Retry-After.
    pub throttled: Option<ThrottleNotice>,
}

/// The service throttled a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThrottleNotice {
    /// When the request was sent.
    pub sent: Timestamp,
    /// How long nothing is sent.
    pub wait: Duration,
}

impl ThrottleNotice {
    /// A request that was sent at `sent` was answered with 429. Without a `Retry-After`, a second is waited; one that asks for more than a run
    /// of a remote service heeds ([`scheduler::Policy::max_retry_after`]) does not hold the account for longer than that.
    pub fn new(sent: Timestamp, retry_after: Option<Duration>) -> Self {
        let max = scheduler::Policy::remote().max_retry_after;
        Self { sent, wait: retry_after.unwrap_or(Duration::from_secs(1)).min(max) }
    }
}
