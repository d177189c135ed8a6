//! When to ask about a task: what past tasks took, and what this one has said so far, set the next poll. Pure: seconds in, seconds out.
//!
//! Asking costs: each poll is seconds making where it saves [`PollCost::worth`] seconds of waiting, in expectation. Between that and the wait itself
//! [`optimal_schedule::next_poll`] finds the best schedule for what is known of the end:
//!
//! * how long like tasks took, from their submission ([`Sample`]): nothing is asked before the shortest of them might have ended;
//! * how long they took to render, once this one is seen at work (a queue in front of a service says little about that);
//! * the end that its reported progress implies, corrected by how accurate such progress was before.
//!
//! The narrowest of these counts. Where nothing is known, [`crate::Policy::fallback_poll_interval`] is the fallback.

mod class;
mod distribution;
mod observations;
pub mod optimal_schedule;
mod sample;
mod stats;

use std::time::Duration;

use crate::policy::Policy;

pub use class::Class;
pub use observations::{ReportedStatus, TaskObservations};
pub use optimal_schedule::PollCost;
pub use sample::Sample;
pub use stats::{ClassStats, DurationStats};

/// How long to wait before a task is asked about that was submitted `elapsed` ago and has said `seen`: by what is known of tasks like it, and
/// where that is nothing by [`Policy::fallback_poll_interval`].
#[must_use]
pub fn wait(
    policy: &Policy,
    known: Option<&ClassStats>,
    seen: &TaskObservations,
    elapsed: Duration,
    progress: Option<u8>,
) -> Duration {
    let tuning = PollCost { seconds: policy.poll_cost.as_secs_f64() };
    let now = elapsed.as_secs_f64();
    let wait = known
        .and_then(|known| known.next_poll_at(seen, now, tuning))
        .and_then(|at| Duration::try_from_secs_f64(at - now).ok())
        .unwrap_or_else(|| policy.fallback_poll_interval(elapsed, progress));
    wait.max(policy.min_poll_interval)
}
