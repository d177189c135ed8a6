//! Lower bound on the cost of polling: the optimal schedule when the distribution of task durations is known in advance.

/// Resolution of the time grid on which polls may fall.
const STEPS: usize = 600;

/// Cost of the optimal schedule for lognormal durations, absolute and relative to fixed intervals.
pub(super) struct LowerBound {
    /// Polls per task.
    pub(super) polls: f64,
    /// Mean lag in seconds.
    pub(super) lag: f64,
    /// Polls relative to the best fixed interval with at most this lag.
    pub(super) polls_ratio: f64,
    /// Lag relative to the best fixed interval with at most these polls.
    pub(super) lag_ratio: f64,
}

/// Cumulative distribution of task durations on the grid.
struct DurationCdf {
    /// Seconds between grid points.
    step: f64,
    cdf: Vec<f64>,
}

impl DurationCdf {
    fn lognormal(median: f64, sigma: f64) -> Self {
        const SUBSTEPS: usize = 16;
        let step = median * (4.5 * sigma).exp() / STEPS as f64;
        let density = |time: f64| {
            let z = (time / median).ln() / sigma;
            (-z * z / 2.0).exp() / (time * sigma * (2.0 * std::f64::consts::PI).sqrt())
        };
        let (mut sum, mut cdf) = (0.0, vec![0.0]);
        for nth in 0..STEPS {
            let part = step / SUBSTEPS as f64;
            sum += (0..SUBSTEPS)
                .map(|within| density(nth as f64 * step + (within as f64 + 0.5) * part) * part)
                .sum::<f64>();
            cdf.push(sum);
        }
        // The tail beyond the grid is assigned to its last point.
        cdf[STEPS] = 1.0;
        Self { step, cdf }
    }

    fn time(&self, step: usize) -> f64 {
        step as f64 * self.step
    }

    fn mean(&self) -> f64 {
        (1..=STEPS).map(|to| (self.time(to) - self.step / 2.0) * (self.cdf[to] - self.cdf[to - 1])).sum()
    }

    fn share_finished(&self, time: f64) -> f64 {
        let steps = time / self.step;
        let below = (steps as usize).min(STEPS);
        let above = (below + 1).min(STEPS);
        self.cdf[below] + (self.cdf[above] - self.cdf[below]) * (steps - below as f64).clamp(0.0, 1.0)
    }

    /// Polls and lag of a fixed interval.
    fn fixed(&self, interval: f64) -> (f64, f64) {
        let last = (self.time(STEPS) / interval) as u32;
        let polls: f64 = (0..=last).map(|nth| 1.0 - self.share_finished(f64::from(nth) * interval)).sum();
        (polls, polls * interval - self.mean())
    }

    /// Polls and lag of the schedule that minimizes `poll_cost * polls + lag`, by dynamic programming backwards from the last step.
    fn optimal(&self, poll_cost: f64) -> (f64, f64) {
        let mut after = vec![(0.0, 0.0, 0.0); STEPS + 1];
        for from in (0..STEPS).rev() {
            let running = 1.0 - self.cdf[from];
            let (mut best, mut waited) = ((f64::INFINITY, 0.0, 0.0), 0.0);
            for (to, (cost, polls, lag)) in after.iter().enumerate().skip(from + 1) {
                let ends = self.cdf[to] - self.cdf[to - 1];
                waited += self.step * (self.cdf[to - 1] - self.cdf[from]) + ends * self.step / 2.0;
                let total = poll_cost * running + waited + cost;
                if total < best.0 {
                    best = (total, running + polls, waited + lag);
                }
                if poll_cost * running + waited > best.0 {
                    break;
                }
            }
            after[from] = best;
        }
        (after[0].1, after[0].2)
    }
}

/// The bound for lognormal durations, where one poll costs as much as `poll_cost` seconds of lag.
pub(super) fn lower_bound(median: f64, sigma: f64, poll_cost: f64) -> LowerBound {
    let durations = DurationCdf::lognormal(median, sigma);
    let (polls, lag) = durations.optimal(poll_cost);
    let intervals = std::iter::successors(Some(median / 200.0), |interval| Some(interval * 1.01));
    let fixed: Vec<(f64, f64)> = intervals
        .take_while(|interval| *interval < 6.0 * median)
        .map(|interval| durations.fixed(interval))
        .collect();
    let min = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::INFINITY, f64::min);
    let other_polls = min(&mut fixed.iter().filter(|other| other.1 <= lag).map(|other| other.0));
    let other_lag = min(&mut fixed.iter().filter(|other| other.0 <= polls).map(|other| other.1));
    LowerBound { polls, lag, polls_ratio: polls / other_polls, lag_ratio: lag / other_lag }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_interval_lags_by_half_and_costs_more_than_optimal() {
        let durations = DurationCdf::lognormal(90.0, 0.25);
        assert!(
            (durations.mean() / (90.0 * (0.25_f64 * 0.25 / 2.0).exp()) - 1.0).abs() < 0.01,
            "{}",
            durations.mean()
        );
        let (polls, lag) = durations.fixed(2.0);
        assert!(
            (lag - 1.0).abs() < 0.02 && (polls - f64::midpoint(durations.mean(), 1.0)).abs() < 0.02,
            "{polls} {lag}"
        );
        let cost = |(polls, lag): (f64, f64)| polls * 0.5 + lag;
        assert!(cost(durations.optimal(0.5)) < cost(durations.fixed(9.5)));
    }

    #[test]
    fn wider_distribution_raises_the_lower_bound() {
        let (narrow, wide) = (lower_bound(90.0, 0.25, 0.5), lower_bound(90.0, 0.35, 0.5));
        assert!(
            narrow.polls_ratio < 0.5 && wide.polls_ratio > 0.5,
            "{} {}",
            narrow.polls_ratio,
            wide.polls_ratio
        );
    }
}
