//! The workloads, and what the service alone needs for each.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use crate::bench::load::RenderTime;
use crate::bench::stub::Settings;

pub(super) struct Workload {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
    pub(super) tasks: usize,
    /// Tasks at once: that the service renders, and that a tool has in flight.
    pub(super) jobs: usize,
    pub(super) render_time: RenderTime,
    /// Whether each task starts from the last frame of the one before.
    pub(super) chained: bool,
    /// As [`Settings::submissions_per_second`].
    pub(super) submissions_per_second: Option<usize>,
    /// As [`Settings::failing_share`].
    pub(super) failing_share: Option<f64>,
    /// When the process is killed; the same command is then run again.
    pub(super) kill_after: Option<Duration>,
}

const TWO_SECONDS: RenderTime = RenderTime::Fixed(Duration::from_secs(2));

const PLAIN: Workload = Workload {
    name: "W1",
    text: "200 tasks of 2 s, 32 at once",
    tasks: 200,
    jobs: 32,
    render_time: TWO_SECONDS,
    chained: false,
    submissions_per_second: None,
    failing_share: None,
    kill_after: None,
};

pub(super) const WORKLOADS: [Workload; 6] = [
    PLAIN,
    Workload {
        name: "W1L",
        text: "200 tasks, lognormal with median 2 s and sigma 0.5, 32 at once",
        render_time: RenderTime::Lognormal { median: 2.0, sigma: 0.5 },
        ..PLAIN
    },
    Workload {
        name: "W2",
        text: "1,000 tasks of 50 ms, 64 at once",
        tasks: 1_000,
        jobs: 64,
        render_time: RenderTime::Fixed(Duration::from_millis(50)),
        ..PLAIN
    },
    Workload {
        name: "W3",
        text: "a chain of 20 tasks of 0.5 s",
        tasks: 20,
        jobs: 1,
        render_time: RenderTime::Fixed(Duration::from_millis(500)),
        chained: true,
        ..PLAIN
    },
    Workload {
        name: "W4",
        text: "100 tasks of 1 s, 10 submissions per second, 2 % of them answered with 500, half of those after the task was created",
        tasks: 100,
        jobs: 100,
        render_time: RenderTime::Fixed(Duration::from_secs(1)),
        submissions_per_second: Some(10),
        failing_share: Some(0.02),
        ..PLAIN
    },
    Workload {
        name: "W5",
        text: "W1, killed with SIGKILL after 7 s, and the same command again",
        kill_after: Some(Duration::from_secs(7)),
        ..PLAIN
    },
];

impl Workload {
    /// The service: the same for every tool.
    pub(super) fn service(&self) -> Settings {
        Settings {
            parallel: self.jobs,
            render_times: self.render_time.sequence(self.tasks),
            chained: self.chained,
            submissions_per_second: self.submissions_per_second,
            failing_share: self.failing_share,
        }
    }

    /// The makespan that the service alone imposes, in seconds: the tasks are submitted in order, as early as it accepts them.
    pub(super) fn bound(&self) -> f64 {
        let mut renderers: BinaryHeap<Reverse<Duration>> =
            (0..self.jobs).map(|_| Reverse(Duration::ZERO)).collect();
        let mut end = Duration::ZERO;
        for (number, time) in self.render_time.sequence(self.tasks).into_iter().enumerate() {
            let accepted_at = self.submissions_per_second.map_or(Duration::ZERO, |rate| {
                Duration::from_secs_f64((number + 1).saturating_sub(rate) as f64 / rate as f64)
            });
            let free_at = renderers.pop().map_or(Duration::ZERO, |Reverse(free_at)| free_at);
            let ends_at = free_at.max(accepted_at) + time;
            renderers.push(Reverse(ends_at));
            end = end.max(ends_at);
        }
        end.as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_what_the_service_imposes() {
        let bounds: Vec<f64> = WORKLOADS.iter().map(Workload::bound).collect();
        for (index, expected, reason) in [
            (0, 14.0, "seven rounds of two seconds"),
            (2, 0.8, "sixteen rounds of 50 ms"),
            (3, 10.0, "one after the other"),
            (4, 10.0, "ninety tasks wait for 9 s, and the last one is rendered for 1 s"),
        ] {
            assert!((bounds[index] - expected).abs() < 1e-9, "{reason}: {}", bounds[index]);
        }
    }
}
