//! The cheapest poll schedule for a known distribution of the completion time.
//!
//! With many polls, their optimal density at any time is proportional to the square root of the hazard rate. With few, as here, the optimum
//! is computed by dynamic programming from the last point backwards: the cost after a poll at one point is that of the next poll, the
//! waiting that it does not save, and the cost after that.

use std::time::Duration;

use super::distribution::Points;

/// Cost parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PollCost {
    /// Seconds of waiting that a poll must save to be worth sending.
    pub(super) seconds: f64,
}

/// Tasks in flight up to which a poll costs the same.
const MIN_SCALED_TASKS: usize = 4;

impl PollCost {
    /// The cost of a poll with so many tasks in flight. A second of waiting for one of many tasks delays the run by a small part of a second,
    /// and the polls of all of them add up.
    pub(super) fn new(poll_cost: Duration, in_flight: usize) -> Self {
        let share = in_flight.max(MIN_SCALED_TASKS) as f64 / MIN_SCALED_TASKS as f64;
        Self { seconds: poll_cost.as_secs_f64() * share }
    }
}

/// Number of candidate times of a schedule.
const CANDIDATE_TIMES: usize = 64;

/// When to poll, on the same clock as `points`, which are ascending and equally likely quantiles of the completion time. `None` if there
/// are fewer than two.
#[must_use]
pub(super) fn next_poll(points: &Points<'_>, poll_cost: PollCost) -> Option<f64> {
    if points.len() < 2 {
        return None;
    }
    let candidates = CandidateTimes::new(points);
    let last = candidates.times.len() - 1;
    // Cost after a poll at each point, and the index of the next poll; at the last point the task has ended for certain.
    let mut costs = vec![0.0_f64; last + 1];
    let mut next_index = last;
    for from in (0..last).rev() {
        let open = 1.0 - candidates.shares[from];
        let (mut best, mut best_to, mut ended) = (f64::INFINITY, last, 0.0);
        for (to, next_cost) in costs.iter().enumerate().skip(from + 1) {
            let share = candidates.shares[to] - candidates.shares[to - 1];
            ended += share * f64::midpoint(candidates.times[to - 1], candidates.times[to]);
            let waited = candidates.times[to] * (candidates.shares[to] - candidates.shares[from]) - ended;
            // From here on the waiting cost only grows.
            if poll_cost.seconds * open + waited > best {
                break;
            }
            let cost = poll_cost.seconds * open + waited + next_cost;
            if cost < best {
                (best, best_to) = (cost, to);
            }
        }
        costs[from] = best;
        next_index = best_to;
    }
    Some(candidates.times[next_index])
}

/// Candidate times, and the probability that the task has ended by each.
struct CandidateTimes {
    times: Vec<f64>,
    shares: Vec<f64>,
}

impl CandidateTimes {
    /// Half of them at quantiles, half evenly spaced: the optimal polls are denser where the end is likelier, but less so than the
    /// distribution.
    fn new(points: &Points<'_>) -> Self {
        let last = points.len() - 1;
        let (first, end) = (points.get(0), points.get(last));
        let span = (end - first).max(f64::MIN_POSITIVE);
        let (mut times, mut shares) =
            (Vec::with_capacity(CANDIDATE_TIMES + 1), Vec::with_capacity(CANDIDATE_TIMES + 1));
        // Hundreds of points for each poll: multiplications only.
        let (step, half_share, half_span) = (1.0 / CANDIDATE_TIMES as f64, 0.5 / last as f64, 0.5 / span);
        let mut next = 0.0;
        let (mut nth, mut previous, mut before) = (0_u32, first, 0.0);
        points.iter().for_each(|point| {
            let index = f64::from(nth);
            let reached = index * half_share + (point - first) * half_span;
            // A long gap is subdivided, with the probability spread evenly.
            while nth > 0 && reached >= next + step && next < 1.0 {
                let part = ((next - before) / (reached - before)).clamp(0.0, 1.0);
                times.push(previous + (point - previous) * part);
                shares.push((index - 1.0 + part) / last as f64);
                next += step;
            }
            if reached >= next && (nth as usize) < last {
                times.push(point);
                shares.push(index / last as f64);
                next = reached + step;
            }
            (nth, previous, before) = (nth + 1, point, reached);
        });
        times.push(end);
        shares.push(1.0);
        Self { times, shares }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn even(from: f64, to: f64) -> Vec<f64> {
        (0..=60).map(|nth| from + (to - from) * f64::from(nth) / 60.0).collect()
    }

    #[test]
    fn next_poll_is_not_before_the_first_point_and_costly_polls_are_few() {
        let poll_time =
            |seconds| next_poll(&even(100.0, 130.0).into(), PollCost { seconds }).expect("a time");
        assert!(poll_time(0.1) > 100.0 && poll_time(0.1) < 104.0, "{}", poll_time(0.1));
        assert!(poll_time(1.0) > poll_time(0.1), "{}", poll_time(1.0));
        assert!((poll_time(1_000.0) - 130.0).abs() < 1e-9, "a single poll, when it is surely over");
        assert_eq!(next_poll(&vec![5.0].into(), PollCost { seconds: 1.0 }), None);
    }

    #[test]
    fn bimodal_distribution_is_polled_at_each_mode() {
        let points: Vec<f64> = even(50.0, 52.0).into_iter().chain(even(150.0, 152.0)).collect();
        let first = next_poll(&points.clone().into(), PollCost { seconds: 3.0 }).expect("a time");
        assert!((51.0..53.0).contains(&first), "{first}");
        let after: Vec<f64> = points.into_iter().filter(|point| *point >= first).collect();
        let second = next_poll(&after.into(), PollCost { seconds: 3.0 }).expect("a time");
        assert!((150.0..=152.0).contains(&second), "not in between: {second}");
    }
}
