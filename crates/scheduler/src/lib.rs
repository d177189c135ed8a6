//! The scheduler: a plan and events in, actions out. No I/O, no clock, no randomness; time, ids and seeds are inputs.
//!
//! * [`RunState::apply`] takes one [`Event`] and the time and returns the [`Action`]s that follow.
//! * [`budget`] reserves before a submission and settles after it.
//! * [`Policy`] holds the limits, time-outs and back-off of a run.
//! * [`polling`] schedules polls from the durations of past tasks and reported progress.
//! * [`history`] and [`last_run`] derive the status of each shot from recorded events.
//!
//! Invariant: a task that has an id is polled for and never submitted again.
//! Invariant: no dependency of this crate does I/O; `cargo tree -p scheduler -e normal` shows it.

mod artifact;
pub mod budget;
pub mod history;
mod ids;
pub mod last_run;
pub mod policy;
pub mod polling;
pub mod spending;
mod state;
mod time;

pub use artifact::Artifact;
pub use budget::Budget;
pub use ids::{AttemptId, RunId, TaskId};
pub use policy::Policy;
pub use state::*;
pub use time::Millis;
