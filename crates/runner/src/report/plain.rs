//! Plain lines on standard error: for logs, pipes and terminals that cannot do better.

use engine::state::Event;
use engine::{Millis, Reporter, RunState};

use super::{live, story};

pub(crate) struct Plain;

impl Reporter for Plain {
    fn on(&mut self, state: &RunState, event: &Event, _now: Millis) {
        if let Some(told) = story::told(state, event) {
            live::say(&format!("{}\n", told.line));
        }
    }
}
