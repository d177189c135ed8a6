//! The injected clocks: the wall clock in milliseconds since the Unix epoch, the unit of the API (spec 2.5), and one that
//! is never set.

use std::{
    sync::LazyLock,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

/// The source of time. Tests inject their own.
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970-01-01T00:00:00Z, as the machine believes.
    fn now_ms(&self) -> i64;

    /// Since some moment of the past; grows evenly, whatever happens to the wall clock.
    fn monotonic(&self) -> Duration;

    /// Both at one moment, to be compared. A clock that a test advances does not move in between.
    fn both(&self) -> (i64, Duration) {
        (self.now_ms(), self.monotonic())
    }
}

/// The clocks of the system.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> i64 {
        // A clock set before 1970 reads as the epoch.
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn monotonic(&self) -> Duration {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        START.elapsed()
    }
}
