//! How many tasks may be out at once, and how many POSTs may be on their way.
//!
//! Additive increase, multiplicative decrease: "too much" halves the tasks out and lets one POST at a time go, acceptances give both back. What
//! was sent before the service was last found to be busy tells nothing new: a volley of refusals halves once.

use crate::time::Millis;

/// The places that there are for tasks.
#[derive(Debug, Clone)]
pub(in crate::state) struct Places {
    most: f64,
    /// Tasks out, those on their way included: from 1 to `most`.
    limit: f64,
    /// POSTs on their way: from 1 to `most`.
    abreast: f64,
    /// Until when nothing is submitted.
    hold_until: Option<Millis>,
    slowed_at: Option<Millis>,
}

impl Places {
    pub(in crate::state) fn new(most: usize) -> Self {
        let most = most.max(1) as f64;
        Self { most, limit: most, abreast: most, hold_until: None, slowed_at: None }
    }

    /// Whether one more may be submitted while so many places are taken, `on_their_way` of them by POSTs without an answer.
    pub(in crate::state) fn admits(&self, taken: usize, on_their_way: usize, now: Millis) -> bool {
        self.held_until(now).is_none()
            && taken as f64 + 1.0 <= self.limit
            && on_their_way as f64 + 1.0 <= self.abreast
    }

    /// Until when everything is held back.
    pub(in crate::state) fn held_until(&self, now: Millis) -> Option<Millis> {
        self.hold_until.filter(|until| *until > now)
    }

    /// Nothing goes before `until`.
    pub(in crate::state) fn hold(&mut self, until: Millis) {
        self.hold_until = self.hold_until.max(Some(until));
    }

    /// The service said "too much" to what was sent at `sent`.
    pub(in crate::state) fn slow_down(&mut self, sent: Millis, now: Millis, until: Millis) {
        self.hold(until);
        if self.slowed_at.is_some_and(|slowed| sent <= slowed) {
            return;
        }
        self.slowed_at = Some(now);
        self.limit = (self.limit / 2.0).floor().max(1.0);
        self.abreast = 1.0;
    }

    /// The service accepted a task: one more place for each full round of acceptances, one more POST abreast for each.
    pub(in crate::state) fn speed_up(&mut self) {
        self.limit = (self.limit + 1.0 / self.limit).min(self.most);
        self.abreast = (self.abreast + 1.0).min(self.most);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const NOW: Millis = Millis(1_000);

    #[test]
    fn halves_holds_and_recovers() {
        let mut places = Places::new(4);
        assert!(places.admits(3, 3, NOW) && !places.admits(4, 0, NOW));
        let later = NOW.after(Duration::from_secs(2));
        places.slow_down(Millis(900), NOW, later);
        assert!(!places.admits(0, 0, NOW), "everything is held");
        assert!(places.admits(1, 0, later) && !places.admits(2, 0, later));
        assert!(!places.admits(1, 1, later), "one after the other, until one is accepted");
        places.speed_up();
        assert!(places.admits(1, 1, later));
        for _ in 0..12 {
            places.speed_up();
        }
        assert!(places.admits(3, 3, later) && !places.admits(4, 0, later), "never beyond the limit");
    }

    #[test]
    fn a_volley_of_refusals_halves_once_and_there_is_always_one_place() {
        let mut places = Places::new(64);
        for refused in 0..60 {
            places.slow_down(NOW, Millis(1_050 + refused), Millis(2_000));
        }
        assert!(places.admits(31, 0, Millis(2_000)) && !places.admits(32, 0, Millis(2_000)));
        for round in 0..20 {
            places.slow_down(Millis(3_000 + round), Millis(3_000 + round), Millis(4_000));
        }
        assert!(places.admits(0, 0, Millis(4_000)) && !places.admits(1, 0, Millis(4_000)));
    }
}
