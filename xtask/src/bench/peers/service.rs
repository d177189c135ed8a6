//! The stub service of the comparison. The start and the end of each task are fixed when it is accepted; render times and failures depend on
//! the task's number and its attempt, so that every tool meets the same ones.

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

use super::workloads::{self, Workload};
use crate::bench::polling::Rng;
use crate::stub_video;

/// A running service; clones share it.
#[derive(Clone)]
pub(super) struct PeerService(Arc<Shared>);

struct Shared {
    base: String,
    clip: Vec<u8>,
    render_times: Vec<Duration>,
    chained: bool,
    submissions_per_second: Option<usize>,
    failing_share: Option<f64>,
    state: Mutex<ServiceState>,
}

struct ServiceState {
    started: Instant,
    /// For each renderer, when it becomes free.
    renderers: BinaryHeap<Reverse<Duration>>,
    tasks: Vec<Task>,
    /// Submissions of each task, accepted or not.
    attempts: BTreeMap<usize, u64>,
    failures: usize,
    polls: usize,
    bucket: Bucket,
}

#[derive(Clone, Copy)]
struct Task {
    number: usize,
    accepted: Duration,
    starts: Duration,
    ends: Duration,
}

/// A token bucket.
struct Bucket {
    tokens: f64,
    filled: Duration,
}

impl Bucket {
    fn take(&mut self, now: Duration, rate: f64) -> bool {
        self.tokens = (self.tokens + now.saturating_sub(self.filled).as_secs_f64() * rate).min(rate);
        self.filled = now;
        let is_there = self.tokens >= 1.0;
        if is_there {
            self.tokens -= 1.0;
        }
        is_there
    }
}

/// What the service counted.
pub(super) struct Counts {
    pub(super) polls: usize,
    /// Accepted tasks beyond the first of the same number.
    pub(super) paid_again: usize,
}

impl PeerService {
    /// Listens on a free loopback port until the runtime ends.
    pub(super) async fn start(workload: &Workload) -> Result<Self, String> {
        let text = |error: std::io::Error| error.to_string();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.map_err(text)?;
        let base = format!("http://{}", listener.local_addr().map_err(text)?);
        let state = ServiceState {
            started: Instant::now(),
            renderers: (0..workload.jobs).map(|_| Reverse(Duration::ZERO)).collect(),
            tasks: Vec::new(),
            attempts: BTreeMap::new(),
            failures: 0,
            polls: 0,
            bucket: Bucket {
                tokens: workload.submissions_per_second.unwrap_or_default() as f64,
                filled: Duration::ZERO,
            },
        };
        let service = Self(Arc::new(Shared {
            base,
            clip: stub_video::clip()?,
            render_times: workload.render_times(),
            chained: workload.chained,
            submissions_per_second: workload.submissions_per_second,
            failing_share: workload.failing_share,
            state: Mutex::new(state),
        }));
        let router = Router::new()
            .route("/v1/videos", post(create))
            .route("/v1/videos/{id}", get(poll))
            .route("/v1/videos/{id}/content", get(content))
            .route("/files/{name}", get(file))
            .with_state(service.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(service)
    }

    /// The base URL without a slash at its end.
    pub(super) fn base_url(&self) -> &str {
        &self.0.base
    }

    pub(super) fn counts(&self) -> Counts {
        let state = self.state();
        let mut accepted = BTreeMap::<usize, usize>::new();
        for task in &state.tasks {
            *accepted.entry(task.number).or_default() += 1;
        }
        Counts { polls: state.polls, paid_again: accepted.values().map(|count| count - 1).sum() }
    }

    fn state(&self) -> MutexGuard<'_, ServiceState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn describe(&self, id: usize, task: Task, now: Duration) -> Value {
        let epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(now);
        let timestamp = |since: Duration| (epoch + since).as_secs();
        let (status, progress) = match now {
            now if now < task.starts => ("queued", 0),
            now if now < task.ends => ("in_progress", 50),
            _ => ("completed", 100),
        };
        let mut body = json!({
            "id": format!("task_{id}"), "object": "video", "model": "modela-video-2-0-260128", "status": status,
            "progress": progress, "created_at": timestamp(task.accepted), "seconds": "4", "size": "854x480",
        });
        if status == "completed" {
            body["completed_at"] = json!(timestamp(task.ends));
            body["metadata"] = json!({
                "url": format!("{}/files/{:04}.mp4", self.0.base, task.number),
                "last_frame_url": format!("{}/files/{:04}.png", self.0.base, task.number),
            });
        }
        body
    }

    fn video(&self, number: usize) -> Response {
        let video = stub_video::named(&self.0.clip, &workloads::prompt(number));
        ([(header::CONTENT_TYPE, "video/mp4")], video).into_response()
    }
}

/// The prompt of the task whose video this is.
pub(super) fn prompt_of(video: &[u8]) -> Option<String> {
    let name = video.get(video.len().checked_sub(workloads::prompt(0).len())?..)?;
    let prompt = String::from_utf8(name.to_vec()).ok()?;
    workloads::number(&prompt).map(|_| prompt)
}

fn error(status: StatusCode, code: &str) -> Response {
    let kind = if status.is_server_error() { "server_error" } else { "invalid_request_error" };
    let body = json!({"error": {"message": code, "type": kind, "param": null, "code": code}});
    (status, Json(body)).into_response()
}

/// The prompt of a request in JSON, or in a form as SDKs of the `videos` interface send it (RFC 7578).
fn requested_prompt(body: &str) -> Option<String> {
    if let Ok(request) = serde_json::from_str::<Value>(body) {
        return request["prompt"].as_str().map(str::to_owned);
    }
    let (_, value) = body.split_once("name=\"prompt\"\r\n\r\n")?;
    value.split_once("\r\n").map(|(prompt, _)| prompt.to_owned())
}

async fn create(State(service): State<PeerService>, body: String) -> Response {
    let number = requested_prompt(&body).as_deref().and_then(workloads::number);
    let Some(number) = number.filter(|number| *number < service.0.render_times.len()) else {
        return error(StatusCode::BAD_REQUEST, "unknown_prompt");
    };
    let is_continued = number.checked_sub(1).is_none_or(|before| {
        body.contains(&format!("/files/{before:04}.png")) || body.contains("data:image/")
    });
    if service.0.chained && !is_continued {
        return error(StatusCode::BAD_REQUEST, "no_frame_of_the_task_before");
    }
    let mut state = service.state();
    let now = state.started.elapsed();
    if let Some(rate) = service.0.submissions_per_second
        && !state.bucket.take(now, rate as f64)
    {
        let mut response = error(StatusCode::TOO_MANY_REQUESTS, "rate_limit_exceeded");
        response.headers_mut().insert(header::RETRY_AFTER, header::HeaderValue::from_static("1"));
        return response;
    }
    let attempt = state.attempts.entry(number).or_default();
    *attempt += 1;
    let attempt = *attempt;
    let draw = Rng::new((number as u64) << 32 | attempt).uniform();
    let fails = service.0.failing_share.is_some_and(|share| draw < share);
    if fails {
        state.failures += 1;
        // The first failure, the third and so on come after the task was created.
        if state.failures.is_multiple_of(2) {
            return error(StatusCode::INTERNAL_SERVER_ERROR, "internal_error");
        }
    }
    let free = state.renderers.pop().map_or(now, |Reverse(free)| free);
    let starts = free.max(now);
    let task = Task { number, accepted: now, starts, ends: starts + service.0.render_times[number] };
    state.renderers.push(Reverse(task.ends));
    let id = state.tasks.len();
    state.tasks.push(task);
    drop(state);
    if fails {
        return error(StatusCode::INTERNAL_SERVER_ERROR, "internal_error");
    }
    Json(service.describe(id, Task { starts: Duration::MAX, ..task }, now)).into_response()
}

fn task(service: &PeerService, id: &str) -> Option<(usize, Task, Duration)> {
    let state = service.state();
    let number: usize = id.strip_prefix("task_")?.parse().ok()?;
    Some((number, *state.tasks.get(number)?, state.started.elapsed()))
}

async fn poll(State(service): State<PeerService>, Path(id): Path<String>) -> Response {
    service.state().polls += 1;
    match task(&service, &id) {
        Some((number, task, now)) => Json(service.describe(number, task, now)).into_response(),
        None => error(StatusCode::NOT_FOUND, "task_not_found"),
    }
}

async fn content(State(service): State<PeerService>, Path(id): Path<String>) -> Response {
    match task(&service, &id) {
        Some((_, task, now)) if now >= task.ends => service.video(task.number),
        _ => error(StatusCode::NOT_FOUND, "task_not_found"),
    }
}

/// The video or the last frame of a task; the frame is the same for all.
async fn file(State(service): State<PeerService>, Path(name): Path<String>) -> Response {
    let parts = name.split_once('.').and_then(|(number, kind)| Some((number.parse().ok()?, kind)));
    match parts {
        Some((number, "mp4")) => service.video(number),
        Some(_) => {
            let png = media::encode_png(&media::RgbImage::new(64, 64));
            ([(header::CONTENT_TYPE, "image/png")], png).into_response()
        }
        None => error(StatusCode::NOT_FOUND, "file_not_found"),
    }
}
