//! Durations of a class of which some tasks are not finished: the product-limit estimator (Kaplan and Meier, 1958).
//!
//! Of tasks that began together the short ones finish first. Without those that still run, the first durations of a run would say that
//! every task ends soon.

use std::borrow::Cow;

/// Minimum number of equally likely durations where some tasks are not finished.
const MIN_LEVELS: usize = 64;
/// Maximum number of ages that are kept.
const MAX_AGES: usize = 512;

/// Tasks that are not finished.
#[derive(Debug, Clone, Default)]
pub(super) struct UnfinishedTasks {
    /// Seconds from their submission to the last response that said so, ascending.
    ages: Vec<f64>,
    /// Number of tasks that each of the ages stands for.
    weight: f64,
}

impl UnfinishedTasks {
    pub(super) fn new(ages: impl Iterator<Item = f64>) -> Self {
        let mut ages: Vec<f64> = ages.collect();
        ages.sort_unstable_by(f64::total_cmp);
        let count = ages.len();
        if count > MAX_AGES {
            ages = (0..MAX_AGES).map(|nth| ages[nth * count / MAX_AGES]).collect();
        }
        let weight = if ages.is_empty() { 0.0 } else { count as f64 / ages.len() as f64 };
        Self { ages, weight }
    }
}

/// Equally likely durations, ascending, from those of finished tasks, which are ascending, and the ages of tasks that are not finished.
///
/// Beyond the longest finished task, durations follow a power law whose logarithm has the standard deviation `log_sd`: nothing is known of
/// them.
pub(super) fn equally_likely<'f>(
    finished: &'f [f64],
    unfinished: &UnfinishedTasks,
    log_sd: f64,
) -> Cow<'f, [f64]> {
    let Some(longest) = finished.last().copied() else { return Cow::Borrowed(finished) };
    if unfinished.ages.is_empty() {
        return Cow::Borrowed(finished);
    }
    let mut at_risk = finished.len() as f64 + unfinished.weight * unfinished.ages.len() as f64;
    let mut ages = unfinished.ages.iter().peekable();
    let mut survival = 1.0;
    let levels = finished.len().max(MIN_LEVELS);
    let level = |nth: usize| (nth as f64 + 0.5) / levels as f64;
    let mut durations = Vec::with_capacity(levels);
    for duration in finished {
        while ages.next_if(|age| **age < *duration).is_some() {
            at_risk -= unfinished.weight;
        }
        survival *= 1.0 - at_risk.max(1.0).recip();
        at_risk -= 1.0;
        while durations.len() < levels && level(durations.len()) <= 1.0 - survival {
            durations.push(*duration);
        }
    }
    while durations.len() < levels {
        let remaining = (1.0 - level(durations.len())) / survival;
        durations.push(longest * remaining.powf(-log_sd));
    }
    Cow::Owned(durations)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share_beyond(durations: &[f64], limit: f64) -> f64 {
        durations.iter().filter(|duration| **duration > limit).count() as f64 / durations.len() as f64
    }

    #[test]
    fn without_unfinished_tasks_every_finished_one_counts_the_same() {
        let finished = [1.0, 2.0, 4.0];
        assert_eq!(*equally_likely(&finished, &UnfinishedTasks::default(), 0.4), finished);
    }

    #[test]
    fn first_of_many_tasks_to_finish_do_not_stand_for_the_others() {
        let running = UnfinishedTasks::new(std::iter::repeat_n(1.1, 28));
        let durations = equally_likely(&[0.8, 0.9, 1.0, 1.1], &running, 0.4);
        let beyond = share_beyond(&durations, 1.1);
        assert!((beyond - 28.0 / 32.0).abs() < 0.02, "{beyond}");
        assert!(durations.is_sorted() && durations.iter().all(|duration| duration.is_finite()));
    }

    #[test]
    fn tasks_that_began_late_change_nothing_before_their_age() {
        // Of ten tasks of 1 to 10 s, which began together, and ten that began 5.5 s later: as many end in each second.
        let finished: Vec<f64> = (1..=10).map(f64::from).collect();
        let running = UnfinishedTasks::new(std::iter::repeat_n(5.5, 10));
        let durations = equally_likely(&finished, &running, 0.4);
        assert!((share_beyond(&durations, 5.0) - 0.75).abs() < 0.02, "{durations:?}");
        assert!((share_beyond(&durations, 8.0) - 0.3).abs() < 0.02, "{durations:?}");
        assert!(share_beyond(&durations, 10.0) < 0.02, "{durations:?}");
    }

    #[test]
    fn many_ages_are_thinned_out() {
        let running = UnfinishedTasks::new((0..5_000).map(|nth| 1.0 + f64::from(nth) / 5_000.0));
        assert_eq!(running.ages.len(), MAX_AGES);
        assert!((running.weight * MAX_AGES as f64 - 5_000.0).abs() < 1e-6);
    }
}
