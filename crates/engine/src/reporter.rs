//! How a run tells what happens: the caller's reporter sees every event with the state it led to.

use scheduler::{Event, RunState, Timestamp};

/// Watches a run. A reporter can neither stop nor change it.
pub trait Reporter: Send {
    /// `event` has been recorded and applied; `state` is the run after it.
    fn on(&mut self, state: &RunState, event: &Event, now: Timestamp);

    /// All that has happened at once was told: what was held back, so as to say it together, is to be said now.
    fn settled(&mut self) {}
}

/// Says nothing.
#[derive(Debug, Default)]
pub struct Silent;

impl Reporter for Silent {
    fn on(&mut self, _state: &RunState, _event: &Event, _now: Timestamp) {}
}
