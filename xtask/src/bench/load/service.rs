//! A stub of the video service with negligible CPU cost: accepts, waits, and serves small videos, so that the client is what is measured.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};

use crate::stub_video;

/// A running stub; clones share it.
#[derive(Clone)]
pub(super) struct StubService(Arc<Shared>);

struct Shared {
    base: String,
    render_times: Vec<Duration>,
    clip: Vec<u8>,
    state: Mutex<ServiceState>,
}

struct ServiceState {
    started: Instant,
    /// For each renderer, when it becomes free.
    renderers: BinaryHeap<Reverse<Duration>>,
    tasks: BTreeMap<usize, Task>,
    calls: Calls,
}

#[derive(Clone, Copy)]
struct Task {
    accepted: Duration,
    starts: Duration,
    ends: Duration,
    /// When a poll was first told that it has ended.
    observed: Option<Duration>,
}

/// Requests received.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Calls {
    pub(super) posts: usize,
    pub(super) polls: usize,
    pub(super) downloads: usize,
}

impl StubService {
    /// Listens on a free loopback port until the runtime ends. Renders `parallel` tasks at a time, the n-th for the n-th of `render_times`; the
    /// others are queued.
    pub(super) async fn start(parallel: usize, render_times: Vec<Duration>) -> Result<Self, String> {
        let text = |error: &dyn std::fmt::Display| error.to_string();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.map_err(|error| text(&error))?;
        let base = format!("http://{}/", listener.local_addr().map_err(|error| text(&error))?);
        let state = ServiceState {
            started: Instant::now(),
            renderers: (0..parallel).map(|_| Reverse(Duration::ZERO)).collect(),
            tasks: BTreeMap::new(),
            calls: Calls::default(),
        };
        let clip = stub_video::clip()?;
        let service = Self(Arc::new(Shared { base, render_times, clip, state: Mutex::new(state) }));
        let router = Router::new()
            .route("/v1/videos", post(create))
            .route("/v1/videos/{id}", get(poll))
            .route("/files/{name}", get(download))
            .with_state(service.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(service)
    }

    pub(super) fn base_url(&self) -> &str {
        &self.0.base
    }

    pub(super) fn calls(&self) -> Calls {
        self.state().calls
    }

    /// From the acceptance of the first task to the end of the last one.
    pub(super) fn busy_interval(&self) -> (Instant, Instant) {
        let state = self.state();
        let first = state.tasks.values().map(|task| task.accepted).min().unwrap_or_default();
        let last = state.tasks.values().map(|task| task.ends).max().unwrap_or_default();
        (state.started + first, state.started + last)
    }

    /// The mean time from a task's end to the poll that was told so.
    pub(super) fn mean_lag(&self) -> Duration {
        let state = self.state();
        let lags = state.tasks.values().filter_map(|task| Some(task.observed?.saturating_sub(task.ends)));
        lags.sum::<Duration>() / u32::try_from(state.tasks.len()).unwrap_or(u32::MAX).max(1)
    }

    fn state(&self) -> MutexGuard<'_, ServiceState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn describe(&self, number: usize, task: Task, now: Duration) -> Value {
        let epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(now);
        let timestamp = |since: Duration| (epoch + since).as_millis() as u64;
        let (status, progress) = match now {
            now if now < task.starts => ("queued", 0),
            now if now < task.ends => ("in_progress", 50),
            _ => ("completed", 100),
        };
        let mut body = json!({
            "id": format!("task_{number}"), "object": "video", "model": "modela-video-2-0-260128", "status": status,
            "progress": progress, "created_at": timestamp(task.accepted), "seconds": "4",
        });
        if status == "completed" {
            body["completed_at"] = json!(timestamp(task.ends));
            body["metadata"] = json!({
                "url": format!("{}files/{number}.mp4", self.0.base),
                "last_frame_url": format!("{}files/{number}.png", self.0.base),
            });
        }
        body
    }
}

async fn create(State(service): State<StubService>) -> Json<Value> {
    let mut state = service.state();
    let now = state.started.elapsed();
    let number = state.tasks.len();
    let free_at = state.renderers.pop().map_or(now, |Reverse(time)| time);
    let starts = free_at.max(now);
    let render_time = service.0.render_times.get(number).copied().unwrap_or_default();
    let task = Task { accepted: now, starts, ends: starts + render_time, observed: None };
    state.renderers.push(Reverse(task.ends));
    state.tasks.insert(number, task);
    state.calls.posts += 1;
    drop(state);
    Json(service.describe(number, Task { starts: Duration::MAX, ..task }, now))
}

async fn poll(State(service): State<StubService>, Path(id): Path<String>) -> Response {
    let mut state = service.state();
    state.calls.polls += 1;
    let now = state.started.elapsed();
    let number: Option<usize> = id.strip_prefix("task_").and_then(|number| number.parse().ok());
    let task = number.and_then(|number| {
        let task = state.tasks.get_mut(&number)?;
        if now >= task.ends {
            task.observed.get_or_insert(now);
        }
        Some((number, *task))
    });
    drop(state);
    match task {
        Some((number, task)) => Json(service.describe(number, task, now)).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// A video with content of its own: the frames are the same for every task.
async fn download(State(service): State<StubService>, Path(name): Path<String>) -> Response {
    service.state().calls.downloads += 1;
    ([(header::CONTENT_TYPE, "video/mp4")], stub_video::named(&service.0.clip, &name)).into_response()
}
