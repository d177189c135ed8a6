//! What is known about tasks of each class, and what follows for one of them.

use std::collections::HashMap;
use std::time::Duration;

use super::class::Class;
use super::ends;
use super::plan::{self, Tuning};
use super::sample::Sample;
use super::seen::Seen;

/// What is known about the tasks of one class.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// Seconds from the submission to the end.
    pub(super) whole: Sample,
    /// Seconds from the beginning of the rendering to the end.
    pub(super) render: Sample,
    /// What remained in truth, over what the progress promised.
    pub(super) kept: Sample,
}

impl Known {
    /// A task took so long, as an earlier run learnt.
    pub fn note(&mut self, took: Duration) {
        self.whole.push(took.as_secs_f64());
    }

    /// Seconds that such a task takes, as a rule.
    #[must_use]
    pub fn typical(&self) -> Option<f64> {
        self.whole.median()
    }

    /// The shortest that such a task plausibly takes.
    #[must_use]
    pub fn earliest(&self) -> Option<Duration> {
        Duration::try_from_secs_f64(self.whole.earliest()?).ok()
    }

    /// Seconds since the submission at which to ask about a task that was submitted `now` seconds ago; nothing where too little is known.
    #[must_use]
    pub fn ask_at(&self, seen: &Seen, now: f64, tuning: Tuning) -> Option<f64> {
        let at = plan::next(&ends::points(self, seen, now), tuning);
        let is_early = seen.is_queued() && at.is_none();
        // Queued, and nothing else is known: it is not over before it was rendered.
        at.or_else(|| is_early.then(|| self.render.earliest().map(|render| now + render)).flatten())
    }

    /// A task is found to be finished, `now` seconds after its submission; `took` is what the service says that it took.
    pub fn finished(&mut self, seen: &Seen, now: f64, took: Option<Duration>) {
        let not_yet = seen.running_at.min(now);
        let whole = match took {
            // Nothing that contradicts what was seen.
            Some(took) => took.as_secs_f64().clamp(not_yet, now),
            // Somewhere in between, and not always at the same place: otherwise the times of polls would be taken for the times of ends.
            None => not_yet + (now - not_yet) * golden(self.whole.seen()),
        };
        self.whole.push(whole);
        if let Some((from, to)) = seen.began_after_queue() {
            self.render.push(whole - f64::midpoint(from, to));
        }
        for promise in seen.promises.iter().flatten() {
            if promise.remains > 0.0 && whole > promise.at {
                self.kept.push(((whole - promise.at) / promise.remains).clamp(0.05, 20.0));
            }
        }
    }
}

/// The `nth` of a sequence that fills the stretch from 0 to 1 evenly.
fn golden(nth: usize) -> f64 {
    (nth as f64 * 0.618_033_988_749_895 + 0.5).fract()
}

/// What is known, by class.
#[derive(Debug, Clone, Default)]
pub struct Book {
    classes: HashMap<Class, Known>,
}

impl Book {
    /// What is known about a class, if anything.
    #[must_use]
    pub fn known(&self, class: &Class) -> Option<&Known> {
        self.classes.get(class)
    }

    /// What is known about a class, to be added to.
    pub fn of(&mut self, class: Class) -> &mut Known {
        self.classes.entry(class).or_default()
    }
}
