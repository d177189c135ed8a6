//! The poll schedule: when to poll a task next, from durations of past tasks and its own observations. Pure: durations in, durations out; between them, seconds as floating-point numbers.
//!
//! A poll has a cost, expressed as the seconds of waiting that it must save in expectation (`PollCost`). `optimal_schedule::next_poll`
//! minimizes polls and waiting together for a distribution of the completion time, which is the narrowest of:
//!
//! * durations of similar tasks from their submission (`Sample`), of those that still run as well (`survival`); no poll is made before the
//!   shortest plausible one;
//! * their durations from the start of rendering, once this task is known to render (time in the service's queue varies more);
//! * the end that its progress between two reports implies, corrected by how accurate progress was before. Progress that does not advance
//!   implies nothing, and neither does a single report: the beginning of the rendering is rarely known.
//!
//! Without samples, [`crate::Policy::fallback_poll_interval`] is used.

mod class;
mod distribution;
mod observations;
mod optimal_schedule;
mod sample;
mod stats;
mod survival;

use std::time::Duration;

use crate::policy::Policy;
use optimal_schedule::PollCost;

pub use class::{Class, ClassIx};
pub use observations::{ReportedStatus, TaskObservations};
pub use stats::{ClassStats, DurationStats};

/// The wait until the next poll of a task that was submitted `elapsed` ago with these observations: from the statistics of its class, or
/// else by [`Policy::fallback_poll_interval`]. `in_flight` is the number of tasks in flight, with this one.
#[must_use]
pub fn wait(
    policy: &Policy,
    stats: Option<&ClassStats>,
    observations: &TaskObservations,
    elapsed: Duration,
    progress: Option<u8>,
    in_flight: usize,
) -> Duration {
    let poll_cost = PollCost::new(policy.poll_cost, in_flight);
    let now = elapsed.as_secs_f64();
    let wait = stats
        .and_then(|stats| stats.next_poll_at(observations, now, poll_cost))
        .and_then(|next_poll| Duration::try_from_secs_f64(next_poll - now).ok())
        .unwrap_or_else(|| {
            let began = observations.began_after_queue().map(|(from, to)| f64::midpoint(from, to));
            let began =
                began.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).unwrap_or_default();
            let rendering = elapsed.saturating_sub(began);
            policy.fallback_poll_interval(elapsed, rendering, progress)
        });
    wait.max(policy.min_poll_interval)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The waits of a task that is queued until 1.5 s and rendered for `render` seconds, and how late its end is noticed.
    fn polls(stats: &ClassStats, render: f64) -> (Vec<Duration>, f64) {
        let (poll_cost, min_poll_interval) = (Duration::from_millis(25), Duration::from_millis(50));
        let policy = Policy { poll_cost, min_poll_interval, ..Policy::remote() };
        let mut observations = TaskObservations::default();
        let (mut now, mut waits) = (0.16, Vec::new());
        while now < 1.5 + render {
            let percent = ((now - 1.5) / render * 100.0).max(0.0) as u8;
            let status = if now < 1.5 { ReportedStatus::Queued } else { ReportedStatus::InProgress };
            let elapsed = Duration::from_secs_f64(now);
            observations.record(elapsed, status, Some(percent));
            let wait = wait(&policy, Some(stats), &observations, elapsed, Some(percent), 64);
            waits.push(wait);
            now += wait.as_secs_f64();
        }
        (waits, now - 1.5 - render)
    }

    #[test]
    fn first_percents_of_a_task_that_was_queued_do_not_put_off_its_next_poll() {
        // Of tasks that were not queued, whose progress said when they would end.
        let mut others = ClassStats::default();
        for _ in 0..32 {
            let mut observations = TaskObservations::default();
            for (seconds, percent) in [(0.6, 30), (1.0, 50), (1.4, 70)] {
                observations.record(
                    Duration::from_secs_f64(seconds),
                    ReportedStatus::InProgress,
                    Some(percent),
                );
            }
            others.finished(&observations, Duration::from_millis(2_100), Some(Duration::from_secs(2)), []);
        }
        for stats in [ClassStats::default(), others] {
            for render in [1.9, 2.0, 2.1, 6.0, 40.0] {
                let (waits, late) = polls(&stats, render);
                assert!(late < render / 4.0, "{render} s of rendering were noticed {late} s late: {waits:?}");
                assert!(waits.len() < 40, "{}", waits.len());
            }
        }
    }

    #[test]
    fn waits_without_samples_follow_progress_or_else_time() {
        let policy = Policy::remote();
        let (second, minute) = (Duration::from_secs(1), Duration::from_mins(1));
        let wait = |elapsed, rendering, progress| policy.fallback_poll_interval(elapsed, rendering, progress);
        assert_eq!(wait(minute, minute, None), 6 * second);
        assert_eq!(wait(minute, minute, Some(0)), 6 * second, "no percent is no progress");
        assert_eq!(
            wait(minute, minute, Some(90)),
            Duration::from_millis(3_333) + Duration::from_nanos(333_333)
        );
        assert_eq!(wait(minute, 10 * second, Some(1)), 10 * second, "no longer than it was rendered");
        assert_eq!(wait(minute, minute, Some(1)), policy.max_poll_interval);
        assert_eq!(wait(second, second, Some(99)), policy.min_poll_interval);
    }
}
