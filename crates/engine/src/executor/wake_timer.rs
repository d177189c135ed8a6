//! The timers that the scheduler sets ([`scheduler::Action::Wake`]), as one: several are set at a time, and the first that is due counts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::pin::Pin;
use std::time::Duration;

use tokio::time::Sleep;

use crate::time::Clock;
use scheduler::Timestamp;

/// Timers that have not fired.
pub(super) struct WakeTimer {
    clock: Clock,
    deadlines: BinaryHeap<Reverse<Timestamp>>,
    /// Until the first of them.
    sleep: Pin<Box<Sleep>>,
    sleeps_until: Option<Timestamp>,
}

impl WakeTimer {
    pub(super) fn new(clock: Clock) -> Self {
        let sleep = Box::pin(tokio::time::sleep(Duration::ZERO));
        Self { clock, deadlines: BinaryHeap::new(), sleep, sleeps_until: None }
    }

    pub(super) fn set(&mut self, deadline: Timestamp) {
        self.deadlines.push(Reverse(deadline));
    }

    /// Waits for the first timer and returns how many are due; for ever without one. Cancel-safe.
    pub(super) async fn fired(&mut self) -> usize {
        let Some(Reverse(first)) = self.deadlines.peek().copied() else {
            return std::future::pending().await;
        };
        if self.sleeps_until != Some(first) {
            self.sleep.as_mut().reset(self.clock.instant(first));
            self.sleeps_until = Some(first);
        }
        self.sleep.as_mut().await;
        self.sleeps_until = None;
        let (now, before) = (self.clock.now(), self.deadlines.len());
        while self.deadlines.peek().is_some_and(|Reverse(deadline)| *deadline <= now) {
            self.deadlines.pop();
        }
        before - self.deadlines.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn timers_fire_in_order_and_together_when_late() {
        let clock = Clock::starting_at(Timestamp(1_000));
        let mut timer = WakeTimer::new(clock.clone());
        for deadline in [1_300, 1_050, 1_300, 900] {
            timer.set(Timestamp(deadline));
        }
        assert_eq!(timer.fired().await, 1, "one is past already");
        assert_eq!((timer.fired().await, clock.now()), (1, Timestamp(1_050)));
        let cut_off = tokio::time::timeout(Duration::from_millis(100), timer.fired()).await;
        assert!(cut_off.is_err());
        timer.set(Timestamp(1_200));
        assert_eq!(
            (timer.fired().await, clock.now()),
            (1, Timestamp(1_200)),
            "an earlier one was set meanwhile"
        );
        assert_eq!((timer.fired().await, clock.now()), (2, Timestamp(1_300)));
        assert!(tokio::time::timeout(Duration::from_mins(1), timer.fired()).await.is_err(), "none is set");
    }
}
