//! A service that counts what it accepts, loses answers, throttles, and sends some videos slowly.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Json, Response};
use axum::routing::{get, post};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};

use super::moment::{Moment, Moments};
use crate::stub_video;

/// The prompt of a task that fails.
pub(super) const FAILING: &str = "a film that fails";
/// Pieces of a video that is sent slowly, and the pause before each.
const SLOW_PIECES: usize = 8;
const SLOW_PAUSE: Duration = Duration::from_millis(250);

/// How it behaves.
#[derive(Debug, Clone, Copy)]
pub(super) struct Behavior {
    /// Out of a hundred answers to accepted submissions, so many are lost.
    pub(super) dropped_answers: u64,
    /// Out of a hundred submissions, so many are lost before they are accepted.
    pub(super) dropped_requests: u64,
    /// Out of a hundred submissions, so many are throttled.
    pub(super) throttled: u64,
    /// The longest time until a submission is accepted, and until it is answered after that.
    pub(super) latency: Duration,
    /// How long a task takes once it is rendered.
    pub(super) task: Duration,
}

impl Behavior {
    /// Nothing is lost or throttled.
    pub(super) fn without_faults(latency: Duration, task: Duration) -> Self {
        Self { dropped_answers: 0, dropped_requests: 0, throttled: 0, latency, task }
    }
}

/// A running service; clones share it.
#[derive(Clone)]
pub(super) struct CountingService(Arc<Shared>);

struct Shared {
    base: String,
    clip: Vec<u8>,
    behavior: Behavior,
    moments: Moments,
    state: Mutex<Tasks>,
}

struct Tasks {
    rng: SplitMix64,
    accepted: BTreeMap<String, Task>,
    /// Submissions that are being handled.
    open: usize,
    /// When each submission arrived.
    arrivals: Vec<Instant>,
    max_in_flight: usize,
    /// Out of a hundred downloads, so many are slow.
    slow_downloads: u64,
}

struct Task {
    prompt: String,
    model: String,
    seconds: String,
    /// When it was accepted, in milliseconds since the epoch.
    created_at_ms: u128,
    created: Instant,
    done_at: Instant,
}

impl Task {
    /// As the service describes it (spec 2.5).
    fn object(&self, id: &str, now: Instant) -> Value {
        let since_creation = |time: Instant| self.created_at_ms + (time - self.created).as_millis();
        let mut object = json!({
            "id": id,
            "object": "video",
            "model": self.model,
            "seconds": self.seconds,
            "created_at": since_creation(self.created),
        });
        let (status, progress) = if now >= self.done_at && self.prompt.contains(FAILING) {
            object["error"] = json!({ "message": "it fails", "code": "simulated" });
            ("failed", 100)
        } else if now >= self.done_at {
            object["completed_at"] = json!(since_creation(self.done_at));
            ("completed", 100)
        } else if now > self.created {
            let done = (now - self.created).as_secs_f64() / (self.done_at - self.created).as_secs_f64();
            ("in_progress", (done * 100.0) as u8)
        } else {
            ("queued", 0)
        };
        object["status"] = json!(status);
        object["progress"] = json!(progress);
        object
    }
}

impl CountingService {
    /// Listens on a free port of loopback until the runtime ends.
    pub(super) async fn start(seed: u64, behavior: Behavior) -> Result<Self, String> {
        let listener =
            tokio::net::TcpListener::bind("127.0.0.1:0").await.map_err(|error| error.to_string())?;
        let base = format!("http://{}/", listener.local_addr().map_err(|error| error.to_string())?);
        let state = Tasks {
            rng: SplitMix64::seed_from_u64(!seed),
            accepted: BTreeMap::new(),
            open: 0,
            arrivals: Vec::new(),
            max_in_flight: 0,
            slow_downloads: 0,
        };
        let (clip, moments) = (stub_video::clip()?, Moments::default());
        let service = Self(Arc::new(Shared { base, clip, behavior, moments, state: Mutex::new(state) }));
        let router = Router::new()
            .route("/v1/videos", post(create))
            .route("/v1/videos/{id}", get(poll))
            .route("/v1/videos/{id}/content", get(content))
            .with_state(service.clone())
            .into_make_service_with_connect_info::<SocketAddr>();
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(service)
    }

    pub(super) fn base_url(&self) -> &str {
        &self.0.base
    }

    /// Sends so many videos out of a hundred slowly.
    pub(super) fn set_slow_downloads(&self, percent: u64) {
        self.state().slow_downloads = percent;
    }

    /// The moments at which it can stop.
    pub(super) fn moments(&self) -> &Moments {
        &self.0.moments
    }

    /// The tasks of a prompt: each was paid for.
    pub(super) fn paid(&self, prompt: &str) -> Vec<String> {
        let state = self.state();
        state.accepted.iter().filter(|(_, task)| task.prompt == prompt).map(|(id, _)| id.clone()).collect()
    }

    /// How many tasks it accepted.
    pub(super) fn accepted(&self) -> usize {
        self.state().accepted.len()
    }

    /// The most tasks that were in flight at once.
    pub(super) fn max_in_flight(&self) -> usize {
        self.state().max_in_flight
    }

    /// The most submissions in any stretch of this length: its beginning counts, its end does not.
    pub(super) fn max_submissions(&self, per: Duration) -> usize {
        let arrivals = &self.state().arrivals;
        let within =
            |index: usize| arrivals[index..].iter().take_while(|time| **time < arrivals[index] + per).count();
        (0..arrivals.len()).map(within).max().unwrap_or_default()
    }

    /// Whether no submission is being handled: then the account says what became of each.
    pub(super) fn is_idle(&self) -> bool {
        self.state().open == 0
    }

    fn state(&self) -> MutexGuard<'_, Tasks> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn roll(&self, sides: u64) -> u64 {
        self.state().rng.next_u64() % sides.max(1)
    }

    async fn pause(&self) {
        let max_millis = u64::try_from(self.0.behavior.latency.as_millis()).unwrap_or(u64::MAX);
        let pause = Duration::from_millis(self.roll(max_millis));
        tokio::time::sleep(pause).await;
    }

    /// Accepts a request; returns its task.
    fn accept(&self, request: &Value) -> Value {
        let id = format!("task_{:016x}", self.roll(u64::MAX));
        let now = Instant::now();
        let mut state = self.state();
        let text = |name: &str| request[name].as_str().unwrap_or_default().to_owned();
        let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let task = Task {
            prompt: text("prompt"),
            model: text("model"),
            seconds: text("seconds"),
            created_at_ms: since_epoch.as_millis(),
            created: now,
            done_at: now + self.0.behavior.task,
        };
        let object = task.object(&id, now);
        state.accepted.insert(id, task);
        let in_flight = state.accepted.values().filter(|task| task.done_at > now).count();
        state.max_in_flight = state.max_in_flight.max(in_flight);
        object
    }

    /// What a submission leads to; `None` is a connection that breaks.
    async fn handle(&self, request: &Value, peer: u16) -> Option<Response> {
        let Behavior { dropped_answers, dropped_requests, throttled, .. } = self.0.behavior;
        self.0.moments.reach(Moment::PostArrived, peer).await;
        self.pause().await;
        let roll = self.roll(100);
        if roll < throttled {
            let mut response = error(StatusCode::TOO_MANY_REQUESTS);
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(1));
            return Some(response);
        }
        if roll < throttled + dropped_requests {
            return None;
        }
        let task = self.accept(request);
        self.0.moments.reach(Moment::PostAccepted, peer).await;
        self.pause().await;
        if self.roll(100) < dropped_answers {
            return None;
        }
        self.0.moments.pass(Moment::Answered, peer);
        Some(Json(task).into_response())
    }
}

fn error(status: StatusCode) -> Response {
    (status, Json(json!({ "error": { "message": "simulated", "type": "server_error" } }))).into_response()
}

async fn create(
    State(service): State<CountingService>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    body: Bytes,
) -> Response {
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    {
        let mut state = service.state();
        state.open += 1;
        state.arrivals.push(Instant::now());
    }
    let handler = service.clone();
    // A task of its own: a service does not stop because its client was killed.
    let handled = tokio::spawn(async move {
        let response = handler.handle(&request, peer.port()).await;
        handler.state().open -= 1;
        response
    });
    if let Ok(Some(response)) = handled.await {
        return response;
    }
    let broken = futures_util::stream::iter([Err::<Bytes, _>(std::io::Error::other("broken"))]);
    Body::from_stream(broken).into_response()
}

async fn poll(
    State(service): State<CountingService>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    Path(id): Path<String>,
) -> Response {
    service.0.moments.reach(Moment::Poll, peer.port()).await;
    let state = service.state();
    let Some(task) = state.accepted.get(&id) else { return error(StatusCode::NOT_FOUND) };
    Json(task.object(&id, Instant::now())).into_response()
}

/// A video that names its task.
async fn content(
    State(service): State<CountingService>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    Path(id): Path<String>,
) -> Response {
    if service.state().accepted.get(&id).is_none_or(|task| task.done_at > Instant::now()) {
        return error(StatusCode::NOT_FOUND);
    }
    let video = stub_video::named(&service.0.clip, &id);
    let is_slow = service.roll(100) < service.state().slow_downloads;
    let pieces = if is_slow { SLOW_PIECES } else { 2 };
    let piece = video.len().div_ceil(pieces);
    let pieces: Vec<Bytes> = video.chunks(piece).map(Bytes::copy_from_slice).collect();
    let (length, half, last) = (video.len(), pieces.len() / 2, pieces.len() - 1);
    let stream = futures_util::stream::unfold(pieces.into_iter().enumerate(), move |mut rest| {
        let service = service.clone();
        async move {
            let moments = &service.0.moments;
            let (number, piece) = rest.next()?;
            if number == half {
                moments.reach(Moment::HalfOfVideo, peer.port()).await;
            }
            if is_slow {
                tokio::time::sleep(SLOW_PAUSE).await;
            }
            if number == last {
                moments.pass(Moment::VideoSent, peer.port());
            }
            Some((Ok::<_, std::io::Error>(piece), rest))
        }
    });
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("video/mp4")),
        (header::CONTENT_LENGTH, HeaderValue::from(length)),
    ];
    (headers, Body::from_stream(stream)).into_response()
}
