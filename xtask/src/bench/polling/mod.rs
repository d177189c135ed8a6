//! Polling that learns, against fixed and doubling schedules: simulated time, fixed seeds, no clock.

mod dice;
mod schedules;
mod trial;

use std::fmt::Write as _;

use schedules::{Doubling, Fixed, Learned};
use trial::{Cost, Scenario};

/// Tasks that are counted.
const TASKS: usize = 3_000;
/// Tasks before them, from which the schedule learns what there is to learn.
const HISTORY: usize = 300;
/// Tasks of a run that begins with nothing known.
const COLD: usize = 40;
/// How often that is tried.
const COLD_RUNS: u64 = 40;
/// What the engine waits for is worth half a second a poll; twice and half as much shows where that leads.
const WORTHS: [f64; 3] = [0.25, 0.5, 1.0];

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

/// Fixed intervals from a hundredth of a second to ten minutes, close to each other: the best of them is among them, as good as.
fn fixed(scenario: &Scenario) -> Vec<Cost> {
    let intervals = (0..120).map(|nth| 0.5 * 1.06_f64.powi(nth));
    intervals.map(|interval| scenario.run(&mut Fixed(interval), HISTORY + TASKS, HISTORY, 7)).collect()
}

/// The engine's schedule once it knows the service.
fn learned(scenario: &Scenario, worth: f64) -> Cost {
    scenario.run(&mut Learned::new(worth), HISTORY + TASKS, HISTORY, 7)
}

/// The mean over runs that begin with nothing known.
fn cold(scenario: &Scenario, schedule: impl Fn() -> Box<dyn trial::Schedule>) -> Cost {
    let costs = (0..COLD_RUNS).map(|seed| scenario.run(&mut *schedule(), COLD, 0, seed));
    let (polls, lag) = costs.fold((0.0, 0.0), |(polls, lag), cost| (polls + cost.polls, lag + cost.lag));
    Cost { polls: polls / COLD_RUNS as f64, lag: lag / COLD_RUNS as f64 }
}

/// The table, or an error where a bound is broken.
pub(super) fn measure() -> Result<String, String> {
    let mut said = String::new();
    let mut broken = Vec::new();
    for scenario in SCENARIOS {
        let _ = writeln!(said, "{}", scenario.name);
        for interval in [1.0, 5.0] {
            let cost = scenario.run(&mut Fixed(interval), HISTORY + TASKS, HISTORY, 7);
            let _ = writeln!(said, "  every {interval} s: {:.2} polls a task, lag {:.2} s", cost.polls, cost.lag);
        }
        let cost = scenario.run(&mut Doubling(1.0), HISTORY + TASKS, HISTORY, 7);
        let _ = writeln!(said, "  doubling from 1 s: {:.2} polls a task, lag {:.2} s", cost.polls, cost.lag);
        let others = fixed(scenario);
        for worth in WORTHS {
            let found = Compared::new(learned(scenario, worth), &others);
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
        let doubling: Vec<Cost> = (0..60)
            .map(|nth| cold(scenario, || Box::new(Doubling(0.25 * 1.1_f64.powi(nth)))))
            .collect();
        let found = Compared::new(cold(scenario, || Box::new(Learned::new(0.5))), &doubling);
        let Cost { polls, lag } = found.cost;
        let _ = writeln!(
            said,
            "  nothing known at first, {COLD} tasks: {polls:.2} polls a task, lag {lag:.2} s; doubling {:.2} polls at this lag, lag {:.2} s at these polls",
            found.polls_at_same_lag, found.lag_at_same_polls,
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
        if let Err(broken) = measure() {
            panic!("{broken}");
        }
    }
}
