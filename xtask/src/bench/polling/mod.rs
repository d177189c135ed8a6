//! The poll schedule against a fixed interval and exponential backoff, in simulated time with fixed seeds.

mod rng;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Write as _;
use std::time::Duration;

use scheduler::Policy;
use scheduler::polling;

pub(super) use rng::Rng;

/// Tasks that are measured.
const TASKS: usize = 3_000;
/// Bounds in the first scenario.
const MAX_POLLS: f64 = 40.0;
const MAX_LAG: f64 = 3.0;

/// Distribution of render times, and the queue in front of the renderers.
struct Scenario {
    name: &'static str,
    /// A mixture of lognormal distributions: weight, median in seconds, standard deviation of the logarithm.
    render_times: &'static [(f64, f64, f64)],
    /// Tasks in flight; the next one is submitted when a poll finds one finished.
    in_flight: usize,
    /// Tasks rendered in parallel; the others are queued, first in, first out.
    parallel: usize,
}

const SCENARIOS: [Scenario; 3] = [
    Scenario {
        name: "lognormal, median 90 s, sigma 0.25",
        render_times: &[(1.0, 90.0, 0.25)],
        in_flight: 4,
        parallel: 4,
    },
    Scenario {
        name: "bimodal, 70 % at 60 s, 30 % at 180 s, sigma 0.15",
        render_times: &[(0.7, 60.0, 0.15), (0.3, 180.0, 0.15)],
        in_flight: 4,
        parallel: 4,
    },
    Scenario {
        name: "queue: 8 in flight, 2 parallel, 40 s, sigma 0.25",
        render_times: &[(1.0, 40.0, 0.25)],
        in_flight: 8,
        parallel: 2,
    },
];

/// When a task is polled.
enum Schedule {
    /// Every so many seconds.
    Fixed(f64),
    /// Exponential backoff: the interval doubles after each poll, from this one in seconds.
    Doubling(f64),
    Runner(Box<Policy>),
}

impl Schedule {
    fn runner() -> Self {
        Self::Runner(Box::new(Policy::remote()))
    }

    /// The wait in seconds until the next poll of a task of this age; the first at age 0.
    fn wait(&self, age: f64) -> f64 {
        match self {
            Self::Fixed(interval) => *interval,
            Self::Doubling(first) => age + first,
            Self::Runner(policy) if age <= 0.0 => policy.first_poll.as_secs_f64(),
            Self::Runner(policy) => polling::wait(policy, Duration::from_secs_f64(age)).as_secs_f64(),
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
    fn run(&self, schedule: &Schedule) -> Cost {
        struct Task {
            submitted: f64,
            ends: f64,
        }
        let mut rng = Rng::new(7);
        let mut renderers: BinaryHeap<Reverse<u64>> = (0..self.parallel).map(|_| Reverse(0)).collect();
        let mut tasks: Vec<Task> = Vec::with_capacity(TASKS);
        // With the time 0 of all that begin together.
        let mut polls: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
        let mut submissions = vec![0.0; self.in_flight];
        let (mut poll_count, mut lag) = (0_usize, 0.0);
        loop {
            while let Some(now) = submissions.pop()
                && tasks.len() < TASKS
            {
                let free_at = renderers.pop().map_or(0.0, |Reverse(time)| seconds(time));
                let ends = free_at.max(now) + rng.render_time(self.render_times);
                renderers.push(Reverse(micros(ends)));
                polls.push(Reverse((micros(now + schedule.wait(0.0)), tasks.len())));
                tasks.push(Task { submitted: now, ends });
            }
            let Some(Reverse((time, number))) = polls.pop() else { break };
            let (now, task) = (seconds(time), &tasks[number]);
            poll_count += 1;
            let age = now - task.submitted;
            if now < task.ends {
                polls.push(Reverse((micros(now + schedule.wait(age)), number)));
                continue;
            }
            lag += now - task.ends;
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
            let cost = scenario.run(&schedule);
            let _ = writeln!(report, "  {name}: {:.2} polls per task, lag {:.2} s", cost.polls, cost.lag);
            cost
        };
        cost("every 5 s", Schedule::Fixed(5.0));
        let doubling = cost("doubling from 1 s", Schedule::Doubling(1.0));
        let runner = cost("runner", Schedule::runner());
        is_exceeded |= runner.lag > doubling.lag;
        is_exceeded |= index == 0 && (runner.polls > MAX_POLLS || runner.lag > MAX_LAG);
    }
    let _ = writeln!(
        report,
        "bounds: at most {MAX_POLLS} polls and {MAX_LAG} s in the first scenario; in all less lag than doubling"
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
