//! A token bucket: how often something may happen in a stretch of time, with a small burst after a quiet while.

use crate::policy::Rate;
use crate::time::Millis;

/// Lets at most [`Rate::most`] through in any stretch of [`Rate::per`]: a tenth of them at once, the others evenly.
///
/// It is kept as one time: when the bucket will be full again (the generic cell rate algorithm). In any stretch of `n` steps there are
/// then at most `n` takes and the burst besides, so `per` is cut into as many steps as `most` leaves after the burst.
#[derive(Debug, Clone)]
pub(in crate::state) struct Bucket {
    /// Microseconds from one to the next, in the long run.
    step: i64,
    /// Microseconds by which takes may run ahead of their steps.
    slack: i64,
    /// Microseconds since the epoch: when all is given back.
    full_at: i64,
}

impl Bucket {
    pub(in crate::state) fn new(rate: Rate) -> Self {
        let most = i64::from(rate.most.max(1));
        let ahead = most / 10;
        let per = i64::try_from(rate.per.as_micros()).unwrap_or(i64::MAX);
        let step = (per / (most - ahead)).saturating_add(1);
        Self { step, slack: step.saturating_mul(ahead), full_at: i64::MIN }
    }

    /// The first moment at which one more may go.
    pub(in crate::state) fn free_at(&self) -> Millis {
        Millis(self.full_at.saturating_sub(self.slack).div_euclid(1000).saturating_add(1))
    }

    /// Whether one more may go now.
    pub(in crate::state) fn admits(&self, now: Millis) -> bool {
        self.full_at.saturating_sub(self.slack) <= micros(now)
    }

    /// One goes.
    pub(in crate::state) fn take(&mut self, now: Millis) {
        self.take_slowly(now, 1.0);
    }

    /// One goes, and the next ones wait `slower` times as long as they would.
    pub(in crate::state) fn take_slowly(&mut self, now: Millis, slower: f64) {
        let step = (self.step as f64 * slower.max(1.0)) as i64;
        self.full_at = self.full_at.max(micros(now)).saturating_add(step);
    }
}

fn micros(at: Millis) -> i64 {
    at.0.saturating_mul(1000)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Takes as soon as it may, with quiet whiles in between, and gives the times.
    fn greedy(rate: Rate, until: i64) -> Vec<i64> {
        let mut bucket = Bucket::new(rate);
        let (mut now, mut times) = (Millis(0), Vec::new());
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
    fn no_stretch_holds_more_than_the_rate_and_the_long_run_comes_close() {
        for (most, per) in [(1, 1_000), (3, 1_000), (10, 1_000), (60, 60_000), (1_000, 1_000)] {
            let rate = Rate { most, per: Duration::from_millis(per) };
            let times = greedy(rate, 40 * per as i64);
            for (at, begin) in times.iter().enumerate() {
                let within = times[at..].iter().take_while(|time| **time < begin + per as i64).count();
                assert!(within <= most as usize, "{within} of {most} in {per} ms");
            }
            assert!(times.len() as f64 > 0.6 * 40.0 * f64::from(most), "{} of {most} a stretch", times.len());
        }
    }

    #[test]
    fn what_went_before_counts() {
        let mut bucket = Bucket::new(Rate { most: 2, per: Duration::from_secs(10) });
        assert!(bucket.admits(Millis(5)));
        bucket.take(Millis(1_000));
        assert!(!bucket.admits(Millis(5_999)) && bucket.admits(Millis(6_002)));
        bucket.take_slowly(Millis(6_002), 4.0);
        assert!(!bucket.admits(Millis(26_000)) && bucket.admits(Millis(26_003)));
    }
}
