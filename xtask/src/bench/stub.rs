//! A service that only waits. The start and the end of each task are fixed when it is accepted; render times and failures depend on the task's
//! number, which its prompt names, and its attempt, so that every client meets the same ones.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};

use super::polling::Rng;
use crate::http::{listen, serve};
use crate::stub_video;

/// The API key of clients, which the service does not check.
pub(super) const KEY: &str = "sk-bench";

/// How a service behaves, and the work that it is there for.
#[derive(Clone, Copy)]
pub(super) struct Settings {
    /// Tasks of the work.
    pub(super) tasks: usize,
    /// Tasks that it renders at once; the others are queued, first in, first out.
    pub(super) parallel: usize,
    pub(super) render_time: RenderTime,
    /// Whether each task has to start from the last frame of the one before.
    pub(super) chained: bool,
    /// Submissions per second, and as many at once; more are answered with 429 and `Retry-After: 1`.
    pub(super) submissions_per_second: Option<usize>,
    /// The share of submissions that are answered with 500; every second of those creates its task all the same.
    pub(super) failing_share: Option<f64>,
}

/// How long the service renders a task.
#[derive(Clone, Copy)]
pub(super) enum RenderTime {
    Fixed(Duration),
    /// Median in seconds, and standard deviation of the logarithm; the same sequence in each run.
    Lognormal {
        median: f64,
        sigma: f64,
    },
}

impl Settings {
    /// Independent tasks, without limits and failures.
    pub(super) const fn plain(tasks: usize, parallel: usize, render_time: RenderTime) -> Self {
        Self {
            tasks,
            parallel,
            render_time,
            chained: false,
            submissions_per_second: None,
            failing_share: None,
        }
    }

    /// The render times of the tasks.
    fn render_times(&self) -> Vec<Duration> {
        match self.render_time {
            RenderTime::Fixed(time) => vec![time; self.tasks],
            RenderTime::Lognormal { median, sigma } => {
                let mut random = Rng::new(1);
                let mut next = || Duration::from_secs_f64(random.render_time(&[(1.0, median, sigma)]));
                (0..self.tasks).map(|_| next()).collect()
            }
        }
    }

    /// The makespan that the service alone imposes, in seconds: the tasks are submitted in order, as early as it accepts them.
    pub(super) fn makespan(&self) -> f64 {
        let mut renderers: BinaryHeap<Reverse<Duration>> =
            (0..self.parallel).map(|_| Reverse(Duration::ZERO)).collect();
        let mut end = Duration::ZERO;
        for (number, time) in self.render_times().into_iter().enumerate() {
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

/// The work as a workflow, whose shots have the prompts "scene 0", "scene 1" and so on.
pub(super) fn workflow(settings: &Settings) -> String {
    let mut text = String::from(
        "version: 1\nname: load\ndefaults: { model: modela-video-2-0-260128, seconds: 4, resolution: 480p, ratio: \"16:9\" }\nshots:\n",
    );
    let last = settings.tasks - 1;
    if settings.chained {
        text.push_str("  - {id: s0, prompt: scene 0}\n");
        for shot in 1..=last {
            let _ = writeln!(text, "  - {{id: s{shot}, prompt: scene {shot}, continues: s{}}}", shot - 1);
        }
    } else {
        let _ = writeln!(
            text,
            "  - id: shot\n    prompt: \"scene {{{{ number }}}}\"\n    matrix:\n      number: {{ from: 0, to: {last} }}"
        );
    }
    text
}

/// A running service; clones share it.
#[derive(Clone)]
pub(super) struct StubService(Arc<Shared>);

struct Shared {
    base: String,
    clip: Vec<u8>,
    settings: Settings,
    render_times: Vec<Duration>,
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
    /// When a poll was first told that it has ended.
    observed: Option<Duration>,
}

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
    pub(super) accepted: usize,
    /// Accepted tasks beyond the first of the same number.
    pub(super) paid_again: usize,
    pub(super) polls: usize,
}

impl StubService {
    /// Listens on a free loopback port until the runtime ends.
    pub(super) async fn start(settings: Settings) -> Result<Self, String> {
        let state = ServiceState {
            started: Instant::now(),
            renderers: (0..settings.parallel).map(|_| Reverse(Duration::ZERO)).collect(),
            tasks: Vec::new(),
            attempts: BTreeMap::new(),
            failures: 0,
            polls: 0,
            bucket: Bucket {
                tokens: settings.submissions_per_second.unwrap_or_default() as f64,
                filled: Duration::ZERO,
            },
        };
        let (listener, base) = listen().await?;
        let service = Self(Arc::new(Shared {
            base,
            clip: stub_video::clip()?,
            settings,
            render_times: settings.render_times(),
            state: Mutex::new(state),
        }));
        let router = Router::new()
            .route("/v1/videos", post(create))
            .route("/v1/videos/{id}", get(poll))
            .route("/v1/videos/{id}/content", get(content))
            .route("/files/{name}", get(file))
            .with_state(service.clone());
        serve(listener, router);
        Ok(service)
    }

    /// Ends in `/`.
    pub(super) fn base_url(&self) -> &str {
        &self.0.base
    }

    pub(super) fn counts(&self) -> Counts {
        let state = self.state();
        let mut accepted = BTreeMap::<usize, usize>::new();
        for task in &state.tasks {
            *accepted.entry(task.number).or_default() += 1;
        }
        Counts {
            accepted: state.tasks.len(),
            paid_again: accepted.values().map(|count| count - 1).sum(),
            polls: state.polls,
        }
    }

    /// The mean time from a task's end to the poll that was told so.
    pub(super) fn mean_lag(&self) -> Duration {
        let state = self.state();
        let lags = state.tasks.iter().filter_map(|task| Some(task.observed?.saturating_sub(task.ends)));
        lags.sum::<Duration>() / u32::try_from(state.tasks.len()).unwrap_or(u32::MAX).max(1)
    }

    fn state(&self) -> MutexGuard<'_, ServiceState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn describe(&self, id: usize, task: Task, now: Duration) -> Value {
        let epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(now);
        let timestamp = |since: Duration| (epoch + since).as_millis() as u64;
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
                "url": format!("{}files/{:04}.mp4", self.0.base, task.number),
                "last_frame_url": format!("{}files/{:04}.png", self.0.base, task.number),
            });
        }
        body
    }

    fn video(&self, number: usize) -> Response {
        let video = stub_video::named(&self.0.clip, &format!("{number:0DIGITS$}"));
        ([(header::CONTENT_TYPE, "video/mp4")], video).into_response()
    }
}

/// Digits of a task's number in its video.
const DIGITS: usize = 6;

/// The number of the task whose video this is.
pub(super) fn number_in(video: &[u8]) -> Option<usize> {
    std::str::from_utf8(video.get(video.len().checked_sub(DIGITS)?..)?).ok()?.parse().ok()
}

/// The number of the task with this prompt.
fn number(prompt: &str) -> Option<usize> {
    prompt.strip_prefix("scene ").and_then(|number| number.parse().ok())
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

async fn create(State(service): State<StubService>, body: String) -> Response {
    let number = requested_prompt(&body).as_deref().and_then(number);
    let Some(number) = number.filter(|number| *number < service.0.settings.tasks) else {
        return error(StatusCode::BAD_REQUEST, "unknown_prompt");
    };
    let is_continued = number.checked_sub(1).is_none_or(|before| {
        body.contains(&format!("/files/{before:04}.png")) || body.contains("data:image/")
    });
    if service.0.settings.chained && !is_continued {
        return error(StatusCode::BAD_REQUEST, "no_frame_of_the_task_before");
    }
    let mut state = service.state();
    let now = state.started.elapsed();
    if let Some(rate) = service.0.settings.submissions_per_second
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
    let fails = service.0.settings.failing_share.is_some_and(|share| draw < share);
    if fails {
        state.failures += 1;
        // The first failure, the third and so on come after the task was created.
        if state.failures.is_multiple_of(2) {
            return error(StatusCode::INTERNAL_SERVER_ERROR, "internal_error");
        }
    }
    let free = state.renderers.pop().map_or(now, |Reverse(free)| free);
    let starts = free.max(now);
    let task =
        Task { number, accepted: now, starts, ends: starts + service.0.render_times[number], observed: None };
    state.renderers.push(Reverse(task.ends));
    let id = state.tasks.len();
    state.tasks.push(task);
    drop(state);
    if fails {
        return error(StatusCode::INTERNAL_SERVER_ERROR, "internal_error");
    }
    Json(service.describe(id, Task { starts: Duration::MAX, ..task }, now)).into_response()
}

fn task(service: &StubService, id: &str) -> Option<(usize, Task, Duration)> {
    let mut state = service.state();
    let now = state.started.elapsed();
    let number: usize = id.strip_prefix("task_")?.parse().ok()?;
    let task = state.tasks.get_mut(number)?;
    if now >= task.ends {
        task.observed.get_or_insert(now);
    }
    Some((number, *task, now))
}

async fn poll(State(service): State<StubService>, Path(id): Path<String>) -> Response {
    service.state().polls += 1;
    match task(&service, &id) {
        Some((number, task, now)) => Json(service.describe(number, task, now)).into_response(),
        None => error(StatusCode::NOT_FOUND, "task_not_found"),
    }
}

async fn content(State(service): State<StubService>, Path(id): Path<String>) -> Response {
    match task(&service, &id) {
        Some((_, task, now)) if now >= task.ends => service.video(task.number),
        _ => error(StatusCode::NOT_FOUND, "task_not_found"),
    }
}

/// The video or the last frame of a task; the frame is the same for all.
async fn file(State(service): State<StubService>, Path(name): Path<String>) -> Response {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_and_videos_have_their_numbers() {
        assert_eq!(
            (number("scene 0017"), number("scene 17"), number("a harbor")),
            (Some(17), Some(17), None)
        );
        assert_eq!(number_in(&stub_video::named(&[0; 40], &format!("{:0DIGITS$}", 17))), Some(17));
        assert_eq!(number_in(&[]), None);
    }
}
