//! The learned polling schedule against fixed and doubling intervals, in simulated time with fixed seeds.

mod lower_bound;
mod rng;
mod schedules;
mod simulation;

use std::fmt::Write as _;

pub(super) use rng::Rng;
use schedules::{Doubling, FixedInterval, LearnedSchedule};
use simulation::{Cost, Scenario, Schedule};

/// Size of the experiment.
struct Experiment {
    /// Tasks that are measured, after `HISTORY`.
    tasks: usize,
    /// Repetitions of the cold start.
    cold_runs: u64,
    /// Costs of a poll in seconds of lag: the policy's default of 0.5 s, half and twice of it.
    poll_costs: &'static [f64],
    /// Ratio between consecutive fixed intervals, from 2 s to 6 min.
    step: f64,
}

/// As docs/benchmarks.md quotes it.
const FULL: Experiment =
    Experiment { tasks: 3_000, cold_runs: 40, poll_costs: &[0.25, 0.5, 1.0], step: 1.03 };
/// Tasks before those that are measured: the schedule's training data.
const HISTORY: usize = 300;
/// Tasks of a cold start, without training data.
const COLD_TASKS: usize = 40;

/// Typical distributions of render times: a spread of a quarter within one model, size and length; two modes on mixed hardware; a queue.
const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "lognormal, median 90 s, sigma 0.25",
        render_times: &[(1.0, 90.0, 0.25)],
        in_flight: 4,
        parallel: usize::MAX,
        progress: None,
        reports_completed_at: true,
    },
    Scenario {
        name: "the same, without completed_at",
        render_times: &[(1.0, 90.0, 0.25)],
        in_flight: 4,
        parallel: usize::MAX,
        progress: None,
        reports_completed_at: false,
    },
    Scenario {
        name: "lognormal, sigma 0.35, progress in steps of 10",
        render_times: &[(1.0, 90.0, 0.35)],
        in_flight: 4,
        parallel: usize::MAX,
        progress: Some(10),
        reports_completed_at: true,
    },
    Scenario {
        name: "bimodal, 70 % at 60 s, 30 % at 180 s, sigma 0.15",
        render_times: &[(0.7, 60.0, 0.15), (0.3, 180.0, 0.15)],
        in_flight: 4,
        parallel: usize::MAX,
        progress: None,
        reports_completed_at: true,
    },
    Scenario {
        name: "queue: 8 in flight, 2 parallel, 40 s, sigma 0.25",
        render_times: &[(1.0, 40.0, 0.25)],
        in_flight: 8,
        parallel: 2,
        progress: None,
        reports_completed_at: true,
    },
    Scenario {
        name: "the same queue, progress in steps of 10",
        render_times: &[(1.0, 40.0, 0.25)],
        in_flight: 8,
        parallel: 2,
        progress: Some(10),
        reports_completed_at: true,
    },
];

/// A schedule's cost and the best of the baselines at the same lag and at the same number of polls.
struct Comparison {
    cost: Cost,
    /// Fewest polls of a baseline with at most this lag.
    polls_at_same_lag: f64,
    /// Least lag of a baseline with at most these polls.
    lag_at_same_polls: f64,
}

impl Comparison {
    fn new(cost: Cost, baselines: &[Cost]) -> Self {
        let min = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::INFINITY, f64::min);
        let polls_at_same_lag = min(&mut baselines
            .iter()
            .filter(|baseline| baseline.lag <= cost.lag)
            .map(|baseline| baseline.polls));
        let lag_at_same_polls = min(&mut baselines
            .iter()
            .filter(|baseline| baseline.polls <= cost.polls)
            .map(|baseline| baseline.lag));
        Self { cost, polls_at_same_lag, lag_at_same_polls }
    }

    /// The larger of the ratios of polls and of lag.
    fn ratio(&self) -> f64 {
        (self.cost.polls / self.polls_at_same_lag).max(self.cost.lag / self.lag_at_same_polls)
    }
}

/// Costs of fixed intervals, dense enough to contain nearly the best one.
fn fixed(scenario: &Scenario, experiment: &Experiment) -> Vec<Cost> {
    let intervals = std::iter::successors(Some(2.0), |interval| Some(interval * experiment.step));
    let intervals = intervals.take_while(|interval| *interval < 360.0);
    intervals.map(|interval| warm(scenario, &mut FixedInterval(interval), experiment)).collect()
}

/// The cost of a schedule after training.
fn warm(scenario: &Scenario, schedule: &mut dyn Schedule, experiment: &Experiment) -> Cost {
    scenario.run(schedule, HISTORY + experiment.tasks, HISTORY, 7)
}

/// The mean cost over cold starts.
fn cold(scenario: &Scenario, experiment: &Experiment, schedule: impl Fn() -> Box<dyn Schedule>) -> Cost {
    let costs = (0..experiment.cold_runs).map(|seed| scenario.run(&mut *schedule(), COLD_TASKS, 0, seed));
    let (polls, lag) = costs.fold((0.0, 0.0), |(polls, lag), cost| (polls + cost.polls, lag + cost.lag));
    Cost { polls: polls / experiment.cold_runs as f64, lag: lag / experiment.cold_runs as f64 }
}

/// The table; an error where a bound is exceeded.
pub(super) fn measure() -> Result<String, String> {
    let mut report = String::new();
    for sigma in [0.25, 0.35] {
        let bound = lower_bound::lower_bound(90.0, sigma, 0.5);
        let _ = writeln!(
            report,
            "lower bound, lognormal, median 90 s, sigma {sigma}, distribution known, no progress reported: {:.2} polls per task ({:.2} of \
             the best fixed interval's), lag {:.2} s ({:.2})",
            bound.polls, bound.polls_ratio, bound.lag, bound.lag_ratio,
        );
    }
    compare(SCENARIOS.iter(), &FULL).map(|comparison| report + &comparison)
}

fn compare(
    scenarios: impl Iterator<Item = &'static Scenario>,
    experiment: &Experiment,
) -> Result<String, String> {
    let mut report = String::new();
    let mut exceeded = Vec::new();
    for scenario in scenarios {
        let _ = writeln!(report, "{}", scenario.name);
        for interval in [1.0, 5.0] {
            let cost = warm(scenario, &mut FixedInterval(interval), experiment);
            let _ = writeln!(
                report,
                "  every {interval} s: {:.2} polls per task, lag {:.2} s",
                cost.polls, cost.lag
            );
        }
        let cost = warm(scenario, &mut Doubling(1.0), experiment);
        let _ =
            writeln!(report, "  doubling from 1 s: {:.2} polls per task, lag {:.2} s", cost.polls, cost.lag);
        let baselines = fixed(scenario, experiment);
        for &poll_cost in experiment.poll_costs {
            let mut learned = LearnedSchedule::new(poll_cost, scenario.in_flight);
            let comparison = Comparison::new(warm(scenario, &mut learned, experiment), &baselines);
            let Cost { polls, lag } = comparison.cost;
            let (at_lag, at_polls) = (comparison.polls_at_same_lag, comparison.lag_at_same_polls);
            let _ = writeln!(
                report,
                "  learned, {poll_cost} s per poll: {polls:.2} polls per task, lag {lag:.2} s; best fixed interval {at_lag:.2} polls at the same lag ({:.2}), \
                 lag {at_polls:.2} s at the same polls ({:.2})",
                polls / at_lag,
                lag / at_polls,
            );
            if comparison.ratio() > 0.5 {
                exceeded.push(format!("{}: more than half of the best fixed interval", scenario.name));
            }
        }
        let first_intervals = (0..40).map(|nth| 0.25 * 1.15_f64.powi(nth));
        let doubling: Vec<Cost> =
            first_intervals.map(|first| cold(scenario, experiment, || Box::new(Doubling(first)))).collect();
        let learned = cold(scenario, experiment, || Box::new(LearnedSchedule::new(0.5, scenario.in_flight)));
        let comparison = Comparison::new(learned, &doubling);
        let Cost { polls, lag } = comparison.cost;
        let min_lag = doubling.iter().map(|cost| cost.lag).fold(f64::INFINITY, f64::min);
        let _ = writeln!(
            report,
            "  cold start, {COLD_TASKS} tasks: {polls:.2} polls per task, lag {lag:.2} s; doubling lags {:.2} s at the same polls, and never less than {min_lag:.2} s",
            comparison.lag_at_same_polls,
        );
        if comparison.ratio() > 1.0 {
            exceeded.push(format!("{}: cold start worse than doubling", scenario.name));
        }
    }
    if exceeded.is_empty() { Ok(report) } else { Err(format!("{report}\n{}", exceeded.join("\n"))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn learned_schedule_costs_at_most_half_of_best_fixed_interval_and_cold_start_beats_doubling() {
        // Services that report `completed_at`, as the contract's do, and few tasks: the benchmark covers the rest.
        let small = Experiment { tasks: 400, cold_runs: 2, poll_costs: &[0.5], step: 1.05 };
        if let Err(exceeded) =
            compare(SCENARIOS.iter().filter(|scenario| scenario.reports_completed_at), &small)
        {
            panic!("{exceeded}");
        }
    }
}
