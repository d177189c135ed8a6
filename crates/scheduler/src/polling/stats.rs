//! Statistics of task durations by class.

use std::collections::HashMap;
use std::time::Duration;

use super::class::Class;
use super::distribution;
use super::observations::TaskObservations;
use super::optimal_schedule::{self, PollCost};
use super::sample::Sample;

/// Statistics of one class.
#[derive(Debug, Clone, Default)]
pub struct ClassStats {
    /// Seconds from submission to completion.
    pub(super) total: Sample,
    /// Seconds from the start of rendering to completion.
    pub(super) render: Sample,
    /// Actual remaining time divided by the progress estimate.
    pub(super) progress_accuracy: Sample,
}

impl ClassStats {
    /// Adds a task duration that an earlier run measured.
    pub fn record(&mut self, took: Duration) {
        self.total.push(took.as_secs_f64());
    }

    /// Median duration.
    #[must_use]
    pub fn median(&self) -> Option<Duration> {
        Duration::try_from_secs_f64(self.total.median()?).ok()
    }

    /// Shortest plausible duration.
    #[must_use]
    pub(crate) fn earliest(&self) -> Option<Duration> {
        Duration::try_from_secs_f64(self.total.earliest()?).ok()
    }

    /// When to poll a task that was submitted `now` seconds ago, in seconds since the submission; `None` if too little is known.
    #[must_use]
    pub(crate) fn next_poll_at(
        &self,
        observations: &TaskObservations,
        now: f64,
        poll_cost: PollCost,
    ) -> Option<f64> {
        let at = optimal_schedule::next_poll(
            &distribution::completion_distribution(self, observations, now),
            poll_cost,
        );
        let is_early = observations.is_queued() && at.is_none();
        // Queued, and nothing else is known: it cannot end before it has been rendered.
        at.or_else(|| is_early.then(|| self.render.earliest().map(|render| now + render)).flatten())
    }

    /// A task was found finished `now` seconds after its submission; `took` is the duration that the service reports. Nothing is learned
    /// from a task that may have ended while no run was there to see it, unless the service reports its duration.
    pub fn finished(&mut self, observations: &TaskObservations, now: f64, took: Option<Duration>) {
        if took.is_none() && observations.is_unobserved() {
            return;
        }
        let not_yet = observations.running_at.min(now);
        let whole = match took {
            // Must not contradict the observations.
            Some(took) => took.as_secs_f64().clamp(not_yet, now),
            // Somewhere in the interval, and not always at the same point: otherwise poll times would be learned as completion times.
            None => not_yet + (now - not_yet) * low_discrepancy(self.total.total_count()),
        };
        self.total.push(whole);
        if let Some((from, to)) = observations.began_after_queue() {
            self.render.push(whole - f64::midpoint(from, to));
        }
        for estimate in observations.progress_estimates.iter().flatten() {
            if estimate.remains > 0.0 && whole > estimate.at {
                self.progress_accuracy.push(((whole - estimate.at) / estimate.remains).clamp(0.05, 20.0));
            }
        }
    }
}

/// The `nth` element of a low-discrepancy sequence in 0 to 1.
fn low_discrepancy(nth: usize) -> f64 {
    (nth as f64 * 0.618_033_988_749_895 + 0.5).fract()
}

/// Statistics of all classes.
#[derive(Debug, Clone, Default)]
pub struct DurationStats {
    classes: HashMap<Class, ClassStats>,
}

impl DurationStats {
    /// Statistics of a class, if there are any.
    #[must_use]
    pub fn get(&self, class: &Class) -> Option<&ClassStats> {
        self.classes.get(class)
    }

    /// Statistics of a class, created if absent.
    pub fn entry(&mut self, class: Class) -> &mut ClassStats {
        self.classes.entry(class).or_default()
    }
}
