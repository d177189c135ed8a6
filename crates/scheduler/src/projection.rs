//! The projection of a run's events: attempts and status of each shot. The only fold of the event log.
//!
//! [`Shot`] is the projection of one shot. [`crate::RunState`] keeps one for every node and decides by it; [`RunProjection`] keeps one for
//! every shot in the events on record. Summary, spending, event stream, live view, `runner status` and `run --failed` read it.
//!
//! Outside of a run, [`StatusKind::from_record`] and [`StatusKind::after_run`] name the state of a shot by its record.
//!
//! Invariant: it needs events and nothing else. What only the plan or the policy knows is in the events ([`NextStep`]).

mod run;
mod shot;
mod state_of_record;
mod status;

pub use run::{RecordedEvent, RunProjection};
pub use shot::Shot;
pub use state_of_record::{LastAttempt, StateInRun};
pub use status::{ShotStatus, StatusKind};
