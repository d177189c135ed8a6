//! A sample of past durations, and the distribution that it implies.

use std::collections::VecDeque;
use std::sync::OnceLock;

use super::survival::{self, UnfinishedTasks};

/// Number of most recent durations that count.
const MAX_SAMPLES: usize = 256;
/// Minimum number of quantiles of a distribution.
const MIN_QUANTILES: usize = 512;
/// The quantiles are computed again once one in so many durations of the sample is newer.
const STALE_SHARE: usize = 16;
/// Prior standard deviation of log durations; also an upper bound of the estimate.
const PRIOR_LOG_SD: f64 = 0.4;
/// Weight of the prior, in samples.
const PRIOR_WEIGHT: f64 = 2.0;

/// The most recent durations of one kind, in seconds, or ratios of durations.
#[derive(Debug, Clone, Default)]
pub(super) struct Sample {
    newest: VecDeque<f64>,
    /// Number of all durations ever pushed.
    total: usize,
    sorted: Vec<f64>,
    /// Tasks that were not finished when the quantiles were last dropped.
    unfinished: UnfinishedTasks,
    /// Computed on demand: tasks often end in groups.
    quantiles: OnceLock<Vec<f64>>,
    /// Durations pushed since the quantiles were last dropped.
    newer: usize,
    version: u64,
}

impl Sample {
    /// Adds a duration. Values that are not finite and positive are ignored.
    pub(super) fn push(&mut self, seconds: f64) {
        self.push_beside(seconds, std::iter::empty());
    }

    /// Adds a duration while other tasks were last seen unfinished at these ages, in seconds since their submission. Values that are not
    /// finite and positive are ignored.
    pub(super) fn push_beside(&mut self, seconds: f64, unfinished: impl IntoIterator<Item = f64>) {
        if !seconds.is_finite() || seconds <= 0.0 {
            return;
        }
        if self.newest.len() == MAX_SAMPLES
            && let Some(oldest) = self.newest.pop_front()
        {
            let position = self.sorted.partition_point(|sample| *sample < oldest);
            self.sorted.remove(position);
        }
        self.newest.push_back(seconds);
        self.total += 1;
        let position = self.sorted.partition_point(|sample| *sample < seconds);
        self.sorted.insert(position, seconds);
        self.newer += 1;
        if self.newer * STALE_SHARE >= self.sorted.len() {
            self.newer = 0;
            self.version += 1;
            self.quantiles.take();
            let shortest = self.sorted.first().copied().unwrap_or_default();
            self.unfinished = UnfinishedTasks::new(unfinished.into_iter().filter(|age| *age >= shortest));
        }
    }

    /// Number of durations in the sample.
    pub(super) fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Number of all durations ever pushed, including those that newer ones replaced.
    pub(super) fn total_count(&self) -> usize {
        self.total
    }

    /// Another number whenever the quantiles change.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// The median.
    pub(super) fn median(&self) -> Option<f64> {
        self.sorted.get(self.sorted.len() / 2).copied()
    }

    /// Smoothed quantiles in ascending order: the next duration is about as likely between any two neighbors; at the ends they extend a
    /// little beyond the sample. Empty for fewer than two durations. In a large sample the newest few durations may not count yet.
    pub(super) fn quantiles(&self) -> &[f64] {
        self.quantiles.get_or_init(|| self.smoothed_quantiles())
    }

    fn smoothed_quantiles(&self) -> Vec<f64> {
        if self.sorted.len() < 2 {
            return Vec::new();
        }
        // Kernel smoothing, because the sample does not contain every possible duration: narrower with more durations and with smaller
        // spread.
        let durations = survival::equally_likely(&self.sorted, &self.unfinished, PRIOR_LOG_SD);
        let each = MIN_QUANTILES.div_ceil(durations.len());
        let blur = self.deviation() / (self.sorted.len() as f64).cbrt();
        let factors: Vec<f64> = (0..each).map(|nth| (blur * logistic_quantile(nth, each)).exp()).collect();
        let mut points: Vec<f64> =
            durations.iter().flat_map(|seconds| factors.iter().map(move |factor| seconds * factor)).collect();
        points.sort_unstable_by(f64::total_cmp);
        let (low, high) = ends(&points);
        points.insert(0, low);
        points.push(high);
        points
    }

    /// Standard deviation of log durations, shrunk towards the prior.
    fn deviation(&self) -> f64 {
        let count = self.sorted.len() as f64;
        let logs: Vec<f64> = self.sorted.iter().map(|seconds| seconds.ln()).collect();
        let mean = logs.iter().sum::<f64>() / count;
        let squares = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>();
        ((PRIOR_WEIGHT * PRIOR_LOG_SD * PRIOR_LOG_SD + squares) / (PRIOR_WEIGHT + count))
            .sqrt()
            .min(PRIOR_LOG_SD)
    }

    /// The shortest plausible duration.
    pub(super) fn earliest(&self) -> Option<f64> {
        self.quantiles().first().copied()
    }
}

/// Extrapolates both ends by twice the distance of their neighbors.
fn ends(points: &[f64]) -> (f64, f64) {
    let last = points.len() - 1;
    let near = (points.len() / 8).clamp(1, last);
    let gap = |from: usize, to: usize| 2.0 * (points[to] - points[from]) / near as f64;
    ((points[0] - gap(0, near)).max(0.0), points[last] + gap(last - near, last))
}

/// At most `most` points, evenly chosen, including both ends.
pub(super) fn subsample(points: &[f64], max: usize) -> Vec<f64> {
    if points.len() <= max {
        return points.to_vec();
    }
    let last = points.len() - 1;
    (0..max).map(|nth| points[nth * last / (max - 1)]).collect()
}

/// The `nth` of `of` quantiles of a logistic distribution with mean 0 and standard deviation 1.
fn logistic_quantile(nth: usize, count: usize) -> f64 {
    // Close enough to the normal distribution, with a closed form.
    let share = (nth as f64 + 0.5) / count as f64;
    (share / (1.0 - share)).ln() * 3.0_f64.sqrt() / std::f64::consts::PI
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_surround_durations_and_narrow_with_their_number() {
        let mut sample = Sample::default();
        sample.push(f64::NAN);
        sample.push(60.0);
        assert!(sample.quantiles().is_empty(), "one is an anecdote");
        let width = |sample: &Sample| {
            let quantiles = sample.quantiles();
            quantiles[quantiles.len() - 2] - quantiles[1]
        };
        sample.push(60.0);
        let width_of_two = width(&sample);
        assert!(width_of_two > 40.0, "two may be chance: {width_of_two}");
        for _ in 0..400 {
            sample.push(60.0);
        }
        assert_eq!(sample.len(), MAX_SAMPLES);
        assert!(width(&sample) < 0.1 * width_of_two, "by now it is known: {}", width(&sample));
    }

    #[test]
    fn new_durations_replace_old_ones() {
        let mut sample = Sample::default();
        (0..300).for_each(|_| sample.push(10.0));
        (0..256).for_each(|_| sample.push(50.0));
        assert!(sample.earliest() > Some(40.0));
        assert_eq!(sample.median(), Some(50.0));
    }
}
