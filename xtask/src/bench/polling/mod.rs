//! The poll schedule against a fixed interval and exponential backoff, in simulated time with fixed seeds.

mod rng;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Write as _;
use std::time::Duration;

use scheduler::Policy;
use scheduler::polling::{self, FirstPolls};

pub(super) use rng::Rng;

/// Tasks before those that are measured: for each schedule as many as an earlier run may have recorded.
const HISTORY: usize = 300;
/// Tasks that are measured.
const TASKS: usize = 3_000;
/// Bounds in the first scenario.
const MAX_POLLS: f64 = 12.0;
const MAX_LAG: f64 = 4.0;

/// Distribution of render times, and the queue in front of the renderers.
struct Scenario {
    name: &'static str,
    /// A mixture of lognormal distributions: weight, median in seconds, standard deviation of the logarithm.
    render_times: &'static [(f64, f64, f64)],
    /// Tasks in flight; the next one is submitted when a poll finds one finished.
    in_flight: usize,
    /// Tasks rendered in parallel; the others are queued, first in, first out.
    parallel: usize,
    /// Whether the service reports how long a task took.
    reports_duration: bool,
}

const SCENARIOS: [Scenario; 4] = [
    Scenario {
        name: "lognormal, median 90 s, sigma 0.25",
        render_times: &[(1.0, 90.0, 0.25)],
        in_flight: 4,
        parallel: 4,
        reports_duration: true,
    },
    Scenario {
        name: "the same, without completed_at",
        render_times: &[(1.0, 90.0, 0.25)],
        in_flight: 4,
        parallel: 4,
        reports_duration: false,
    },
    Scenario {
        name: "bimodal, 70 % at 60 s, 30 % at 180 s, sigma 0.15",
        render_times: &[(0.7, 60.0, 0.15), (0.3, 180.0, 0.15)],
        in_flight: 4,
        parallel: 4,
        reports_duration: true,
    },
    Scenario {
        name: "queue: 8 in flight, 2 parallel, 40 s, sigma 0.25",
        render_times: &[(1.0, 40.0, 0.25)],
        in_flight: 8,
        parallel: 2,
        reports_duration: true,
    },
];

/// When a task is polled.
enum Schedule {
    /// Every so many seconds.
    Fixed(f64),
    /// Exponential backoff: the interval doubles after each poll, from this one in seconds.
    Doubling(f64),
    Runner {
        policy: Box<Policy>,
        first_polls: FirstPolls,
    },
}

/// Every task of a scenario has the same model.
const MODEL: &str = "model";

impl Schedule {
    fn runner() -> Self {
        Self::Runner { policy: Box::new(Policy::remote()), first_polls: FirstPolls::default() }
    }

    /// The wait in seconds until the next poll of a task of this age; the first at age 0.
    fn wait(&self, age: f64) -> f64 {
        match self {
            Self::Fixed(interval) => *interval,
            Self::Doubling(first) => age + first,
            Self::Runner { policy, first_polls } if age <= 0.0 => {
                first_polls.age(MODEL).unwrap_or(policy.first_poll).as_secs_f64()
            }
            Self::Runner { policy, .. } => polling::wait(policy, Duration::from_secs_f64(age)).as_secs_f64(),
        }
    }

    fn finished(&mut self, age: f64, took: Option<f64>) {
        if let Self::Runner { first_polls, .. } = self {
            first_polls.record(MODEL, Duration::from_secs_f64(age), took.map(Duration::from_secs_f64));
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Cost {
    /// Mean number of polls per task.
    polls: f64,
    /// Mean time from the end of a task to the poll that finds it, in seconds.
    lag: f64,
}

impl Scenario {
    /// Simulates [`TASKS`] after [`HISTORY`].
    fn run(&self, mut schedule: Schedule) -> Cost {
        struct Task {
            submitted: f64,
            ends: f64,
        }
        let mut rng = Rng::new(7);
        let mut renderers: BinaryHeap<Reverse<u64>> = (0..self.parallel).map(|_| Reverse(0)).collect();
        let mut tasks: Vec<Task> = Vec::with_capacity(HISTORY + TASKS);
        // With the time 0 of all that begin together.
        let mut polls: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
        let mut submissions = vec![0.0; self.in_flight];
        let (mut poll_count, mut lag) = (0_usize, 0.0);
        loop {
            while let Some(now) = submissions.pop()
                && tasks.len() < HISTORY + TASKS
            {
                let free_at = renderers.pop().map_or(0.0, |Reverse(time)| seconds(time));
                let ends = free_at.max(now) + rng.render_time(self.render_times);
                renderers.push(Reverse(micros(ends)));
                polls.push(Reverse((micros(now + schedule.wait(0.0)), tasks.len())));
                tasks.push(Task { submitted: now, ends });
            }
            let Some(Reverse((time, number))) = polls.pop() else { break };
            let (now, task) = (seconds(time), &tasks[number]);
            let is_measured = number >= HISTORY;
            poll_count += usize::from(is_measured);
            let age = now - task.submitted;
            if now < task.ends {
                polls.push(Reverse((micros(now + schedule.wait(age)), number)));
                continue;
            }
            if is_measured {
                lag += now - task.ends;
            }
            schedule.finished(age, self.reports_duration.then_some(task.ends - task.submitted));
            submissions.push(now);
        }
        Cost { polls: poll_count as f64 / TASKS as f64, lag: lag / TASKS as f64 }
    }
}

/// The table; an error where a bound is exceeded.
pub(super) fn measure() -> Result<String, String> {
    let (mut report, mut is_exceeded) = (String::new(), false);
    for (index, scenario) in SCENARIOS.iter().enumerate() {
        let _ = writeln!(report, "{}", scenario.name);
        let mut cost = |name: &str, schedule| {
            let cost = scenario.run(schedule);
            let _ = writeln!(report, "  {name}: {:.2} polls per task, lag {:.2} s", cost.polls, cost.lag);
            cost
        };
        let fixed = cost("every 5 s", Schedule::Fixed(5.0));
        let doubling = cost("doubling from 1 s", Schedule::Doubling(1.0));
        let runner = cost("runner", Schedule::runner());
        is_exceeded |= runner.polls > fixed.polls || runner.lag > doubling.lag;
        is_exceeded |= index == 0 && (runner.polls > MAX_POLLS || runner.lag > MAX_LAG);
    }
    let _ = writeln!(
        report,
        "bounds: at most {MAX_POLLS} polls and {MAX_LAG} s in the first scenario; fewer polls than every 5 s, and less lag than doubling"
    );
    if is_exceeded { Err(report) } else { Ok(report) }
}

fn micros(seconds: f64) -> u64 {
    (seconds * 1e6).round() as u64
}

fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}

#[cfg(test)]
mod tests {
    #[test]
    fn poll_schedule_is_within_its_bounds() {
        if let Err(exceeded) = super::measure() {
            panic!("{exceeded}");
        }
    }
}
