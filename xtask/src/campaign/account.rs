//! What the service has accepted, as the user's account there lists it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// One accepted task: something to pay for.
#[derive(Debug, Clone)]
pub(super) struct Task {
    /// The prompt, which names the project and the shot.
    pub(super) prompt: String,
    /// Whether its request has a frame to start from.
    pub(super) has_frame: bool,
    /// When it ends.
    pub(super) done_at: Instant,
    /// Whether it fails; then it costs nothing.
    pub(super) fails: bool,
    /// Until when the service does not find it.
    pub(super) unknown_until: Option<Instant>,
}

/// The tasks of an account, by id.
#[derive(Debug, Default)]
pub(super) struct Account {
    tasks: BTreeMap<String, Task>,
}

impl Account {
    /// Accepts a task and gives its id.
    pub(super) fn accept(
        &mut self,
        prompt: &str,
        has_frame: bool,
        takes: Duration,
        fails: bool,
        unknown_until: Option<Instant>,
    ) -> String {
        let id = format!("task_{:06}", self.tasks.len() + 1);
        let done_at = Instant::now() + takes;
        let task = Task { prompt: prompt.to_owned(), has_frame, done_at, fails, unknown_until };
        self.tasks.insert(id.clone(), task);
        id
    }

    pub(super) fn get(&self, id: &str) -> Option<&Task> {
        self.tasks.get(id)
    }

    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Whether the requests of all tasks of a prompt, those that failed too, have a frame to start from, or none of them has.
    pub(super) fn have_frame(&self, prompt: &str, expected: bool) -> bool {
        self.tasks.values().filter(|task| task.prompt == prompt).all(|task| task.has_frame == expected)
    }

    /// The tasks of a prompt that were paid for, in the order of their acceptance.
    pub(super) fn paid(&self, prompt: &str) -> Vec<String> {
        let paid = self.tasks.iter().filter(|(_, task)| task.prompt == prompt && !task.fails);
        paid.map(|(id, _)| id.clone()).collect()
    }
}
