//! Plain progress lines on standard error, for pipes, logs and dumb terminals.

use engine::Reporter;
use scheduler::{Event, RunState, Timestamp};

use super::{live, messages};

/// Buffers the lines of events that happen together.
pub(crate) struct Plain {
    /// The workflow file, quoted for a shell.
    file: String,
    buffer: String,
}

impl Plain {
    pub(super) fn new(file: String) -> Self {
        Self { file, buffer: String::new() }
    }
}

impl Reporter for Plain {
    fn on(&mut self, state: &RunState, event: &Event, now: Timestamp) {
        if let Some(message) = messages::message_for(state, event, now, &self.file) {
            self.buffer.push_str(&message.line);
            self.buffer.push('\n');
        }
    }

    fn flush(&mut self) {
        if !self.buffer.is_empty() {
            live::print(&self.buffer);
            self.buffer.clear();
        }
    }
}

impl Drop for Plain {
    /// An aborted run may leave lines in the buffer.
    fn drop(&mut self) {
        self.flush();
    }
}
