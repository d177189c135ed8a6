//! A service that counts what it accepts, loses answers, throttles, and sends some videos slowly.

use std::net::SocketAddr;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Json, Response};
use axum::routing::{get, post};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::moment::{Moment, Moments};
use crate::http::{listen, serve};
use crate::stub_account::{Account, Task};
use crate::stub_video;

/// Where services run.
static RUNTIME: LazyLock<std::io::Result<Runtime>> = LazyLock::new(Runtime::new);
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
    account: Account,
    /// Submissions that are being handled.
    open: usize,
    /// When each submission arrived.
    arrivals: Vec<Instant>,
    max_in_flight: usize,
    /// Out of a hundred downloads, so many are slow.
    slow_downloads: u64,
}

impl CountingService {
    /// Listens on a free port of loopback until this process ends.
    pub(super) fn start(seed: u64, behavior: Behavior) -> Result<Self, String> {
        RUNTIME.as_ref().map_err(ToString::to_string)?.block_on(Self::start_on_runtime(seed, behavior))
    }

    async fn start_on_runtime(seed: u64, behavior: Behavior) -> Result<Self, String> {
        let (listener, base) = listen().await?;
        let state = Tasks {
            rng: SplitMix64::seed_from_u64(!seed),
            account: Account::default(),
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
            .with_state(service.clone());
        serve(listener, router);
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

    /// The tasks of a prompt that were paid for.
    pub(super) fn paid(&self, prompt: &str) -> Vec<String> {
        self.state().account.paid(prompt)
    }

    /// How many tasks it accepted.
    pub(super) fn accepted(&self) -> usize {
        self.state().account.len()
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
        let fails = request["prompt"].as_str().is_some_and(|prompt| prompt.contains(FAILING));
        let mut state = self.state();
        let task = state.account.accept(request, self.0.behavior.task, fails);
        state.max_in_flight = state.max_in_flight.max(state.account.in_flight());
        task
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
    state
        .account
        .get(&id)
        .map_or_else(|| error(StatusCode::NOT_FOUND), |task| Json(task.object()).into_response())
}

/// A video that names its task.
async fn content(
    State(service): State<CountingService>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    Path(id): Path<String>,
) -> Response {
    if !service.state().account.get(&id).is_some_and(Task::has_video) {
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
