//! The poll schedule: when to poll a task next, from durations of past tasks and its own observations. Pure: seconds in, seconds out.
//!
//! A poll has a cost, expressed as the seconds of waiting that it must save in expectation ([`PollCost`]). `optimal_schedule::next_poll`
//! minimizes polls and waiting together for a distribution of the completion time, which is the narrowest of:
//!
//! * durations of similar tasks from their submission ([`Sample`]); no poll is made before the shortest plausible one;
//! * their durations from the start of rendering, once this task is known to render (time in the service's queue varies more);
//! * the end that its reported progress implies, corrected by how accurate progress was before. Progress that does not advance implies nothing.
//!
//! Without samples, [`crate::Policy::fallback_poll_interval`] is used.

mod class;
mod distribution;
mod observations;
mod optimal_schedule;
mod sample;
mod stats;

use std::time::Duration;

use crate::policy::Policy;

pub use class::Class;
pub use observations::{ReportedStatus, TaskObservations};
pub use optimal_schedule::PollCost;
pub use sample::Sample;
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
        .and_then(|at| Duration::try_from_secs_f64(at - now).ok())
        .unwrap_or_else(|| policy.fallback_poll_interval(elapsed, progress));
    wait.max(policy.min_poll_interval)
}
