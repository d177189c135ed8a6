//! A service in simulated time, and what a schedule of polls costs there.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use scheduler::polling::Standing;

use super::dice::Dice;

/// How long renderings take, and what stands in front of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scenario {
    pub(super) name: &'static str,
    /// Shares of the tasks, each with the median of its rendering in seconds and the deviation of its logarithm.
    pub(super) renderings: &'static [(f64, f64, f64)],
    /// Tasks out at once; the next one is submitted when one is found to be finished.
    pub(super) out: usize,
    /// Tasks rendered at once; the others are queued, first come, first served.
    pub(super) at_once: usize,
    /// The steps in which progress is reported, in percent; nothing where it is always 0.
    pub(super) progress: Option<u8>,
    /// Whether the service says when a task was completed (spec 2.5).
    pub(super) tells_times: bool,
}

/// Sets the times of polls. Times are seconds since the task's submission.
pub(super) trait Schedule {
    /// The wait before the next poll of task `number`.
    fn wait(&mut self, number: usize, elapsed: f64) -> f64;
    /// It is not finished.
    fn running(&mut self, _number: usize, _elapsed: f64, _standing: Standing, _percent: u8) {}
    /// It is finished; `took` is what the service says that it took.
    fn finished(&mut self, _number: usize, _elapsed: f64, _took: Option<f64>) {}
}

/// What a schedule came to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    /// Polls of a task, on average.
    pub(super) polls: f64,
    /// Seconds from the end of a task until it is known, on average.
    pub(super) lag: f64,
}

struct Task {
    submitted: f64,
    begins: f64,
    ends: f64,
    polls: u32,
}

impl Scenario {
    /// Has `tasks` tasks made, and counts from the one after the first `passed_over`.
    pub(super) fn run(
        &self,
        schedule: &mut dyn Schedule,
        tasks: usize,
        passed_over: usize,
        seed: u64,
    ) -> Cost {
        let mut dice = Dice(seed);
        let mut renderers: BinaryHeap<Reverse<u64>> =
            (0..self.at_once.min(tasks)).map(|_| Reverse(0)).collect();
        let mut made: Vec<Task> = Vec::with_capacity(tasks);
        let mut polls: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
        let (mut all_polls, mut all_lag, mut counted) = (0_u32, 0.0, 0_u32);
        let mut submit =
            |made: &mut Vec<Task>, polls: &mut BinaryHeap<_>, schedule: &mut dyn Schedule, now: f64| {
                if made.len() == tasks {
                    return;
                }
                let number = made.len();
                let free_at = renderers.pop().map_or(0.0, |Reverse(at)| seconds(at));
                let begins = now.max(free_at);
                let ends = begins + dice.rendering(self.renderings);
                renderers.push(Reverse(micros(ends)));
                made.push(Task { submitted: now, begins, ends, polls: 0 });
                polls.push(Reverse((micros(now + schedule.wait(number, 0.0)), number)));
            };
        for _ in 0..self.out {
            submit(&mut made, &mut polls, schedule, 0.0);
        }
        while let Some(Reverse((at, number))) = polls.pop() {
            let now = seconds(at);
            let task = &mut made[number];
            task.polls += 1;
            let elapsed = now - task.submitted;
            if now < task.ends {
                let (standing, percent) = self.says(task, now);
                schedule.running(number, elapsed, standing, percent);
                polls.push(Reverse((micros(now + schedule.wait(number, elapsed)), number)));
                continue;
            }
            if number >= passed_over {
                all_polls += task.polls;
                all_lag += now - task.ends;
                counted += 1;
            }
            let took = self.tells_times.then_some(task.ends - task.submitted);
            schedule.finished(number, elapsed, took);
            submit(&mut made, &mut polls, schedule, now);
        }
        let counted = f64::from(counted.max(1));
        Cost { polls: f64::from(all_polls) / counted, lag: all_lag / counted }
    }

    fn says(&self, task: &Task, now: f64) -> (Standing, u8) {
        if now < task.begins {
            return (Standing::Queued, 0);
        }
        let share = (now - task.begins) / (task.ends - task.begins);
        let percent = self.progress.map_or(0, |step| {
            let step = f64::from(step.max(1));
            ((share * 100.0 / step).floor() * step).min(99.0) as u8
        });
        (Standing::InProgress, percent)
    }
}

fn micros(seconds: f64) -> u64 {
    (seconds * 1e6).round() as u64
}

fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}
