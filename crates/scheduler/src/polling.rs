//! The poll schedule: when the task of a shot is polled.
//!
//! The first poll is made when the quickest fifth of the model's finished tasks had ended ([`FirstPolls`]), each further one after a twentieth
//! of the task's age, within the bounds of [`Policy`].

use std::collections::HashMap;
use std::time::Duration;

use crate::policy::Policy;

/// The wait before the next poll, as a share of the task's age.
const SHARE_OF_AGE: u32 = 20;
/// The share of tasks that have ended at the first poll.
const QUICKEST: usize = 5;
/// Number of tasks of this run that have to end before their durations count.
const MIN_TASKS: usize = 5;
/// Number of durations that are kept of a model, the newest.
const MAX_TASKS: usize = 64;

/// The wait before the next poll of a task that was submitted `age` ago.
pub fn wait(policy: &Policy, age: Duration) -> Duration {
    (age / SHARE_OF_AGE).clamp(policy.min_poll_interval, policy.max_poll_interval)
}

/// The duration that a task may have had that was found finished at `age`: it ended at some time since the poll before.
pub fn observed_duration(age: Duration) -> Duration {
    age.saturating_sub(age / SHARE_OF_AGE)
}

/// The duration within which the quickest fifth of these tasks ended; `None` without tasks.
pub fn quickest_fifth(mut durations: Vec<Duration>) -> Option<Duration> {
    let nth = durations.len() / QUICKEST;
    (nth < durations.len()).then(|| *durations.select_nth_unstable(nth).1)
}

/// When tasks are polled first, by model.
#[derive(Debug, Clone, Default)]
pub struct FirstPolls {
    models: HashMap<String, ModelDurations>,
}

#[derive(Debug, Clone, Default)]
struct ModelDurations {
    /// The quickest fifth of earlier runs.
    recorded: Option<Duration>,
    /// Durations of tasks of this run, the newest last.
    durations: Vec<Duration>,
    /// The quickest fifth of those, once they are enough.
    observed: Option<Duration>,
}

impl FirstPolls {
    /// With the quickest fifth of each model's tasks in earlier runs.
    pub fn new(recorded: impl IntoIterator<Item = (String, Duration)>) -> Self {
        let model = |duration| ModelDurations { recorded: Some(duration), ..ModelDurations::default() };
        Self { models: recorded.into_iter().map(|(name, duration)| (name, model(duration))).collect() }
    }

    /// The age at which a task of `model` is polled first; `None` if none has ended. Where this run's tasks differ from those of earlier runs,
    /// the shorter age: a poll more costs less than a wait.
    pub fn age(&self, model: &str) -> Option<Duration> {
        let model = self.models.get(model)?;
        model.recorded.into_iter().chain(model.observed).min()
    }

    /// A task of `model` has ended, and was found so at `age`. `took` is its duration by the service's own timestamps.
    pub fn record(&mut self, model: &str, age: Duration, took: Option<Duration>) {
        let model = self.models.entry(model.to_owned()).or_default();
        if model.durations.len() == MAX_TASKS {
            model.durations.remove(0);
        }
        model.durations.push(took.map_or_else(|| observed_duration(age), |took| took.min(age)));
        if model.durations.len() >= MIN_TASKS {
            model.observed = quickest_fifth(model.durations.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn wait_is_a_twentieth_of_the_age_within_the_bounds() {
        let waits = |policy: Policy| [1, 100, 1_000].map(|age| wait(&policy, age * SECOND));
        assert_eq!(waits(Policy::remote()), [2 * SECOND, 5 * SECOND, 15 * SECOND]);
        assert_eq!(waits(Policy::local()), [SECOND / 20, 5 * SECOND, 15 * SECOND]);
        assert_eq!(wait(&Policy::local(), SECOND / 1_000), SECOND / 200);
    }

    #[test]
    fn first_poll_follows_the_quickest_fifth_of_finished_tasks() {
        let mut polls = FirstPolls::default();
        for seconds in [90, 60, 70, 80] {
            polls.record("one", seconds * SECOND, Some(seconds * SECOND));
            assert_eq!(polls.age("one"), None, "too few");
        }
        polls.record("one", 100 * SECOND, Some(100 * SECOND));
        assert_eq!(polls.age("one"), Some(70 * SECOND));
        assert_eq!(polls.age("two"), None);
        for _ in 0..MAX_TASKS {
            polls.record("one", 100 * SECOND, None);
        }
        assert_eq!(polls.age("one"), Some(95 * SECOND), "the newest count, from the poll before");
        assert_eq!(polls.models["one"].durations.len(), MAX_TASKS);
    }

    #[test]
    fn first_poll_follows_earlier_runs_unless_tasks_are_shorter_now() {
        let mut polls = FirstPolls::new([("one".to_owned(), 50 * SECOND)]);
        let record = |polls: &mut FirstPolls, seconds| {
            (0..MAX_TASKS).for_each(|_| polls.record("one", seconds * SECOND, Some(seconds * SECOND)));
        };
        record(&mut polls, 80);
        assert_eq!(polls.age("one"), Some(50 * SECOND));
        record(&mut polls, 20);
        assert_eq!(polls.age("one"), Some(20 * SECOND));
    }

    #[test]
    fn quickest_fifth_of_few_tasks_is_the_shortest() {
        assert_eq!(quickest_fifth(Vec::new()), None);
        assert_eq!(quickest_fifth(vec![3 * SECOND, 2 * SECOND, 4 * SECOND]), Some(2 * SECOND));
    }
}
