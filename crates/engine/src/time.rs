//! The clock that the executor reads: wall-clock start, monotonic advance.

use scheduler::Timestamp;

/// The clock of the executor. Monotonic: a run's time never goes back, even if the machine's clock is set back.
#[derive(Debug, Clone)]
pub struct Clock {
    epoch: Timestamp,
    started: tokio::time::Instant,
}

impl Clock {
    /// A clock that reads `now` at this moment and then advances with tokio's (which tests can pause).
    pub fn starting_at(now: Timestamp) -> Self {
        Self { epoch: now, started: tokio::time::Instant::now() }
    }

    pub fn now(&self) -> Timestamp {
        self.epoch.after(self.started.elapsed())
    }

    /// The moment of `time`; a past one where that is before the clock started.
    pub(crate) fn instant(&self, time: Timestamp) -> tokio::time::Instant {
        self.started + time.since(self.epoch)
    }

    /// Sleeps until `time`; returns at once if that is past.
    pub(crate) async fn sleep_until(&self, time: Timestamp) {
        tokio::time::sleep(time.since(self.now())).await;
    }
}
