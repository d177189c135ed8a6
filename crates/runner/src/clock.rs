//! The system clock.

use std::time::SystemTime;

use scheduler::Timestamp;

/// The current time of the system clock.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// A time in UTC, to the second: `2026-11-21T10:02:00Z`.
pub(crate) fn utc_time(time: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(time.0).map_or_else(|_| "?".to_owned(), |time| format!("{time:.0}"))
}
