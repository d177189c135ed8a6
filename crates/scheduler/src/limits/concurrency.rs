//! Limits tasks in flight and concurrent POSTs.
//!
//! Additive increase, multiplicative decrease: a 429 halves the tasks in flight and allows one POST at a time; acceptances
//! restore both. Refusals of requests that were sent before the last decrease are ignored: a burst of 429s halves once.

use serde::{Deserialize, Serialize};

use crate::timestamp::Timestamp;

/// Additive increase, multiplicative decrease over tasks in flight and concurrent POSTs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AimdLimiter {
    #[serde(rename = "most")]
    max: f64,
    /// Tasks in flight, including those being submitted: from 1 to `max`.
    limit: f64,
    /// POSTs without a response: from 1 to `max`.
    max_concurrent_posts: f64,
    /// No submission before this time.
    hold_until: Option<Timestamp>,
    slowed_at: Option<Timestamp>,
}

impl AimdLimiter {
    /// At most `max` tasks in flight.
    pub fn new(max: usize) -> Self {
        let max = max.max(1) as f64;
        Self { max, limit: max, max_concurrent_posts: max, hold_until: None, slowed_at: None }
    }

    /// Whether one more may be submitted with `taken` slots in use, `posting` of them by POSTs without a response.
    pub fn admits(&self, taken: usize, posting: usize, now: Timestamp) -> bool {
        self.held_until(now).is_none()
            && taken as f64 + 1.0 <= self.limit
            && posting as f64 + 1.0 <= self.max_concurrent_posts
    }

    /// The time before which nothing is submitted.
    pub fn held_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.hold_until.filter(|until| *until > now)
    }

    /// No submission before `until`.
    pub(crate) fn hold(&mut self, until: Timestamp) {
        self.hold_until = self.hold_until.max(Some(until));
    }

    /// No submission before `until`, and then a single one until the service accepts it.
    pub(crate) fn hold_and_probe(&mut self, until: Timestamp) {
        self.hold(until);
        self.max_concurrent_posts = 1.0;
    }

    /// The service throttled a request that was sent at `sent`.
    pub fn slow_down(&mut self, sent: Timestamp, now: Timestamp, until: Timestamp) {
        self.hold(until);
        if self.slowed_at.is_some_and(|slowed| sent <= slowed) {
            return;
        }
        self.slowed_at = Some(now);
        self.limit = (self.limit / 2.0).floor().max(1.0);
        self.max_concurrent_posts = 1.0;
    }

    /// What throttled the last submission is known to be something else, which is limited elsewhere: nothing is limited here.
    pub(crate) fn restore(&mut self) {
        self.limit = self.max;
        self.max_concurrent_posts = self.max;
    }

    /// The limit as it is.
    pub fn limit(&self) -> f64 {
        self.limit
    }

    /// Whether nothing is left of what a throttled request limited.
    pub fn is_restored(&self) -> bool {
        self.limit >= self.max && self.max_concurrent_posts >= self.max
    }

    /// The service accepted a task: one more slot for each full round of acceptances, one more concurrent POST for each.
    pub fn speed_up(&mut self) {
        self.limit = (self.limit + 1.0 / self.limit).min(self.max);
        self.max_concurrent_posts = (self.max_concurrent_posts + 1.0).min(self.max);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const NOW: Timestamp = Timestamp(1_000);

    #[test]
    fn limit_halves_holds_and_recovers() {
        let mut limiter = AimdLimiter::new(4);
        assert!(limiter.admits(3, 3, NOW) && !limiter.admits(4, 0, NOW));
        let later = NOW.after(Duration::from_secs(2));
        limiter.slow_down(Timestamp(900), NOW, later);
        assert!(!limiter.admits(0, 0, NOW), "everything is held");
        assert!(limiter.admits(1, 0, later) && !limiter.admits(2, 0, later));
        assert!(!limiter.admits(1, 1, later), "one after the other, until one is accepted");
        limiter.speed_up();
        assert!(limiter.admits(1, 1, later));
        for _ in 0..12 {
            limiter.speed_up();
        }
        assert!(limiter.admits(3, 3, later) && !limiter.admits(4, 0, later), "never beyond the limit");
    }

    #[test]
    fn refusals_of_one_burst_halve_the_limit_once_and_never_below_one() {
        let mut limiter = AimdLimiter::new(64);
        for refused in 0..60 {
            limiter.slow_down(NOW, Timestamp(1_050 + refused), Timestamp(2_000));
        }
        assert!(limiter.admits(31, 0, Timestamp(2_000)) && !limiter.admits(32, 0, Timestamp(2_000)));
        for round in 0..20 {
            limiter.slow_down(Timestamp(3_000 + round), Timestamp(3_000 + round), Timestamp(4_000));
        }
        assert!(limiter.admits(0, 0, Timestamp(4_000)) && !limiter.admits(1, 0, Timestamp(4_000)));
    }
}
