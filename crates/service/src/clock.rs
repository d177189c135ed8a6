//! Time, as an input: milliseconds since the epoch, which is what the wire uses (spec 2.5).

use std::time::{SystemTime, UNIX_EPOCH};

/// Where the service gets the time from. Tests put a clock of their own here.
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    fn now_ms(&self) -> i64;
}

/// The machine's clock.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> i64 {
        // A clock set before 1970 reads as the epoch itself: wrong, but no reason to stop serving.
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}
