//! Overhead of `runner run` over the service's own time.

use std::path::Path;
use std::time::Duration;

use super::load::{self, Bounds, RenderTime, Workload};

const WORKLOADS: [Workload; 2] = [
    Workload {
        name: "1,000 tasks of 50 ms, 64 at once",
        tasks: 1_000,
        chained: false,
        parallel: 64,
        jobs: 128,
        render_time: RenderTime::Fixed(Duration::from_millis(50)),
        bounds: Bounds { ratio: 1.25, cpu: Some(1.5), polling: None, megabytes: None },
        runs: 5,
        few_polls_per_second: None,
    },
    Workload {
        name: "a chain of 20 tasks of 0.5 s",
        tasks: 20,
        chained: true,
        parallel: 64,
        jobs: 64,
        render_time: RenderTime::Fixed(Duration::from_millis(500)),
        bounds: Bounds { ratio: 1.05, cpu: None, polling: None, megabytes: None },
        runs: 1,
        few_polls_per_second: None,
    },
];

pub(super) fn measure(root: &Path) -> Result<String, String> {
    load::measure(root, &WORKLOADS)
}
