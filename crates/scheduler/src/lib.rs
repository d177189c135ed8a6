//! The scheduler: a plan and events in, actions out. No I/O, no clock, no randomness; time, ids and seeds are inputs.
//!
//! * [`RunState::apply`] takes one [`Event`] and the time and returns the [`Action`]s that follow.
//! * [`budget`] reserves before a submission and settles after it.
//! * [`Policy`] holds the limits, timeouts and back-off of a run.
//! * [`polling`] schedules polls by the age of tasks and the durations of finished ones.
//! * [`renders`] says which render of its instance a node is.
//! * [`Shot`] and [`RunProjection`] fold events into attempts and status: the only fold of the event log.
//! * [`last_run`] finds the failed shots of a recorded run.
//!
//! Invariant: a task that has an id is polled for and never submitted again.
//! Invariant: no dependency of this crate does I/O; `cargo tree -p scheduler -e normal` shows it.

// A new event, phase, outcome or state is decided about wherever it matters.
#![warn(clippy::wildcard_enum_match_arm)]

mod action;
mod artifact;
mod attempt;
mod attempt_state;
pub mod budget;
mod event;
mod event_kind;
mod existing_work;
mod ids;
mod input_identities;
mod key_resolver;
pub mod last_run;
mod limits;
mod next_step;
mod outcome;
pub mod policy;
pub mod polling;
mod projection;
mod recorded_attempt;
pub mod renders;
mod response;
pub mod spending;
mod state;
mod timestamp;

pub use action::{Action, Download};
pub use artifact::{Artifact, ModificationTime};
pub use attempt::Attempt;
pub use attempt_state::AttemptState;
pub use budget::Budget;
pub use event::{AskedRender, Event, EventKind, ExistingWork, PollResult, Refusal, RefusalKind, Resolution};
pub use ids::{AttemptId, RunId, Seq, TaskId};
pub use key_resolver::KeyResolver;
pub use limits::{AimdLimiter, ObservedLimits, ObservedRate, PostRamp, TokenBucket};
pub use next_step::NextStep;
pub use outcome::{
    Decision, Failure, FailureKind, Film, FilmFrames, FilmLoudness, FilmOutcome, Halt, Outcome,
};
pub use policy::Policy;
pub use projection::{LastAttempt, RecordedEvent, RunProjection, Shot, ShotStatus, StateInRun, StatusKind};
pub use recorded_attempt::{RecordedAttempt, RecordedVideo};
pub use state::{
    FilmSummary, NodeState, NodeSummary, Phase, PickSummary, RateWait, RunScope, RunState, RunSummary,
    ServiceHistory, UnexpectedEvent, UnusableCopies,
};
pub use timestamp::Timestamp;
