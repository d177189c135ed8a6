//! The system clock.

use std::time::SystemTime;

use scheduler::Millis;

/// The current time of the system clock.
pub(crate) fn now() -> Millis {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
