//! The reporter interface: a run passes every event to its reporter, with the state after it.

use std::time::Duration;

use scheduler::{Event, RunState, Timestamp};

/// How far the joining of a film is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilmProgress {
    /// The film's index in the plan.
    pub film: usize,
    /// Its frames that are copied or encoded.
    pub done: u64,
    /// All its frames.
    pub all: u64,
    /// How long it has been joined for.
    pub elapsed: Duration,
}

/// Observes a run. A reporter can neither stop nor change it.
pub trait Reporter: Send {
    /// `event` has been recorded and applied; `state` is the run after it.
    fn on(&mut self, state: &RunState, event: &Event, now: Timestamp);

    /// A film is being joined. Called a few times a second at most, before the event with which the joining ends; nothing of it is recorded.
    fn on_join(&mut self, state: &RunState, progress: FilmProgress, now: Timestamp) {
        let _ = (state, progress, now);
    }

    /// All events of a batch have been reported: output that was held back to summarize them is due.
    fn flush(&mut self) {}
}

/// Reports nothing.
#[derive(Debug, Default)]
pub struct Silent;

impl Reporter for Silent {
    fn on(&mut self, _state: &RunState, _event: &Event, _now: Timestamp) {}
}
