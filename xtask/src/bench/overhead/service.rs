//! A video service that costs next to nothing: it accepts, waits and hands out small videos, so that what is measured is the client.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{get, post};
use media::{ClipSpec, ClipWriter, FrameRate, RgbImage};
use serde_json::{Value, json};

/// The running service.
#[derive(Clone)]
pub(super) struct Plain(Arc<Shared>);

struct Shared {
    base: String,
    takes: Duration,
    clip: Vec<u8>,
    books: Mutex<Books>,
}

struct Books {
    opened: Instant,
    /// When each of those that render is free.
    renderers: BinaryHeap<Reverse<Duration>>,
    tasks: BTreeMap<usize, Task>,
    calls: Calls,
}

#[derive(Clone, Copy)]
struct Task {
    accepted: Duration,
    begins: Duration,
    ends: Duration,
}

/// How often it was called.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Calls {
    pub(super) posts: usize,
    pub(super) polls: usize,
    pub(super) downloads: usize,
}

impl Plain {
    /// Serves on a free port of this machine until the runtime ends: `at_once` tasks at a time, each for `takes`; the others wait in order.
    pub(super) async fn start(at_once: usize, takes: Duration) -> Result<Self, String> {
        let told = |error: &dyn std::fmt::Display| error.to_string();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.map_err(|error| told(&error))?;
        let base = format!("http://{}/", listener.local_addr().map_err(|error| told(&error))?);
        let books = Books {
            opened: Instant::now(),
            renderers: (0..at_once).map(|_| Reverse(Duration::ZERO)).collect(),
            tasks: BTreeMap::new(),
            calls: Calls::default(),
        };
        let clip = clip()?;
        let plain = Self(Arc::new(Shared { base, takes, clip, books: Mutex::new(books) }));
        let router = Router::new()
            .route("/v1/videos", post(create))
            .route("/v1/videos/{id}", get(poll))
            .route("/files/{name}", get(download))
            .with_state(plain.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(plain)
    }

    pub(super) fn base_url(&self) -> &str {
        &self.0.base
    }

    pub(super) fn calls(&self) -> Calls {
        self.books().calls
    }

    /// When the first task was accepted and when the last one ended.
    pub(super) fn busy(&self) -> (Instant, Instant) {
        let books = self.books();
        let first = books.tasks.values().map(|task| task.accepted).min().unwrap_or_default();
        let last = books.tasks.values().map(|task| task.ends).max().unwrap_or_default();
        (books.opened + first, books.opened + last)
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.0.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn describe(&self, number: usize, task: Task, now: Duration) -> Value {
        let epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(now);
        let at = |since: Duration| (epoch + since).as_millis() as u64;
        let (status, progress) = match now {
            now if now < task.begins => ("queued", 0),
            now if now < task.ends => ("in_progress", 50),
            _ => ("completed", 100),
        };
        let mut said = json!({
            "id": format!("task_{number}"), "object": "video", "model": "modela-video-2-0-260128", "status": status,
            "progress": progress, "created_at": at(task.accepted), "seconds": "4",
        });
        if status == "completed" {
            said["completed_at"] = json!(at(task.ends));
            said["metadata"] = json!({
                "url": format!("{}files/{number}.mp4", self.0.base),
                "last_frame_url": format!("{}files/{number}.png", self.0.base),
            });
        }
        said
    }
}

async fn create(State(plain): State<Plain>) -> Json<Value> {
    let takes = plain.0.takes;
    let mut books = plain.books();
    let now = books.opened.elapsed();
    let number = books.tasks.len();
    let free_at = books.renderers.pop().map_or(now, |Reverse(at)| at);
    let begins = free_at.max(now);
    let task = Task { accepted: now, begins, ends: begins + takes };
    books.renderers.push(Reverse(task.ends));
    books.tasks.insert(number, task);
    books.calls.posts += 1;
    drop(books);
    Json(plain.describe(number, Task { begins: Duration::MAX, ..task }, now))
}

async fn poll(State(plain): State<Plain>, Path(id): Path<String>) -> Response {
    let mut books = plain.books();
    books.calls.polls += 1;
    let now = books.opened.elapsed();
    let number: Option<usize> = id.strip_prefix("task_").and_then(|number| number.parse().ok());
    let found = number.and_then(|number| Some((number, *books.tasks.get(&number)?)));
    drop(books);
    match found {
        Some((number, task)) => Json(plain.describe(number, task, now)).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// A video that no other task has: the same pictures, and a box at the end that players skip.
async fn download(State(plain): State<Plain>, Path(name): Path<String>) -> Response {
    plain.books().calls.downloads += 1;
    let mut video = plain.0.clip.clone();
    let length = u32::try_from(8 + name.len()).unwrap_or(8);
    video.extend(length.to_be_bytes());
    video.extend(b"free");
    video.extend(name.as_bytes());
    ([(header::CONTENT_TYPE, "video/mp4")], video).into_response()
}

/// A tenth of a second, 64x64.
fn clip() -> Result<Vec<u8>, String> {
    let rate = FrameRate::new(30, 1).ok_or("no such frame rate")?;
    let mut writer = ClipWriter::new(ClipSpec::new(64, 64, rate)).map_err(|error| error.to_string())?;
    for shade in 0..3_u8 {
        let mut frame = RgbImage::new(64, 64);
        frame.pixels_mut().fill(60 * shade);
        writer.push_frame(&frame).map_err(|error| error.to_string())?;
    }
    writer.finish().map_err(|error| error.to_string())
}
