//! A service in simulated time, and the cost of a polling schedule there.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use scheduler::polling::ReportedStatus;

use super::rng::Rng;

/// Distribution of render times, and the queue in front of the renderers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scenario {
    pub(super) name: &'static str,
    /// A mixture of lognormal distributions: weight, median in seconds, standard deviation of the logarithm.
    pub(super) render_times: &'static [(f64, f64, f64)],
    /// Tasks in flight; the next one is submitted when a poll finds one finished.
    pub(super) in_flight: usize,
    /// Tasks rendered in parallel; the others are queued, first in, first out.
    pub(super) parallel: usize,
    /// The steps in which progress is reported, in percent; `None` where it is always 0.
    pub(super) progress: Option<u8>,
    /// Whether the service reports `completed_at` (spec 2.5).
    pub(super) reports_completed_at: bool,
}

/// A polling schedule. Times are seconds since the task's submission.
pub(super) trait Schedule {
    /// The wait before the next poll of task `number`.
    fn wait(&mut self, number: usize, elapsed: f64) -> f64;
    /// A poll found the task unfinished.
    fn running(&mut self, _number: usize, _elapsed: f64, _status: ReportedStatus, _percent: u8) {}
    /// A poll found the task finished; `took` is the duration that the service reports.
    fn finished(&mut self, _number: usize, _elapsed: f64, _took: Option<f64>) {}
}

/// Cost of a schedule.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    /// Mean number of polls per task.
    pub(super) polls: f64,
    /// Mean time from the end of a task to the poll that finds it, in seconds.
    pub(super) lag: f64,
}

struct Task {
    submitted: f64,
    starts: f64,
    ends: f64,
    polls: u32,
}

impl Scenario {
    /// Simulates `tasks` tasks and measures all but the first `warm_up`.
    pub(super) fn run(&self, schedule: &mut dyn Schedule, tasks: usize, warm_up: usize, seed: u64) -> Cost {
        let mut rng = Rng::new(seed);
        let mut renderers: BinaryHeap<Reverse<u64>> =
            (0..self.parallel.min(tasks)).map(|_| Reverse(0)).collect();
        let mut all: Vec<Task> = Vec::with_capacity(tasks);
        let mut polls: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
        let (mut total_polls, mut total_lag, mut measured) = (0_u32, 0.0, 0_u32);
        let mut submit =
            |all: &mut Vec<Task>, polls: &mut BinaryHeap<_>, schedule: &mut dyn Schedule, now: f64| {
                if all.len() == tasks {
                    return;
                }
                let number = all.len();
                let free_at = renderers.pop().map_or(0.0, |Reverse(time)| seconds(time));
                let starts = now.max(free_at);
                let ends = starts + rng.render_time(self.render_times);
                renderers.push(Reverse(micros(ends)));
                all.push(Task { submitted: now, starts, ends, polls: 0 });
                polls.push(Reverse((micros(now + schedule.wait(number, 0.0)), number)));
            };
        for _ in 0..self.in_flight {
            submit(&mut all, &mut polls, schedule, 0.0);
        }
        while let Some(Reverse((time, number))) = polls.pop() {
            let now = seconds(time);
            let task = &mut all[number];
            task.polls += 1;
            let elapsed = now - task.submitted;
            if now < task.ends {
                let (status, percent) = self.report(task, now);
                schedule.running(number, elapsed, status, percent);
                polls.push(Reverse((micros(now + schedule.wait(number, elapsed)), number)));
                continue;
            }
            if number >= warm_up {
                total_polls += task.polls;
                total_lag += now - task.ends;
                measured += 1;
            }
            let took = self.reports_completed_at.then_some(task.ends - task.submitted);
            schedule.finished(number, elapsed, took);
            submit(&mut all, &mut polls, schedule, now);
        }
        let measured = f64::from(measured.max(1));
        Cost { polls: f64::from(total_polls) / measured, lag: total_lag / measured }
    }

    fn report(&self, task: &Task, now: f64) -> (ReportedStatus, u8) {
        if now < task.starts {
            return (ReportedStatus::Queued, 0);
        }
        let share = (now - task.starts) / (task.ends - task.starts);
        let percent = self.progress.map_or(0, |step| {
            let step = f64::from(step.max(1));
            ((share * 100.0 / step).floor() * step).min(99.0) as u8
        });
        (ReportedStatus::InProgress, percent)
    }
}

fn micros(seconds: f64) -> u64 {
    (seconds * 1e6).round() as u64
}

fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}
