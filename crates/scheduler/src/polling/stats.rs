//! What is known about tasks of each class, and what follows for one of them.

use std::collections::HashMap;
use std::time::Duration;

use super::class::Class;
use super::distribution;
use super::observations::TaskObservations;
use super::optimal_schedule::{self, PollCost};
use super::sample::Sample;

/// What is known about the tasks of one class.
#[derive(Debug, Clone, Default)]
pub struct ClassStats {
    /// Seconds from the submission to the end.
    pub(super) total: Sample,
    /// Seconds from the beginning of the rendering to the end.
    pub(super) render: Sample,
    /// What remained in truth, over what the progress promised.
    pub(super) progress_accuracy: Sample,
}

impl ClassStats {
    /// A task took so long, as an earlier run learnt.
    pub fn record(&mut self, took: Duration) {
        self.total.push(took.as_secs_f64());
    }

    /// Seconds that such a task takes, as a rule.
    #[must_use]
    pub fn median(&self) -> Option<f64> {
        self.total.median()
    }

    /// The shortest that such a task plausibly takes.
    #[must_use]
    pub fn earliest(&self) -> Option<Duration> {
        Duration::try_from_secs_f64(self.total.earliest()?).ok()
    }

    /// Seconds since the submission at which to ask about a task that was submitted `now` seconds ago; nothing where too little is known.
    #[must_use]
    pub fn next_poll_at(&self, seen: &TaskObservations, now: f64, tuning: PollCost) -> Option<f64> {
        let at = optimal_schedule::next_poll(&distribution::completion_distribution(self, seen, now), tuning);
        let is_early = seen.is_queued() && at.is_none();
        // Queued, and nothing else is known: it is not over before it was rendered.
        at.or_else(|| is_early.then(|| self.render.earliest().map(|render| now + render)).flatten())
    }

    /// A task is found to be finished, `now` seconds after its submission; `took` is what the service says that it took.
    pub fn finished(&mut self, seen: &TaskObservations, now: f64, took: Option<Duration>) {
        let not_yet = seen.running_at.min(now);
        let whole = match took {
            // Nothing that contradicts what was seen.
            Some(took) => took.as_secs_f64().clamp(not_yet, now),
            // Somewhere in between, and not always at the same place: otherwise the times of polls would be taken for the times of ends.
            None => not_yet + (now - not_yet) * low_discrepancy(self.total.total_count()),
        };
        self.total.push(whole);
        if let Some((from, to)) = seen.began_after_queue() {
            self.render.push(whole - f64::midpoint(from, to));
        }
        for estimate in seen.progress_estimates.iter().flatten() {
            if estimate.remains > 0.0 && whole > estimate.at {
                self.progress_accuracy.push(((whole - estimate.at) / estimate.remains).clamp(0.05, 20.0));
            }
        }
    }
}

/// The `nth` of a sequence that fills the stretch from 0 to 1 evenly.
fn low_discrepancy(nth: usize) -> f64 {
    (nth as f64 * 0.618_033_988_749_895 + 0.5).fract()
}

/// What is known, by class.
#[derive(Debug, Clone, Default)]
pub struct DurationStats {
    classes: HashMap<Class, ClassStats>,
}

impl DurationStats {
    /// What is known about a class, if anything.
    #[must_use]
    pub fn get(&self, class: &Class) -> Option<&ClassStats> {
        self.classes.get(class)
    }

    /// What is known about a class, to be added to.
    pub fn entry(&mut self, class: Class) -> &mut ClassStats {
        self.classes.entry(class).or_default()
    }
}
