//! Distribution of a task's completion time.

use std::borrow::Cow;

use super::observations::TaskObservations;
use super::sample::subsample;
use super::stats::ClassStats;

/// Number of render durations combined with as many start times.
const MAX_RENDER_QUANTILES: usize = 64;
/// Number of candidate start times of a rendering whose start is not known exactly.
const RENDER_STARTS: usize = 6;
/// Number of progress estimates that must have been verified before any is used.
const MIN_ESTIMATES: usize = 4;

/// Equally likely completion times in seconds since the submission, ascending and all later than `now`. Empty if nothing is known, or if the
/// task has outlasted every sample.
///
/// Polled tasks are many and this is asked after each poll: the points of a class are borrowed, not copied.
pub(super) fn completion_distribution<'s>(
    stats: &'s ClassStats,
    observations: &TaskObservations,
    now: f64,
) -> Points<'s> {
    let mut earliest = now;
    let mut since_beginning = None;
    if let Some((from, to)) = observations.began_after_queue() {
        since_beginning = Some(after_beginning(stats.render.quantiles(), from, to));
    } else if observations.is_queued() {
        // It is not rendering yet.
        earliest += stats.render.earliest().unwrap_or(0.0);
    }
    let estimate =
        observations.progress_estimates[1].filter(|_| stats.progress_accuracy.len() >= MIN_ESTIMATES);
    let by_progress = estimate.map(|estimate| {
        let ratios = stats.progress_accuracy.quantiles().iter();
        ratios.map(|ratio| estimate.time + estimate.remains * ratio).collect()
    });
    let others = [since_beginning, by_progress].into_iter().flatten().map(Cow::Owned);
    let mut possible = std::iter::once(Cow::Borrowed(stats.total.quantiles()))
        .chain(others)
        .map(|points| Points::later_than(earliest, points))
        .filter(|points| points.len() > 1);
    let Some(first) = possible.next() else { return Points::default() };
    let mut narrowest: Option<(f64, Points<'s>)> = None;
    for points in possible {
        let (width, min_width) =
            (points.width(), narrowest.as_ref().map_or_else(|| first.width(), |(width, _)| *width));
        if width < min_width {
            narrowest = Some((width, points));
        }
    }
    narrowest.map_or(first, |(_, points)| points)
}

/// Ascending points, conditioned on being later than a time.
#[derive(Debug, Default)]
pub(super) struct Points<'s> {
    /// That time, if it is between two of the points: the distribution begins there.
    from: Option<f64>,
    values: Cow<'s, [f64]>,
    /// The first of the points that is later.
    first: usize,
}

impl<'s> Points<'s> {
    fn later_than(now: f64, values: Cow<'s, [f64]>) -> Self {
        let first = values.partition_point(|point| *point <= now);
        let from = (first > 0 && first < values.len()).then_some(now);
        Self { from, values, first }
    }

    pub(super) fn len(&self) -> usize {
        self.values.len() - self.first + usize::from(self.from.is_some())
    }

    /// The `nth` point; panics beyond the last.
    pub(super) fn get(&self, nth: usize) -> f64 {
        match (self.from, nth) {
            (Some(from), 0) => from,
            (Some(_), nth) => self.values[self.first + nth - 1],
            (None, nth) => self.values[self.first + nth],
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = f64> {
        self.from.into_iter().chain(self.values[self.first..].iter().copied())
    }

    /// Mean distance from the median.
    fn width(&self) -> f64 {
        let middle = self.get(self.len() / 2);
        self.iter().map(|point| (point - middle).abs()).sum::<f64>() / self.len() as f64
    }
}

#[cfg(test)]
impl From<Vec<f64>> for Points<'_> {
    fn from(points: Vec<f64>) -> Self {
        Self { values: Cow::Owned(points), ..Self::default() }
    }
}

/// Completion times of a rendering that began between two times and takes as long as one of `renders`.
fn after_beginning(renders: &[f64], from: f64, to: f64) -> Vec<f64> {
    let step = (to - from) / RENDER_STARTS as f64;
    let renders = subsample(renders, MAX_RENDER_QUANTILES);
    let renders = &renders;
    let mut points: Vec<f64> = (0..RENDER_STARTS)
        .flat_map(|nth| {
            let begin = from + step * (nth as f64 + 0.5);
            renders.iter().map(move |render| begin + render)
        })
        .collect();
    points.sort_unstable_by(f64::total_cmp);
    points
}
