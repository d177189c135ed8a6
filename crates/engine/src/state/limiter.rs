//! How much may be out at once. Halves when the service says "too much", and grows back with each acceptance.

use std::time::Duration;

use crate::time::Millis;

/// Additive increase, multiplicative decrease over the number of tasks in flight.
#[derive(Debug, Clone)]
pub(super) struct Limiter {
    cap: f64,
    limit: f64,
    hold_until: Option<Millis>,
}

impl Limiter {
    pub(super) fn new(cap: usize) -> Self {
        let cap = cap.max(1) as f64;
        Self { cap, limit: cap, hold_until: None }
    }

    /// Whether one more may be submitted while `in_flight` are out.
    pub(super) fn admits(&self, in_flight: usize, now: Millis) -> bool {
        (in_flight as f64) + 1.0 <= self.limit && self.hold_until.is_none_or(|until| now >= until)
    }

    /// Until when everything is held back.
    pub(super) fn held_until(&self, now: Millis) -> Option<Millis> {
        self.hold_until.filter(|until| *until > now)
    }

    /// The service said "too much": halve, and hold everything for `wait`.
    pub(super) fn slow_down(&mut self, now: Millis, wait: Duration) {
        self.limit = (self.limit / 2.0).floor().max(1.0);
        self.hold_until = self.hold_until.max(Some(now.after(wait)));
    }

    /// The service accepted a task: grow by one for each full round of acceptances.
    pub(super) fn speed_up(&mut self) {
        self.limit = (self.limit + 1.0 / self.limit).min(self.cap);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_holds_and_recovers() {
        let mut limiter = Limiter::new(4);
        let now = Millis(1_000);
        assert!(limiter.admits(3, now) && !limiter.admits(4, now));
        limiter.slow_down(now, Duration::from_secs(2));
        assert!(!limiter.admits(0, now), "everything is held");
        let later = now.after(Duration::from_secs(2));
        assert!(limiter.admits(1, later) && !limiter.admits(2, later));
        for _ in 0..12 {
            limiter.speed_up();
        }
        assert!(limiter.admits(3, later) && !limiter.admits(4, later), "never beyond the cap");
    }
}
