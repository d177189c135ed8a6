//! Distribution of a task's completion time.

use super::observations::TaskObservations;
use super::sample::subsample;
use super::stats::ClassStats;

/// Number of render durations combined with as many start times.
const MAX_RENDER_QUANTILES: usize = 64;
/// Number of candidate start times of a rendering whose start is not known exactly.
const RENDER_STARTS: usize = 6;
/// Number of progress estimates that must have been verified before any is used.
const MIN_ESTIMATES: usize = 4;

/// Equally likely completion times in seconds since the submission, all later than `now`. Empty if nothing is known, or if the task has
/// outlasted every sample.
pub(super) fn completion_distribution(
    stats: &ClassStats,
    observations: &TaskObservations,
    now: f64,
) -> Vec<f64> {
    let mut candidates = vec![stats.total.quantiles().to_vec()];
    let mut earliest = now;
    if let Some((from, to)) = observations.began_after_queue() {
        candidates.push(after_beginning(stats.render.quantiles(), from, to));
    } else if observations.is_queued() {
        // It is not rendering yet.
        earliest += stats.render.earliest().unwrap_or(0.0);
    }
    if let Some(estimate) =
        observations.progress_estimates[1].filter(|_| stats.progress_accuracy.len() >= MIN_ESTIMATES)
    {
        candidates.push(
            stats
                .progress_accuracy
                .quantiles()
                .iter()
                .map(|ratio| estimate.at + estimate.remains * ratio)
                .collect(),
        );
    }
    let still_possible = candidates.into_iter().map(|points| later_than(earliest, &points));
    still_possible
        .filter(|points| points.len() > 1)
        .min_by(|one, other| width(one).total_cmp(&width(other)))
        .unwrap_or_default()
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

/// The distribution, conditioned on the end being later than `now`.
fn later_than(now: f64, points: &[f64]) -> Vec<f64> {
    let past = points.partition_point(|point| *point <= now);
    let mut left = Vec::with_capacity(points.len() - past + 1);
    if past > 0 && past < points.len() {
        left.push(now);
    }
    left.extend_from_slice(&points[past..]);
    left
}

/// Mean distance from the median.
fn width(points: &[f64]) -> f64 {
    let middle = points[points.len() / 2];
    points.iter().map(|point| (point - middle).abs()).sum::<f64>() / points.len() as f64
}
