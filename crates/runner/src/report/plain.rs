//! Plain lines on standard error: for logs, pipes and terminals that cannot do better.

use engine::state::Event;
use engine::{Millis, Reporter, RunState};

use super::story;

pub(super) struct Plain;

impl Reporter for Plain {
    fn on(&mut self, state: &RunState, event: &Event, now: Millis) {
        if let Some(line) = story::line(state, event, now) {
            eprintln!("{line}");
        }
    }
}
