//! The time that the service counts with: the wall clock as it was at the start, continued by the monotonic clock.
//!
//! Invariant: nothing expires because of one look at the wall clock. A wall clock that differs is followed only after it
//! has differed by the same amount for a while, and then what is stored keeps the rest of its life ([`Shift`]).

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::clock::Clock;

/// Differences up to this are not followed, in milliseconds.
const TOLERANCE_MS: i64 = 2_000;

/// How long the wall clock must differ by the same amount to be followed, and agree after the start to be trusted.
const CONFIRMATION: Duration = Duration::from_mins(10);

/// See the module's documentation.
pub(crate) struct ServiceClock {
    clock: Arc<dyn Clock>,
    anchor: Mutex<Anchor>,
}

/// A change of the service's time, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shift {
    /// By how much the time changes.
    pub(crate) by: i64,
    /// The time before the change.
    pub(crate) now: i64,
    /// Since when times were counted from the clock that is given up, in its own time.
    pub(crate) since: i64,
}

#[derive(Debug, Clone, Copy)]
struct Anchor {
    wall_ms: i64,
    monotonic: Duration,
    /// By how much the wall clock is ahead, and since when (monotonic).
    difference: Option<(i64, Duration)>,
}

impl Anchor {
    fn now_ms(&self, monotonic: Duration) -> i64 {
        let elapsed = monotonic.saturating_sub(self.monotonic).as_millis();
        self.wall_ms.saturating_add(i64::try_from(elapsed).unwrap_or(i64::MAX))
    }

    /// Compares with the wall clock; a difference that has lasted is to be followed.
    fn compare(&mut self, wall_ms: i64, monotonic: Duration) -> Option<Shift> {
        let now_ms = self.now_ms(monotonic);
        let ahead = wall_ms.saturating_sub(now_ms);
        if ahead.abs() <= TOLERANCE_MS {
            self.difference = None;
            return None;
        }
        match self.difference {
            Some((before, since)) if (ahead - before).abs() <= TOLERANCE_MS => (monotonic
                .saturating_sub(since)
                >= CONFIRMATION)
                .then_some(Shift { by: ahead, now: now_ms, since: self.wall_ms }),
            _ => {
                self.difference = Some((ahead, monotonic));
                None
            }
        }
    }
}

impl ServiceClock {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        let (wall_ms, monotonic) = clock.both();
        let anchor = Anchor { wall_ms, monotonic, difference: None };
        Self { clock, anchor: Mutex::new(anchor) }
    }

    /// Milliseconds since the Unix epoch (spec 2.5).
    pub(crate) fn now_ms(&self) -> i64 {
        self.anchor().now_ms(self.clock.monotonic())
    }

    /// Compares with the wall clock. A shift that is returned has to be passed to [`Self::follow`].
    pub(crate) fn compare(&self) -> Option<Shift> {
        let (wall, monotonic) = self.clock.both();
        let mut anchor = self.anchor();
        let previous = anchor.difference.map(|(ahead, _)| ahead);
        let shift = anchor.compare(wall, monotonic);
        if let Some((ahead_ms, _)) = anchor.difference
            && previous != Some(ahead_ms)
        {
            tracing::warn!(
                ahead_ms,
                "the clock of this machine was changed; it is followed once it has been so for {} minutes",
                CONFIRMATION.as_secs() / 60
            );
        }
        shift
    }

    /// Continues with the wall clock.
    pub(crate) fn follow(&self, shift: Shift) {
        let monotonic = self.clock.monotonic();
        let mut anchor = self.anchor();
        let wall_ms = anchor.now_ms(monotonic).saturating_add(shift.by);
        *anchor = Anchor { wall_ms, monotonic, difference: None };
        tracing::info!(by_ms = shift.by, "the clock of this machine is followed");
    }

    /// Whether the wall clock has agreed for so long that what has expired may be deleted.
    pub(crate) fn is_confirmed(&self) -> bool {
        let anchor = self.anchor();
        anchor.difference.is_none() && self.clock.monotonic().saturating_sub(anchor.monotonic) >= CONFIRMATION
    }

    fn anchor(&self) -> MutexGuard<'_, Anchor> {
        self.anchor.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;

    fn minutes(count: i64) -> Duration {
        Duration::from_mins(u64::try_from(count).unwrap())
    }

    fn anchor() -> Anchor {
        Anchor { wall_ms: 0, monotonic: Duration::ZERO, difference: None }
    }

    #[test]
    fn short_jumps_are_not_followed() {
        let mut anchor = anchor();
        for minute in 1..100 {
            let jump = if minute % 9 < 8 { 25 * 60 * MINUTE } else { 0 };
            assert_eq!(anchor.compare(minute * MINUTE + jump, minutes(minute)), None, "{minute}");
            assert_eq!(anchor.now_ms(minutes(minute)), minute * MINUTE);
        }
    }

    #[test]
    fn lasting_difference_is_followed_after_ten_minutes() {
        let mut anchor = anchor();
        let wall = |minute: i64| minute * MINUTE - 7 * MINUTE;
        for minute in 5..15 {
            assert_eq!(anchor.compare(wall(minute), minutes(minute)), None, "{minute}");
        }
        let shift = anchor.compare(wall(15), minutes(15));
        assert_eq!(shift, Some(Shift { by: -7 * MINUTE, now: 15 * MINUTE, since: 0 }));
    }

    #[test]
    fn another_difference_starts_the_wait_again() {
        let mut anchor = anchor();
        assert_eq!(anchor.compare(100 * MINUTE, minutes(1)), None);
        assert_eq!(anchor.compare(200 * MINUTE, minutes(10)), None);
        assert_eq!(anchor.compare(201 * MINUTE, minutes(11)), None);
        assert!(anchor.compare(210 * MINUTE, minutes(20)).is_some());
    }

    #[test]
    fn drift_within_the_tolerance_is_ignored() {
        let mut anchor = anchor();
        for minute in 1..50 {
            assert_eq!(anchor.compare(minute * MINUTE + 1_999, minutes(minute)), None);
        }
        assert!(anchor.difference.is_none());
    }
}
