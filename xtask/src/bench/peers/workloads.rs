//! The workloads.

use std::time::Duration;

use crate::bench::stub::{RenderTime, Settings};

pub(super) struct Workload {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
    /// The same for every tool; as many tasks are in flight as it renders at once.
    pub(super) service: Settings,
    /// When the process is killed; the same command is then run again.
    pub(super) kill_after: Option<Duration>,
}

const fn fixed(milliseconds: u64) -> RenderTime {
    RenderTime::Fixed(Duration::from_millis(milliseconds))
}

pub(super) const WORKLOADS: [Workload; 6] = [
    Workload {
        name: "W1",
        text: "200 tasks of 2 s, 32 at once",
        service: Settings::plain(200, 32, fixed(2_000)),
        kill_after: None,
    },
    Workload {
        name: "W1L",
        text: "200 tasks, lognormal with median 2 s and sigma 0.5, 32 at once",
        service: Settings::plain(200, 32, RenderTime::Lognormal { median: 2.0, sigma: 0.5 }),
        kill_after: None,
    },
    Workload {
        name: "W2",
        text: "1,000 tasks of 50 ms, 64 at once",
        service: Settings::plain(1_000, 64, fixed(50)),
        kill_after: None,
    },
    Workload {
        name: "W3",
        text: "a chain of 20 tasks of 0.5 s",
        service: Settings { chained: true, ..Settings::plain(20, 1, fixed(500)) },
        kill_after: None,
    },
    Workload {
        name: "W4",
        text: "100 tasks of 1 s, 10 submissions per second, 2 % of them answered with 500, half of those after the task was created",
        service: Settings {
            submissions_per_second: Some(10),
            failing_share: Some(0.02),
            ..Settings::plain(100, 100, fixed(1_000))
        },
        kill_after: None,
    },
    Workload {
        name: "W5",
        text: "W1, killed with SIGKILL after 7 s, and the same command again",
        service: Settings::plain(200, 32, fixed(2_000)),
        kill_after: Some(Duration::from_secs(7)),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_what_the_service_imposes() {
        let bounds: Vec<f64> = WORKLOADS.iter().map(|workload| workload.service.makespan()).collect();
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
