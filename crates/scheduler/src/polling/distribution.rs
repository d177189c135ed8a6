//! When a task may end, as far as is known.

use super::observations::TaskObservations;
use super::sample::subsample;
use super::stats::ClassStats;

/// As many renderings are put to as many beginnings.
const MAX_RENDER_QUANTILES: usize = 64;
/// Moments at which a rendering may have begun, where that is not known closely.
const RENDER_STARTS: usize = 6;
/// Promises that must have been put to the test before any is believed.
const MIN_ESTIMATES: usize = 4;

/// Points between which the end of a task falls, seconds since its submission, all of them later than `now`. Empty where nothing is known, or
/// where it has outlasted everything that is.
pub(super) fn completion_distribution(known: &ClassStats, seen: &TaskObservations, now: f64) -> Vec<f64> {
    let mut candidates = vec![known.total.points().to_vec()];
    let mut earliest = now;
    if let Some((from, to)) = seen.began_after_queue() {
        candidates.push(after_beginning(known.render.points(), from, to));
    } else if seen.is_queued() {
        // It has yet to be rendered.
        earliest += known.render.earliest().unwrap_or(0.0);
    }
    if let Some(estimate) =
        seen.progress_estimates[1].filter(|_| known.progress_accuracy.len() >= MIN_ESTIMATES)
    {
        candidates.push(
            known
                .progress_accuracy
                .points()
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

/// The ends of a rendering that began between two times and takes as long as one of `renders`.
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

/// What is left of a distribution when the end was not before `now`.
fn later_than(now: f64, points: &[f64]) -> Vec<f64> {
    let past = points.partition_point(|point| *point <= now);
    let mut left = Vec::with_capacity(points.len() - past + 1);
    if past > 0 && past < points.len() {
        left.push(now);
    }
    left.extend_from_slice(&points[past..]);
    left
}

/// The mean distance from the middle point.
fn width(points: &[f64]) -> f64 {
    let middle = points[points.len() / 2];
    points.iter().map(|point| (point - middle).abs()).sum::<f64>() / points.len() as f64
}
