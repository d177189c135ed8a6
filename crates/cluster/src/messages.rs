//! Messages between the objects, and the names of the objects and their handlers. Everything here is in Restate's journal: hashes, names,
//! ids and events; no key of the service, and no media.

use scheduler::budget::Reservation;
use scheduler::{AttemptId, Download, Event, ForcedRerun, Resolution, RunId, TaskId, Timestamp};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use workflow::plan::NodeIx;

use crate::run::Logged;
use crate::run::RunHead;
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

/// Events for a run, in order.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Events {
    /// The events.
    pub events: Vec<Event>,
}

/// Looks for existing work for the node's key. Answered with [`Event::LookupDone`] or [`Event::Reconciled`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Lookup {
    /// The run that asks.
    pub run: RunId,
    /// Its node.
    pub node: NodeIx,
}

/// Prepares a request and records the intent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Prepare {
    /// The run.
    pub run: RunId,
    /// SHA-256 of its plan.
    pub plan: String,
    /// The node.
    pub node: NodeIx,
    /// The new attempt.
    pub attempt: AttemptId,
    /// Where its inputs come from. Paths are names in the shared store.
    pub sources: Vec<InputSource>,
    /// The most that the task can cost.
    pub reservation: Reservation,
    /// How long the attempt may hold its permit.
    pub lease: Duration,
    /// The forced rerun that the key belongs to, if it is one of this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forced_rerun: Option<ForcedRerun>,
}

/// An attempt of the node: to be submitted, discarded, expired or marked as missing.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OfAttempt {
    /// The run.
    pub run: RunId,
    /// The node.
    pub node: NodeIx,
    /// The attempt.
    pub attempt: AttemptId,
}

/// Polls a task.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Poll {
    /// The run.
    pub run: RunId,
    /// The node.
    pub node: NodeIx,
    /// The attempt.
    pub attempt: AttemptId,
    /// The task.
    pub task: TaskId,
}

/// Downloads a finished video into the shared store.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DownloadVideo {
    /// The run.
    pub run: RunId,
    /// SHA-256 of the run's specification, for the price of the task.
    pub spec: String,
    /// What is downloaded.
    pub download: Download,
}

/// A person resolves an attempt.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Resolve {
    /// The attempt.
    pub attempt: AttemptId,
    /// The resolution.
    pub resolution: Resolution,
}

/// What became of [`Resolve`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Resolved {
    /// It is recorded; the next run acts on it.
    Done,
    /// The key has no such attempt.
    NoSuchAttempt,
    /// The attempt is in a state that nobody has to resolve.
    NotResolvable {
        /// That state.
        state: scheduler::AttemptState,
    },
    /// Another attempt owns the task.
    TaskTaken,
}

/// Joins a film.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Join {
    /// The run.
    pub run: RunId,
    /// SHA-256 of its specification.
    pub spec: String,
    /// The film's index in the plan.
    pub index: usize,
    /// The hash of each node's video that it shows.
    pub videos: Vec<(NodeIx, String)>,
}

/// Starts a run.
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
    pub events: Vec<Logged>,
}

/// Asks an account for a permit and a reservation.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Admit {
    /// The attempt.
    pub attempt: AttemptId,
    /// The most that its task can cost.
    pub reservation: Reservation,
    /// When its permit lapses.
    pub lease_until: Timestamp,
    /// The present time, as journalled by the caller.
    pub now: Timestamp,
    /// The limits of the account, from the worker's configuration.
    pub limits: crate::account::AccountLimits,
}

/// Asks an account which of these tasks, oldest first, no other attempt owns; that one is the attempt's from then on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ClaimTask {
    /// The attempt.
    pub attempt: AttemptId,
    /// The tasks.
    pub candidates: Vec<TaskId>,
}

/// The request of an attempt was sent. Only where the rate of submissions is limited.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Sent {
    /// The attempt.
    pub attempt: AttemptId,
    /// When the response was there, or when it was known that it will not be.
    pub at: Timestamp,
}

/// Until when an attempt whose outcome is unknown holds its permit.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HoldUntil {
    /// The attempt.
    pub attempt: AttemptId,
    /// When its permit lapses.
    pub until: Timestamp,
}

/// The end of an attempt.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FinishAttempt {
    /// The attempt.
    pub attempt: AttemptId,
    /// What becomes of its reservation.
    pub settlement: crate::account::Settlement,
}
