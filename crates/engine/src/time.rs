//! The clock that the executor reads: wall-clock start, monotonic advance.

use scheduler::Timestamp;

/// Where the executor reads the time. Runs never go back in time, even when the machine's clock is set back.
#[derive(Debug, Clone)]
pub struct Clock {
    epoch: Timestamp,
    started: tokio::time::Instant,
}

impl Clock {
    /// A clock that reads `now` at this moment and then advances with tokio's (which tests can pause).
    #[must_use]
    pub fn starting_at(now: Timestamp) -> Self {
        Self { epoch: now, started: tokio::time::Instant::now() }
    }

    /// The present.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.epoch.after(self.started.elapsed())
    }

    /// Waits until `at`; returns at once when that is past.
    pub async fn sleep_until(&self, at: Timestamp) {
        tokio::time::sleep(at.since(self.now())).await;
    }
}
