//! Polling that learns, against fixed and doubling schedules: simulated time, fixed seeds, no clock.

mod dice;
mod least;
mod schedules;
mod trial;

use std::fmt::Write as _;

use schedules::{Doubling, Fixed, Learned};
use trial::{Cost, Scenario, Schedule};

/// How much is tried.
struct Extent {
    /// Tasks that are counted.
    tasks: usize,
    /// How often a run that begins with nothing known is tried.
    cold_runs: u64,
    /// What a poll has to save. The engine's own number is half a second; half and twice as much show where that leads.
    worths: &'static [f64],
    /// How much longer each fixed interval is than the one before, from two seconds to six minutes.
    step: f64,
}

/// For the documents.
const WHOLE: Extent = Extent { tasks: 3_000, cold_runs: 40, worths: &[0.25, 0.5, 1.0], step: 1.03 };
/// Tasks before those that are counted, from which the schedule learns what there is to learn.
const HISTORY: usize = 300;
/// Tasks of a run that begins with nothing known.
const COLD: usize = 40;

/// Renderings as they are seen: of one model, size and length they differ by a quarter; two kinds of hardware make two humps; and a service
/// that is busy has a queue.
const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "lognormal, median 90 s, sigma 0.25",
        renderings: &[(1.0, 90.0, 0.25)],
        out: 4,
        at_once: usize::MAX,
        progress: None,
        tells_times: true,
    },
    Scenario {
        name: "the same, without completed_at",
        renderings: &[(1.0, 90.0, 0.25)],
        out: 4,
        at_once: usize::MAX,
        progress: None,
        tells_times: false,
    },
    Scenario {
        name: "lognormal, sigma 0.35, progress in steps of 10",
        renderings: &[(1.0, 90.0, 0.35)],
        out: 4,
        at_once: usize::MAX,
        progress: Some(10),
        tells_times: true,
    },
    Scenario {
        name: "bimodal, 70 % at 60 s, 30 % at 180 s, sigma 0.15",
        renderings: &[(0.7, 60.0, 0.15), (0.3, 180.0, 0.15)],
        out: 4,
        at_once: usize::MAX,
        progress: None,
        tells_times: true,
    },
    Scenario {
        name: "queue: 8 out, 2 at once, 40 s, sigma 0.25",
        renderings: &[(1.0, 40.0, 0.25)],
        out: 8,
        at_once: 2,
        progress: None,
        tells_times: true,
    },
    Scenario {
        name: "the same queue, progress in steps of 10",
        renderings: &[(1.0, 40.0, 0.25)],
        out: 8,
        at_once: 2,
        progress: Some(10),
        tells_times: true,
    },
];

/// A schedule and the best of others at the same lag and at the same number of polls.
struct Compared {
    cost: Cost,
    /// Polls of the cheapest other that lags no more.
    polls_at_same_lag: f64,
    /// Lag of the quickest other that asks no more often.
    lag_at_same_polls: f64,
}

impl Compared {
    fn new(cost: Cost, others: &[Cost]) -> Self {
        let least = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::INFINITY, f64::min);
        let polls_at_same_lag =
            least(&mut others.iter().filter(|other| other.lag <= cost.lag).map(|other| other.polls));
        let lag_at_same_polls =
            least(&mut others.iter().filter(|other| other.polls <= cost.polls).map(|other| other.lag));
        Self { cost, polls_at_same_lag, lag_at_same_polls }
    }

    /// Of the others' polls and of the others' lag, the larger share.
    fn share(&self) -> f64 {
        (self.cost.polls / self.polls_at_same_lag).max(self.cost.lag / self.lag_at_same_polls)
    }
}

/// Fixed intervals, so close to each other that the best is among them, as good as.
fn fixed(scenario: &Scenario, extent: &Extent) -> Vec<Cost> {
    let intervals = std::iter::successors(Some(2.0), |interval| Some(interval * extent.step));
    let intervals = intervals.take_while(|interval| *interval < 360.0);
    intervals.map(|interval| warm(scenario, &mut Fixed(interval), extent)).collect()
}

/// A schedule once it knows the service.
fn warm(scenario: &Scenario, schedule: &mut dyn Schedule, extent: &Extent) -> Cost {
    scenario.run(schedule, HISTORY + extent.tasks, HISTORY, 7)
}

/// The mean over runs that begin with nothing known.
fn cold(scenario: &Scenario, extent: &Extent, schedule: impl Fn() -> Box<dyn Schedule>) -> Cost {
    let costs = (0..extent.cold_runs).map(|seed| scenario.run(&mut *schedule(), COLD, 0, seed));
    let (polls, lag) = costs.fold((0.0, 0.0), |(polls, lag), cost| (polls + cost.polls, lag + cost.lag));
    Cost { polls: polls / extent.cold_runs as f64, lag: lag / extent.cold_runs as f64 }
}

/// The table, or an error where a bound is broken.
pub(super) fn measure() -> Result<String, String> {
    let mut said = String::new();
    for sigma in [0.25, 0.35] {
        let least = least::least(90.0, sigma, 0.5);
        let _ = writeln!(
            said,
            "the least possible, lognormal, median 90 s, sigma {sigma}, known beforehand and nothing said of progress: {:.2} polls a task ({:.2} of \
             the best fixed interval's), lag {:.2} s ({:.2})",
            least.polls, least.of_polls, least.lag, least.of_lag,
        );
    }
    compare(SCENARIOS.iter(), &WHOLE).map(|compared| said + &compared)
}

fn compare(scenarios: impl Iterator<Item = &'static Scenario>, extent: &Extent) -> Result<String, String> {
    let mut said = String::new();
    let mut broken = Vec::new();
    for scenario in scenarios {
        let _ = writeln!(said, "{}", scenario.name);
        for interval in [1.0, 5.0] {
            let cost = warm(scenario, &mut Fixed(interval), extent);
            let _ =
                writeln!(said, "  every {interval} s: {:.2} polls a task, lag {:.2} s", cost.polls, cost.lag);
        }
        let cost = warm(scenario, &mut Doubling(1.0), extent);
        let _ = writeln!(said, "  doubling from 1 s: {:.2} polls a task, lag {:.2} s", cost.polls, cost.lag);
        let others = fixed(scenario, extent);
        for &worth in extent.worths {
            let found = Compared::new(warm(scenario, &mut Learned::new(worth), extent), &others);
            let Cost { polls, lag } = found.cost;
            let (at_lag, at_polls) = (found.polls_at_same_lag, found.lag_at_same_polls);
            let _ = writeln!(
                said,
                "  learned, {worth} s a poll: {polls:.2} polls a task, lag {lag:.2} s; best fixed interval {at_lag:.2} polls at this lag ({:.2}), \
                 lag {at_polls:.2} s at these polls ({:.2})",
                polls / at_lag,
                lag / at_polls,
            );
            if found.share() > 0.5 {
                broken.push(format!("{}: more than half of the best fixed interval's", scenario.name));
            }
        }
        let firsts = (0..40).map(|nth| 0.25 * 1.15_f64.powi(nth));
        let doubling: Vec<Cost> =
            firsts.map(|first| cold(scenario, extent, || Box::new(Doubling(first)))).collect();
        let found = Compared::new(cold(scenario, extent, || Box::new(Learned::new(0.5))), &doubling);
        let Cost { polls, lag } = found.cost;
        let least = doubling.iter().map(|cost| cost.lag).fold(f64::INFINITY, f64::min);
        let _ = writeln!(
            said,
            "  nothing known at first, {COLD} tasks: {polls:.2} polls a task, lag {lag:.2} s; doubling lags {:.2} s at these polls, and never less than {least:.2} s",
            found.lag_at_same_polls,
        );
        if found.share() > 1.0 {
            broken.push(format!("{}: with nothing known worse than doubling", scenario.name));
        }
    }
    if broken.is_empty() { Ok(said) } else { Err(format!("{said}\n{}", broken.join("\n"))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn learned_polls_cost_half_of_the_best_fixed_interval_and_nothing_known_is_no_worse_than_doubling() {
        // What the contract's services tell, and so few tasks that it is quick: the command looks at more.
        let few = Extent { tasks: 400, cold_runs: 2, worths: &[0.5], step: 1.05 };
        if let Err(broken) = compare(SCENARIOS.iter().filter(|scenario| scenario.tells_times), &few) {
            panic!("{broken}");
        }
    }
}
