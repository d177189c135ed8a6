//! Latency of polls under load: 2,000 tasks are queued, all workers render, 500 polls arrive per second.
//!
//! Client and service share this process and its cores, so the figures are an upper bound of what a remote client sees.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use crate::http::client_builder;
use renderer::Animatic;
use reqwest::Client;
use secrecy::SecretString;
use serde_json::{Value, json};
use service::{Config, Deps, Service};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval};

const KEY: &str = "sk-bench";
const TASKS: usize = 2_000;
const PARALLEL_SUBMITS: usize = 16;
const POLLS_PER_SECOND: u64 = 500;
const WARM_UP: Duration = Duration::from_secs(5);
/// Videos of each worker before memory is measured: the allocator's arenas reach their size with the first five to ten, and keep it.
const WARM_UP_VIDEOS: usize = 6;
const MEASURED: Duration = Duration::from_secs(30);
/// Upper bound of the 99th percentile.
const MAX_P99: Duration = Duration::from_millis(50);
/// Upper bound of memory growth during the measurement: rendering alone varies by tens of megabytes.
const MAX_GROWTH: f64 = 1.15;

/// The figures; an error where a bound is exceeded.
pub(super) fn measure() -> Result<String, String> {
    Runtime::new().map_err(|error| error.to_string())?.block_on(under_load())
}

async fn under_load() -> Result<String, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let folder = tempfile::tempdir().map_err(|error| text(&error))?;
    let config = Config::embedded(folder.path().join("service"), SecretString::from(KEY));
    let workers = config.workers;
    let service =
        Service::start(config, Arc::new(Animatic), Deps::system()).await.map_err(|error| text(&error))?;
    let videos = format!("{}v1/videos", service.base_url());
    let http = client_builder().build().map_err(|error| text(&error))?;
    let started = Instant::now();
    let ids = submit_all(&http, &videos).await?;
    let submit_time = started.elapsed();
    let mut completed = HashSet::new();
    let mut warm = poll_for(WARM_UP, &http, &videos, &ids, &mut completed).await?;
    // A worker's memory is at its largest when it completes a video, and the allocator's arenas grow with the first few.
    while completed.len() < WARM_UP_VIDEOS * workers {
        warm.extend(poll_for(WARM_UP, &http, &videos, &ids, &mut completed).await?);
    }
    let memory_before = crate::bench::resident_megabytes();
    let mut latencies = poll_for(MEASURED, &http, &videos, &ids, &mut completed).await?;
    let memory_after = crate::bench::resident_megabytes();
    service.shutdown().await;

    latencies.sort_unstable();
    let quantile = |share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize];
    let (median, p99, max) = (quantile(0.5), quantile(0.99), quantile(1.0));
    let memory = match (memory_before, memory_after) {
        (Some(before), Some(after)) => format!("{before:.0} MB resident before, {after:.0} MB after"),
        _ => "resident memory is unknown on this system".to_owned(),
    };
    let report = format!(
        "{TASKS} tasks accepted in {:.1} s; {workers} workers render, {} tasks completed meanwhile; {} polls in {} s (after {} to warm up): \
         median {:.1} ms, p99 {:.1} ms, max {:.1} ms; {memory}",
        submit_time.as_secs_f64(),
        completed.len(),
        latencies.len(),
        MEASURED.as_secs(),
        warm.len(),
        median.as_secs_f64() * 1e3,
        p99.as_secs_f64() * 1e3,
        max.as_secs_f64() * 1e3,
    );
    if p99 > MAX_P99 {
        return Err(format!("{report}\np99 is above {} ms", MAX_P99.as_millis()));
    }
    if let (Some(before), Some(after)) = (memory_before, memory_after)
        && after > before * MAX_GROWTH
    {
        return Err(format!("{report}\nresident memory grows by more than {MAX_GROWTH}"));
    }
    Ok(report)
}

async fn submit_all(http: &Client, videos: &str) -> Result<Vec<String>, String> {
    let submitters: Vec<_> = (0..PARALLEL_SUBMITS)
        .map(|first| {
            let (http, videos) = (http.clone(), videos.to_owned());
            tokio::spawn(async move {
                let mut ids = Vec::new();
                for number in (first..TASKS).step_by(PARALLEL_SUBMITS) {
                    let request =
                        json!({"model": "modelb-video-480p", "prompt": format!("a harbour, {number}"), "seconds": "5"});
                    let answer = http.post(&videos).bearer_auth(KEY).json(&request).send().await;
                    let task: Value = answer.map_err(|error| error.to_string())?.json().await.map_err(|error| error.to_string())?;
                    ids.push(task["id"].as_str().ok_or_else(|| format!("not accepted: {task}"))?.to_owned());
                }
                Ok::<_, String>(ids)
            })
        })
        .collect();
    let mut ids = Vec::with_capacity(TASKS);
    for submitter in submitters {
        ids.extend(submitter.await.map_err(|error| error.to_string())??);
    }
    Ok(ids)
}

/// Sends a poll at each tick without waiting for earlier ones, and measures each latency from its tick, so that a stall of the service
/// counts for every poll that it delays (no coordinated omission). Tasks that are seen to be completed are added to `completed`.
async fn poll_for(
    time: Duration,
    http: &Client,
    videos: &str,
    ids: &[String],
    completed: &mut HashSet<usize>,
) -> Result<Vec<Duration>, String> {
    let mut ticks = interval(Duration::from_micros(1_000_000 / POLLS_PER_SECOND));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let polls = POLLS_PER_SECOND * time.as_secs();
    let mut latencies = Vec::with_capacity(polls as usize);
    let mut in_flight = JoinSet::new();
    for number in 0..polls {
        let due = ticks.tick().await;
        // Visits all of the queue: 617 and the number of tasks are coprime.
        let index = (number as usize * 617) % ids.len();
        let poll = http.get(format!("{videos}/{}", ids[index])).bearer_auth(KEY);
        in_flight.spawn(async move {
            let answer = poll.send().await.and_then(reqwest::Response::error_for_status);
            let task: Value =
                answer.map_err(|error| error.to_string())?.json().await.map_err(|error| error.to_string())?;
            Ok::<_, String>((due.elapsed(), (task["status"] == "completed").then_some(index)))
        });
        // A task that has ended occupies its memory until it is joined, and the service's own is measured.
        while let Some(poll) = in_flight.try_join_next() {
            let (latency, done) = poll.map_err(|error| error.to_string())??;
            latencies.push(latency);
            completed.extend(done);
        }
    }
    while let Some(poll) = in_flight.join_next().await {
        let (latency, done) = poll.map_err(|error| error.to_string())??;
        latencies.push(latency);
        completed.extend(done);
    }
    Ok(latencies)
}
