//! The least that asking can cost when the distribution of a task's length is known: what no schedule that has to learn it can undercut.

/// Steps of the clock on which polls may fall.
const STEPS: usize = 600;

/// The best schedule for lengths that are distributed log-normally, and what the best fixed intervals cost.
pub(super) struct Least {
    /// Polls a task.
    pub(super) polls: f64,
    /// Mean lag in seconds.
    pub(super) lag: f64,
    /// Its polls, over those of the best fixed interval that lags no more.
    pub(super) of_polls: f64,
    /// Its lag, over that of the best fixed interval that asks no more often.
    pub(super) of_lag: f64,
}

/// What has ended by each step of the clock.
struct Known {
    step: f64,
    ended: Vec<f64>,
}

impl Known {
    fn lognormal(median: f64, sigma: f64) -> Self {
        const WITHIN: usize = 16;
        let step = median * (4.5 * sigma).exp() / STEPS as f64;
        let density = |at: f64| {
            let off = (at / median).ln() / sigma;
            (-off * off / 2.0).exp() / (at * sigma * (2.0 * std::f64::consts::PI).sqrt())
        };
        let (mut sum, mut ended) = (0.0, vec![0.0]);
        for nth in 0..STEPS {
            let part = step / WITHIN as f64;
            sum += (0..WITHIN)
                .map(|within| density(nth as f64 * step + (within as f64 + 0.5) * part) * part)
                .sum::<f64>();
            ended.push(sum);
        }
        // What little ends later is taken to end with the clock.
        ended[STEPS] = 1.0;
        Self { step, ended }
    }

    fn at(&self, step: usize) -> f64 {
        step as f64 * self.step
    }

    fn mean(&self) -> f64 {
        (1..=STEPS).map(|to| (self.at(to) - self.step / 2.0) * (self.ended[to] - self.ended[to - 1])).sum()
    }

    fn by(&self, at: f64) -> f64 {
        let steps = at / self.step;
        let below = (steps as usize).min(STEPS);
        let above = (below + 1).min(STEPS);
        self.ended[below] + (self.ended[above] - self.ended[below]) * (steps - below as f64).clamp(0.0, 1.0)
    }

    /// Polls and lag of a fixed interval.
    fn fixed(&self, interval: f64) -> (f64, f64) {
        let last = (self.at(STEPS) / interval) as u32;
        let polls: f64 = (0..=last).map(|nth| 1.0 - self.by(f64::from(nth) * interval)).sum();
        (polls, polls * interval - self.mean())
    }

    /// Polls and lag of the schedule that costs least when a poll is worth so many seconds: found backwards from the last step.
    fn best(&self, worth: f64) -> (f64, f64) {
        let mut after = vec![(0.0, 0.0, 0.0); STEPS + 1];
        for from in (0..STEPS).rev() {
            let open = 1.0 - self.ended[from];
            let (mut best, mut waited) = ((f64::INFINITY, 0.0, 0.0), 0.0);
            for (to, (cost, polls, lag)) in after.iter().enumerate().skip(from + 1) {
                let ends = self.ended[to] - self.ended[to - 1];
                waited += self.step * (self.ended[to - 1] - self.ended[from]) + ends * self.step / 2.0;
                let whole = worth * open + waited + cost;
                if whole < best.0 {
                    best = (whole, open + polls, waited + lag);
                }
                if worth * open + waited > best.0 {
                    break;
                }
            }
            after[from] = best;
        }
        (after[0].1, after[0].2)
    }
}

/// For a poll that is worth `worth` seconds of waiting.
pub(super) fn least(median: f64, sigma: f64, worth: f64) -> Least {
    let known = Known::lognormal(median, sigma);
    let (polls, lag) = known.best(worth);
    let intervals = std::iter::successors(Some(median / 200.0), |interval| Some(interval * 1.01));
    let fixed: Vec<(f64, f64)> = intervals
        .take_while(|interval| *interval < 6.0 * median)
        .map(|interval| known.fixed(interval))
        .collect();
    let fewest = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::INFINITY, f64::min);
    let other_polls = fewest(&mut fixed.iter().filter(|other| other.1 <= lag).map(|other| other.0));
    let other_lag = fewest(&mut fixed.iter().filter(|other| other.0 <= polls).map(|other| other.1));
    Least { polls, lag, of_polls: polls / other_polls, of_lag: lag / other_lag }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_interval_lags_by_half_of_itself_and_the_best_schedule_costs_less() {
        let known = Known::lognormal(90.0, 0.25);
        assert!(
            (known.mean() / (90.0 * (0.25_f64 * 0.25 / 2.0).exp()) - 1.0).abs() < 0.01,
            "{}",
            known.mean()
        );
        let (polls, lag) = known.fixed(2.0);
        assert!(
            (lag - 1.0).abs() < 0.02 && (polls - f64::midpoint(known.mean(), 1.0)).abs() < 0.02,
            "{polls} {lag}"
        );
        let cost = |(polls, lag): (f64, f64)| polls * 0.5 + lag;
        assert!(cost(known.best(0.5)) < cost(known.fixed(9.5)));
    }

    #[test]
    fn the_wider_the_distribution_the_less_there_is_to_gain() {
        let (narrow, wide) = (least(90.0, 0.25, 0.5), least(90.0, 0.35, 0.5));
        assert!(narrow.of_polls < 0.5 && wide.of_polls > 0.5, "{} {}", narrow.of_polls, wide.of_polls);
    }
}
