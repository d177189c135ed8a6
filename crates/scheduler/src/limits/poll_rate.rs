//! Rate of polls over all tasks.

use std::time::Duration;

use super::TokenBucket;
use crate::policy::Rate;
use crate::timestamp::Timestamp;

/// The slowest poll rate: the configured rate divided by this.
const SLOWEST: f64 = 64.0;
/// The share of the configured rate that each response restores.
const STEP: f64 = 1.0 / 32.0;

/// The poll rate: halves on throttling, and recovers with each response.
#[derive(Debug, Clone)]
pub(crate) struct PollRate {
    bucket: TokenBucket,
    /// Factor of the configured rate, from 1/[`SLOWEST`] to 1.
    share: f64,
    hold_until: Option<Timestamp>,
    slowed_at: Option<Timestamp>,
    /// Number of consecutive throttled responses.
    rounds: u32,
}

impl PollRate {
    pub(crate) fn new(rate: Rate) -> Self {
        Self { bucket: TokenBucket::new(rate), share: 1.0, hold_until: None, slowed_at: None, rounds: 0 }
    }

    /// Admits a poll now, or returns when one may be sent.
    pub(crate) fn take(&mut self, now: Timestamp) -> Result<(), Timestamp> {
        if let Some(until) = self.hold_until.filter(|until| *until > now) {
            return Err(until);
        }
        if !self.bucket.admits(now) {
            return Err(self.bucket.free_at());
        }
        self.bucket.take_slowly(now, 1.0 / self.share);
        Ok(())
    }

    /// The service throttled a poll that was sent at `sent`, with `wait` as its Retry-After. Without one the wait is `first`, doubled with
    /// each consecutive throttling up to `longest`. Returns the time before which no poll is sent.
    pub(crate) fn slow_down(
        &mut self,
        sent: Timestamp,
        now: Timestamp,
        wait: Option<Duration>,
        (first, longest): (Duration, Duration),
    ) -> Timestamp {
        if self.slowed_at.is_none_or(|slowed| sent > slowed) {
            self.slowed_at = Some(now);
            self.share = (self.share / 2.0).max(1.0 / SLOWEST);
            self.rounds = self.rounds.saturating_add(1);
        }
        let doubled = first.saturating_mul(1 << self.rounds.saturating_sub(1).min(16)).min(longest);
        let until = now.after(wait.unwrap_or(doubled));
        self.hold_until = self.hold_until.max(Some(until));
        until
    }

    /// A poll got a response.
    pub(crate) fn speed_up(&mut self) {
        self.rounds = 0;
        self.share = (self.share + STEP).min(1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poll_rate_halves_on_throttling_and_recovers() {
        let waits = (Duration::from_secs(1), Duration::from_mins(1));
        let mut polls = PollRate::new(Rate::per_second(2));
        let now = Timestamp(10_000);
        assert_eq!(polls.take(now), Ok(()));
        assert_eq!(polls.take(now), Err(Timestamp(10_501)), "evenly");
        assert_eq!(polls.slow_down(now, now, Some(Duration::from_secs(7)), waits), Timestamp(17_000));
        assert_eq!(
            polls.slow_down(now, Timestamp(10_100), None, waits),
            Timestamp(11_100),
            "the same volley"
        );
        assert_eq!(polls.take(Timestamp(12_000)), Err(Timestamp(17_000)));
        assert_eq!(polls.take(Timestamp(17_000)), Ok(()));
        assert_eq!(polls.take(Timestamp(17_600)), Err(Timestamp(18_001)), "half as fast");
        assert_eq!(
            polls.slow_down(Timestamp(17_000), Timestamp(17_100), None, waits),
            Timestamp(19_100),
            "doubled"
        );
        for _ in 0..32 {
            polls.speed_up();
        }
        assert_eq!(polls.take(Timestamp(30_000)), Ok(()));
        assert_eq!(polls.take(Timestamp(30_501)), Ok(()), "as fast as before");
    }
}
