//! The polling schedules that are compared.

use std::collections::HashMap;
use std::time::Duration;

use scheduler::Policy;
use scheduler::polling::{self, ClassStats, ReportedStatus, TaskObservations};

use super::simulation::Schedule;

/// A constant interval, in seconds.
pub(super) struct FixedInterval(pub(super) f64);

impl Schedule for FixedInterval {
    fn wait(&mut self, _number: usize, _elapsed: f64) -> f64 {
        self.0
    }
}

/// Exponential backoff: the interval doubles after each poll, from the given one in seconds.
pub(super) struct Doubling(pub(super) f64);

impl Schedule for Doubling {
    fn wait(&mut self, _number: usize, elapsed: f64) -> f64 {
        // Polls at first, 3 first, 7 first, …: the next interval is the elapsed time plus the first.
        elapsed + self.0
    }
}

/// The engine's own schedule.
pub(super) struct LearnedSchedule {
    policy: Policy,
    /// Tasks in flight.
    in_flight: usize,
    stats: ClassStats,
    observations: HashMap<usize, (TaskObservations, Option<u8>)>,
}

impl LearnedSchedule {
    /// With the policy for a remote service and the given cost of a poll in seconds of lag.
    pub(super) fn new(poll_cost: f64, in_flight: usize) -> Self {
        let policy = Policy { poll_cost: Duration::from_secs_f64(poll_cost), ..Policy::remote() };
        Self { policy, in_flight, stats: ClassStats::default(), observations: HashMap::new() }
    }
}

impl Schedule for LearnedSchedule {
    fn wait(&mut self, number: usize, elapsed: f64) -> f64 {
        let (observations, percent) = self.observations.get(&number).copied().unwrap_or_default();
        let elapsed = Duration::from_secs_f64(elapsed);
        polling::wait(&self.policy, Some(&self.stats), &observations, elapsed, percent, self.in_flight)
            .as_secs_f64()
    }

    fn running(&mut self, number: usize, elapsed: f64, status: ReportedStatus, percent: u8) {
        let (observations, last) = self.observations.entry(number).or_default();
        observations.record(Duration::from_secs_f64(elapsed), status, Some(percent));
        *last = Some(percent);
    }

    fn finished(&mut self, number: usize, elapsed: f64, took: Option<f64>) {
        let (observations, _) = self.observations.remove(&number).unwrap_or_default();
        let unfinished = self.observations.values().map(|(observations, _)| observations.running_at());
        let elapsed = Duration::from_secs_f64(elapsed);
        self.stats.finished(&observations, elapsed, took.map(Duration::from_secs_f64), unfinished);
    }
}
