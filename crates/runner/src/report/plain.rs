//! Plain lines on standard error: for logs, pipes and terminals that cannot do better.

use engine::Reporter;
use scheduler::{Event, RunState, Timestamp};

use super::{live, messages};

/// Lines about what happened at once go out together.
#[derive(Default)]
pub(crate) struct Plain {
    held: String,
}

impl Reporter for Plain {
    fn on(&mut self, state: &RunState, event: &Event, _now: Timestamp) {
        if let Some(told) = messages::message_for(state, event) {
            self.held.push_str(&told.line);
            self.held.push('\n');
        }
    }

    fn settled(&mut self) {
        if !self.held.is_empty() {
            live::print(&self.held);
            self.held.clear();
        }
    }
}

impl Drop for Plain {
    /// A run that breaks off does so in the middle of what happened.
    fn drop(&mut self) {
        self.settled();
    }
}
