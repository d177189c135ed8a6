//! Statistics of task durations by class.

use std::collections::HashMap;
use std::sync::OnceLock;
use std::time::Duration;

use super::class::{Class, ClassIx};
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
    /// When to poll a task first, computed once for many tasks: all that were just submitted have the same distribution.
    first_poll: OnceLock<(PollCost, Option<f64>)>,
}

impl ClassStats {
    /// Adds a task duration that an earlier run measured.
    pub fn record(&mut self, took: Duration) {
        self.push_total(took.as_secs_f64(), std::iter::empty());
    }

    fn push_total(&mut self, seconds: f64, unfinished: impl IntoIterator<Item = f64>) {
        let before = self.total.version();
        self.total.push_beside(seconds, unfinished);
        if self.total.version() != before {
            self.first_poll.take();
        }
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
    pub(super) fn next_poll_at(
        &self,
        observations: &TaskObservations,
        now: f64,
        poll_cost: PollCost,
    ) -> Option<f64> {
        if now > 0.0 || *observations != TaskObservations::default() {
            return self.compute_next_poll(observations, now, poll_cost);
        }
        let compute = || self.compute_next_poll(observations, now, poll_cost);
        let (cost, first_poll) = *self.first_poll.get_or_init(|| (poll_cost, compute()));
        if cost == poll_cost { first_poll } else { compute() }
    }

    fn compute_next_poll(
        &self,
        observations: &TaskObservations,
        now: f64,
        poll_cost: PollCost,
    ) -> Option<f64> {
        let next_poll = optimal_schedule::next_poll(
            &distribution::completion_distribution(self, observations, now),
            poll_cost,
        );
        let is_early = observations.is_queued() && next_poll.is_none();
        // Queued, and nothing else is known: it cannot end before it has been rendered.
        next_poll.or_else(|| is_early.then(|| self.render.earliest().map(|render| now + render)).flatten())
    }

    /// A task was found finished `elapsed` after its submission; `took` is the duration that the service reports. `unfinished` are the
    /// other tasks of the class in flight, as [`TaskObservations::running_at`]. Nothing is learned from a task that may have ended while no
    /// run was there to see it, unless the service reports its duration.
    pub fn finished(
        &mut self,
        observations: &TaskObservations,
        elapsed: Duration,
        took: Option<Duration>,
        unfinished: impl IntoIterator<Item = Duration>,
    ) {
        if took.is_none() && observations.is_unobserved() {
            return;
        }
        let now = elapsed.as_secs_f64();
        let not_yet = observations.running_at().as_secs_f64().min(now);
        let total = match took {
            // Must not contradict the observations.
            Some(took) => took.as_secs_f64().clamp(not_yet, now),
            // Somewhere in the interval, and not always at the same point: otherwise poll times would be learned as completion times.
            None => not_yet + (now - not_yet) * low_discrepancy(self.total.total_count()),
        };
        self.push_total(total, unfinished.into_iter().map(|age| age.as_secs_f64()));
        if let Some((from, to)) = observations.began_after_queue() {
            self.render.push(total - f64::midpoint(from, to));
        }
        for estimate in observations.verifiable_estimates() {
            if estimate.remains > 0.0 && total > estimate.time {
                self.progress_accuracy.push(((total - estimate.time) / estimate.remains).clamp(0.05, 20.0));
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
    indexes: HashMap<Class, ClassIx>,
    /// By index.
    classes: Vec<ClassStats>,
}

impl DurationStats {
    /// Statistics of a class, if there are any.
    #[must_use]
    pub fn get(&self, class: &Class) -> Option<&ClassStats> {
        self.indexes.get(class).map(|class| self.at(*class))
    }

    /// Statistics of a class, created if absent.
    pub fn entry(&mut self, class: Class) -> &mut ClassStats {
        let class = self.index(class);
        self.at_mut(class)
    }

    /// The index of a class, whose statistics are created if absent.
    pub fn index(&mut self, class: Class) -> ClassIx {
        *self.indexes.entry(class).or_insert_with(|| {
            self.classes.push(ClassStats::default());
            ClassIx((self.classes.len() - 1) as u32)
        })
    }

    /// Statistics of the class with this index, which [`Self::index`] of the same value returned; panics otherwise.
    #[must_use]
    pub fn at(&self, class: ClassIx) -> &ClassStats {
        &self.classes[class.0 as usize]
    }

    /// As [`Self::at`].
    pub fn at_mut(&mut self, class: ClassIx) -> &mut ClassStats {
        &mut self.classes[class.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::polling::ReportedStatus;

    fn seconds(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    /// Statistics of 40 tasks of 0.5 to 8 s that were polled every 60 ms and reported `progress` each time.
    fn after_tasks(progress: impl Fn(f64) -> Option<u8>) -> ClassStats {
        let mut stats = ClassStats::default();
        for nth in 0..40 {
            let (mut observations, total) = (TaskObservations::default(), 0.5 * f64::from(1 + nth % 16));
            let mut now = 0.06;
            while now < total {
                observations.record(seconds(now), ReportedStatus::InProgress, progress(now / total));
                now += 0.06;
            }
            stats.finished(&observations, seconds(now), Some(seconds(total)), []);
        }
        stats
    }

    #[test]
    fn progress_that_never_changes_predicts_nothing() {
        let (constant, without) = (after_tasks(|_| Some(50)), after_tasks(|_| None));
        assert_eq!(constant.progress_accuracy.len(), 0);
        let cost = PollCost { seconds: 0.002 };
        for now in [0.0, 0.3, 1.0, 3.0, 7.9] {
            let mut observations = TaskObservations::default();
            if now > 0.0 {
                observations.record(seconds(now), ReportedStatus::InProgress, Some(50));
            }
            let expected = without.next_poll_at(&observations, now, cost);
            assert_eq!(constant.next_poll_at(&observations, now, cost), expected, "after {now} s");
        }
    }

    #[test]
    fn progress_that_advances_predicts_the_end() {
        let stats = after_tasks(|share| Some((share * 100.0) as u8));
        let next_poll = |percent| {
            let mut observations = TaskObservations::default();
            observations.record(seconds(0.06), ReportedStatus::InProgress, Some(0));
            observations.record(seconds(2.0), ReportedStatus::InProgress, Some(percent));
            stats.next_poll_at(&observations, 2.0, PollCost { seconds: 2.0 }).expect("a time")
        };
        let (late, early) = (next_poll(25), next_poll(80));
        assert!((5.0..=9.0).contains(&late) && (2.0..=3.0).contains(&early), "{late} {early}");
    }

    #[test]
    fn first_poll_follows_the_statistics_and_the_cost() {
        let mut stats = ClassStats::default();
        let first = |stats: &ClassStats, seconds| {
            stats.next_poll_at(&TaskObservations::default(), 0.0, PollCost { seconds })
        };
        (0..20).for_each(|_| stats.record(Duration::from_secs(10)));
        let (cheap, costly) = (first(&stats, 0.01), first(&stats, 10.0));
        assert!(cheap < costly, "{cheap:?} {costly:?}");
        assert_eq!(first(&stats, 0.01), cheap);
        (0..300).for_each(|_| stats.record(Duration::from_secs(50)));
        assert!(first(&stats, 0.01) > Some(40.0));
    }
}
