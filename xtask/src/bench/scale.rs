//! `runner run` at scale: CPU time of polling, tasks as many as the service renders at once, and a hundred thousand tasks.

use std::path::Path;
use std::time::Duration;

use super::load::{self, Bounds, RenderTime, Workload};

const WORKLOADS: [Workload; 4] = [
    Workload {
        name: "200 tasks, lognormal with median 2 s and sigma 0.5, 32 at once",
        tasks: 200,
        chained: false,
        parallel: 32,
        jobs: 32,
        render_time: RenderTime::Lognormal { median: 2.0, sigma: 0.5 },
        bounds: Bounds { ratio: 1.05, cpu: Some(0.25), polling: Some(0.25), megabytes: None },
        runs: 3,
        few_polls_per_second: Some(25),
    },
    Workload {
        name: "1,000 tasks of 50 ms, 64 at once and 64 out",
        tasks: 1_000,
        chained: false,
        parallel: 64,
        jobs: 64,
        render_time: RenderTime::Fixed(Duration::from_millis(50)),
        bounds: Bounds { ratio: 1.25, cpu: None, polling: None, megabytes: None },
        runs: 5,
        few_polls_per_second: None,
    },
    Workload {
        name: "20,000 tasks of 1 s, 1,000 at once and 1,000 out",
        tasks: 20_000,
        chained: false,
        parallel: 1_000,
        jobs: 1_000,
        render_time: RenderTime::Fixed(Duration::from_secs(1)),
        bounds: Bounds { ratio: 1.10, cpu: None, polling: None, megabytes: Some(400.0) },
        runs: 1,
        few_polls_per_second: None,
    },
    Workload {
        name: "100,000 tasks of 6 s, 5,000 at once and 5,000 out",
        tasks: 100_000,
        chained: false,
        parallel: 5_000,
        jobs: 5_000,
        render_time: RenderTime::Fixed(Duration::from_secs(6)),
        bounds: Bounds { ratio: 1.10, cpu: None, polling: None, megabytes: Some(400.0) },
        runs: 1,
        few_polls_per_second: None,
    },
];

pub(super) fn measure(root: &Path, only: Option<usize>) -> Result<String, String> {
    match only {
        Some(number) => {
            let workload =
                WORKLOADS.get(number.wrapping_sub(1)..number).ok_or("there is no such workload")?;
            load::measure(root, workload)
        }
        None => load::measure(root, &WORKLOADS),
    }
}
