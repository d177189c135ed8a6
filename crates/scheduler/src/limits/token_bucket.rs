//! Token bucket: a rate limit with a small burst after a quiet period.

use serde::{Deserialize, Serialize};

use crate::policy::Rate;
use crate::timestamp::Timestamp;

/// Admits at most [`Rate::count`] in any window of [`Rate::per`]: a tenth of them at once, the others evenly spaced.
///
/// Stored as one time: when the bucket will be full again (generic cell rate algorithm, GCRA). A window of `n` steps then admits at most
/// `n` takes plus the burst, so `per` is divided into as many steps as `most` leaves after the burst.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenBucket {
    /// Microseconds between takes, in the long run.
    step: i64,
    /// Microseconds by which takes may run ahead of their steps.
    slack: i64,
    /// Microseconds since the epoch: when the bucket is full.
    full_at: i64,
}

impl TokenBucket {
    /// A full bucket.
    pub fn new(rate: Rate) -> Self {
        let count = i64::from(rate.count.max(1));
        let ahead = count / 10;
        let per = i64::try_from(rate.per.as_micros()).unwrap_or(i64::MAX);
        let step = (per / (count - ahead)).saturating_add(1);
        Self { step, slack: step.saturating_mul(ahead), full_at: i64::MIN }
    }

    /// The earliest time at which one more may be taken.
    pub fn free_at(&self) -> Timestamp {
        Timestamp(self.full_at.saturating_sub(self.slack).div_euclid(1000).saturating_add(1))
    }

    /// Whether one more may be taken now.
    pub fn admits(&self, now: Timestamp) -> bool {
        self.full_at.saturating_sub(self.slack) <= micros(now)
    }

    pub fn take(&mut self, now: Timestamp) {
        self.take_slowly(now, 1.0);
    }

    /// Takes one; the next ones wait `slower` times as long.
    pub(crate) fn take_slowly(&mut self, now: Timestamp, slower: f64) {
        let step = (self.step as f64 * slower.max(1.0)) as i64;
        self.full_at = self.full_at.max(micros(now)).saturating_add(step);
    }
}

fn micros(time: Timestamp) -> i64 {
    time.0.saturating_mul(1000)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Takes as early as possible, with quiet periods in between, and returns the times.
    fn greedy(rate: Rate, until: i64) -> Vec<i64> {
        let mut bucket = TokenBucket::new(rate);
        let (mut now, mut times) = (Timestamp(0), Vec::new());
        while now.0 < until {
            if bucket.admits(now) {
                bucket.take(now);
                times.push(now.0);
            } else {
                assert!(bucket.free_at() > now, "it says when");
                now = bucket.free_at();
            }
            if times.len() % 997 == 996 {
                now = now.after(rate.per / 3);
            }
        }
        times
    }

    #[test]
    fn token_bucket_never_exceeds_the_rate_and_approaches_it() {
        for (count, per) in [(1, 1_000), (3, 1_000), (10, 1_000), (60, 60_000), (1_000, 1_000)] {
            let rate = Rate { count, per: Duration::from_millis(per) };
            let times = greedy(rate, 40 * per as i64);
            for (index, start) in times.iter().enumerate() {
                let within = times[index..].iter().take_while(|time| **time < start + per as i64).count();
                assert!(within <= count as usize, "{within} of {count} in {per} ms");
            }
            assert!(
                times.len() as f64 > 0.6 * 40.0 * f64::from(count),
                "{} of {count} a stretch",
                times.len()
            );
        }
    }

    #[test]
    fn token_bucket_counts_earlier_takes() {
        let mut bucket = TokenBucket::new(Rate { count: 2, per: Duration::from_secs(10) });
        assert!(bucket.admits(Timestamp(5)));
        bucket.take(Timestamp(1_000));
        assert!(!bucket.admits(Timestamp(5_999)) && bucket.admits(Timestamp(6_002)));
        bucket.take_slowly(Timestamp(6_002), 4.0);
        assert!(!bucket.admits(Timestamp(26_000)) && bucket.admits(Timestamp(26_003)));
    }
}
