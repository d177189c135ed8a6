//! Time as a value: milliseconds since the epoch, and the small trait that the shell reads it from.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch, the unit of the service's own time stamps (spec 2.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millis(pub i64);

impl Millis {
    /// This time plus `duration`, saturating at the end of representable time.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }

    /// How long after `earlier` this is; zero when it is not after it.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms", self.0)
    }
}

/// Where the executor reads the time. Runs never go back in time, even when the machine's clock is set back.
#[derive(Debug, Clone)]
pub struct Clock {
    epoch: Millis,
    started: tokio::time::Instant,
}

impl Clock {
    /// A clock that reads `now` at this moment and then advances with tokio's (which tests can pause).
    #[must_use]
    pub fn starting_at(now: Millis) -> Self {
        Self { epoch: now, started: tokio::time::Instant::now() }
    }

    /// The present.
    #[must_use]
    pub fn now(&self) -> Millis {
        self.epoch.after(self.started.elapsed())
    }

    /// Waits until `at`; returns at once when that is past.
    pub async fn sleep_until(&self, at: Millis) {
        tokio::time::sleep(at.since(self.now())).await;
    }
}
