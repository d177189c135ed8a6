//! Rate of polls over all tasks.

use std::time::Duration;

use super::TokenBucket;
use crate::policy::{HeededWait, Rate};
use crate::timestamp::Timestamp;

/// The slowest poll rate: the configured rate divided by this.
const SLOWEST: f64 = 64.0;
/// The share of the configured rate that each response restores.
const STEP: f64 = 1.0 / 32.0;
/// How long a probe without a response delays the next one: longer than a poll's timeout.
const PROBE_TIMEOUT: Duration = Duration::from_mins(1);

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
    probe: Probe,
}

/// After a wait that was shorter than the service asked for, a single poll is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Probe {
    /// Polls are not limited to one.
    Off,
    /// The next poll is the probe.
    Next,
    /// A probe is in progress: no other poll before this time.
    Sent { until: Timestamp },
}

impl PollRate {
    pub(crate) fn new(rate: Rate) -> Self {
        Self {
            bucket: TokenBucket::new(rate),
            share: 1.0,
            hold_until: None,
            slowed_at: None,
            rounds: 0,
            probe: Probe::Off,
        }
    }

    /// Admits a poll now, or returns when one may be sent.
    pub(crate) fn take(&mut self, now: Timestamp) -> Result<(), Timestamp> {
        if let Some(until) = self.held_until(now) {
            return Err(until);
        }
        if !self.bucket.admits(now) {
            return Err(self.bucket.free_at());
        }
        self.bucket.take_slowly(now, 1.0 / self.share);
        if self.probe != Probe::Off {
            self.probe = Probe::Sent { until: now.after(PROBE_TIMEOUT) };
        }
        Ok(())
    }

    /// The time before which no poll is sent, because the service asked to wait or a probe is in progress.
    pub(crate) fn held_until(&self, now: Timestamp) -> Option<Timestamp> {
        let probe = match self.probe {
            Probe::Sent { until } => Some(until),
            Probe::Off | Probe::Next => None,
        };
        self.hold_until.max(probe).filter(|until| *until > now)
    }

    /// The service throttled a poll that was sent at `sent`, with `wait` as the heeded part of its Retry-After. Without one the wait is
    /// `first`, doubled with each consecutive throttling up to `longest`. Returns the time before which no poll is sent.
    pub(crate) fn slow_down(
        &mut self,
        sent: Timestamp,
        now: Timestamp,
        wait: Option<HeededWait>,
        (first, longest): (Duration, Duration),
    ) -> Timestamp {
        if self.slowed_at.is_none_or(|slowed| sent > slowed) {
            self.slowed_at = Some(now);
            self.share = (self.share / 2.0).max(1.0 / SLOWEST);
            self.rounds = self.rounds.saturating_add(1);
        }
        let doubled = first.saturating_mul(1 << self.rounds.saturating_sub(1).min(16)).min(longest);
        let until = now.after(wait.map_or(doubled, |heeded| heeded.wait));
        self.hold_until = self.hold_until.max(Some(until));
        if self.probe != Probe::Off || wait.is_some_and(|heeded| heeded.is_capped) {
            self.probe = Probe::Next;
        }
        until
    }

    /// A poll that was sent at `sent` got a response.
    pub(crate) fn speed_up(&mut self, sent: Timestamp) {
        self.rounds = 0;
        self.share = (self.share + STEP).min(1.0);
        if self.slowed_at.is_none_or(|slowed| sent > slowed) {
            self.probe = Probe::Off;
        }
    }

    /// A poll got no response. If it was the probe, the next poll is.
    pub(crate) fn no_response(&mut self) {
        if self.probe != Probe::Off {
            self.probe = Probe::Next;
        }
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
        let asked = |secs| Some(HeededWait { wait: Duration::from_secs(secs), is_capped: false });
        assert_eq!(polls.slow_down(now, now, asked(7), waits), Timestamp(17_000));
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
            polls.speed_up(Timestamp(20_000));
        }
        assert_eq!(polls.take(Timestamp(30_000)), Ok(()));
        assert_eq!(polls.take(Timestamp(30_501)), Ok(()), "as fast as before");
    }

    #[test]
    fn poll_rate_tries_one_poll_after_a_capped_wait() {
        let waits = (Duration::from_secs(1), Duration::from_mins(1));
        let mut polls = PollRate::new(Rate::per_second(100));
        let capped = Some(HeededWait { wait: Duration::from_mins(5), is_capped: true });
        polls.slow_down(Timestamp(1_000), Timestamp(1_000), capped, waits);
        polls.speed_up(Timestamp(900));
        assert_eq!(polls.take(Timestamp(300_999)), Err(Timestamp(301_000)));
        assert_eq!(polls.take(Timestamp(301_000)), Ok(()), "the probe");
        assert_eq!(polls.take(Timestamp(302_000)), Err(Timestamp(361_000)), "no other one meanwhile");
        polls.no_response();
        assert_eq!(polls.take(Timestamp(303_000)), Ok(()), "the next probe");
        polls.slow_down(Timestamp(303_000), Timestamp(303_100), capped, waits);
        assert_eq!(polls.take(Timestamp(603_100)), Ok(()), "another one after each wait");
        polls.speed_up(Timestamp(603_100));
        assert_eq!(polls.take(Timestamp(603_200)), Ok(()), "the service answers");
        assert_eq!(polls.take(Timestamp(603_300)), Ok(()));
    }
}
