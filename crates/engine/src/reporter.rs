//! The reporter interface: a run passes every event to its reporter, with the state after it.

use scheduler::{Event, RunState, Timestamp};

/// Observes a run. A reporter can neither stop nor change it.
pub trait Reporter: Send {
    /// `event` has been recorded and applied; `state` is the run after it.
    fn on(&mut self, state: &RunState, event: &Event, now: Timestamp);

    /// All events of a batch have been reported: output that was held back to summarize them is due.
    fn flush(&mut self) {}
}

/// Reports nothing.
#[derive(Debug, Default)]
pub struct Silent;

impl Reporter for Silent {
    fn on(&mut self, _state: &RunState, _event: &Event, _now: Timestamp) {}
}
