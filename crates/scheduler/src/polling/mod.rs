//! When to ask about a task: what past tasks took, and what this one has said so far, set the next poll. Pure: seconds in, seconds out.
//!
//! Asking costs: each poll is worth making where it saves [`Tuning::worth`] seconds of waiting, in expectation. Between that and the wait itself
//! [`plan::next`] finds the best schedule for what is known of the end:
//!
//! * how long like tasks took, from their submission ([`Sample`]): nothing is asked before the shortest of them might have ended;
//! * how long they took to render, once this one is seen at work (a queue in front of a service says little about that);
//! * what its progress promises, as far as promises like it were kept.
//!
//! The narrowest of these counts. Where nothing is known, [`crate::Policy::poll_after`] is the fallback.

mod book;
mod class;
mod ends;
pub mod plan;
mod sample;
mod seen;

use std::time::Duration;

use crate::policy::Policy;

pub use book::{Book, Known};
pub use class::Class;
pub use plan::Tuning;
pub use sample::Sample;
pub use seen::{Seen, Standing};

/// How long to wait before a task is asked about that was submitted `elapsed` ago and has said `seen`: by what is known of tasks like it, and
/// where that is nothing by [`Policy::poll_after`].
#[must_use]
pub fn wait(
    policy: &Policy,
    known: Option<&Known>,
    seen: &Seen,
    elapsed: Duration,
    progress: Option<u8>,
) -> Duration {
    let tuning = Tuning { worth: policy.poll_worth.as_secs_f64() };
    let now = elapsed.as_secs_f64();
    let wait = known
        .and_then(|known| known.ask_at(seen, now, tuning))
        .and_then(|at| Duration::try_from_secs_f64(at - now).ok())
        .unwrap_or_else(|| policy.poll_after(elapsed, progress));
    wait.max(policy.poll_min)
}
