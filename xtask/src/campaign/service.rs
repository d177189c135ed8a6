//! A service that accepts and then fails to answer, answers what it did not do, forgets, throttles and cuts downloads short.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Json, Response};
use axum::routing::{get, post};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};

use crate::http::{listen, serve};
use crate::stub_account::{Account, Task};
use crate::stub_video;

/// A running service; clones share it.
#[derive(Clone)]
pub(super) struct Service(Arc<Shared>);

struct Shared {
    base: String,
    clip: Vec<u8>,
    is_calm: AtomicBool,
    /// Requests that are being answered.
    open: AtomicUsize,
    state: Mutex<ServiceState>,
}

struct ServiceState {
    rng: SplitMix64,
    account: Account,
    /// Until when it does not find a task.
    unknown_until: BTreeMap<String, Instant>,
    /// How often it answered what.
    answers: BTreeMap<&'static str, usize>,
}

/// A request that is being answered.
struct Open(Service);

impl Open {
    fn begin(service: &Service) -> Self {
        service.0.open.fetch_add(1, Ordering::SeqCst);
        Self(service.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Service {
    /// Listens on a free loopback port until the runtime ends.
    pub(super) async fn start(seed: u64) -> Result<Self, String> {
        let (listener, base) = listen().await?;
        let rng = SplitMix64::seed_from_u64(!seed);
        let state = ServiceState {
            rng,
            account: Account::default(),
            unknown_until: BTreeMap::new(),
            answers: BTreeMap::new(),
        };
        let shared = Shared {
            base,
            clip: stub_video::clip()?,
            is_calm: AtomicBool::new(false),
            open: AtomicUsize::new(0),
            state: Mutex::new(state),
        };
        let service = Self(Arc::new(shared));
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

    /// Whether it behaves from now on.
    pub(super) fn set_calm(&self, calm: bool) {
        self.0.is_calm.store(calm, Ordering::SeqCst);
    }

    /// Whether no request is being answered: then the account tells what became of each.
    pub(super) fn is_idle(&self) -> bool {
        self.0.open.load(Ordering::SeqCst) == 0
    }

    /// The tasks of a prompt that were paid for.
    pub(super) fn paid(&self, prompt: &str) -> Vec<String> {
        self.state().account.paid(prompt)
    }

    /// Whether all submissions of a prompt that it accepted have a frame to start from, or none of them has.
    pub(super) fn have_frame(&self, prompt: &str, expected: bool) -> bool {
        self.state().account.have_frame(prompt, expected)
    }

    /// What it did.
    pub(super) fn report(&self) -> String {
        let state = self.state();
        let mut text = format!("service: {} tasks accepted; answers:", state.account.len());
        for (answer, count) in &state.answers {
            let _ = write!(text, " {answer} {count},");
        }
        text.trim_end_matches(',').to_owned()
    }

    fn state(&self) -> MutexGuard<'_, ServiceState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn roll(&self, sides: u64) -> u64 {
        self.state().rng.next_u64() % sides
    }

    /// Whether something goes wrong, out of a hundred times.
    fn is_faulty(&self, percent: u64) -> bool {
        !self.0.is_calm.load(Ordering::SeqCst) && self.roll(100) < percent
    }

    fn count(&self, answer: &'static str) {
        *self.state().answers.entry(answer).or_default() += 1;
    }

    /// Accepts a request; returns its task.
    fn accept(&self, request: &Value) -> Value {
        let takes = Duration::from_millis(50 + self.roll(1_500));
        let fails = self.is_faulty(6);
        let unknown = self.is_faulty(5).then(|| Instant::now() + Duration::from_millis(self.roll(6_000)));
        let mut state = self.state();
        let task = state.account.accept(request, takes, fails);
        state.unknown_until.extend(unknown.map(|until| (text(&task["id"]), until)));
        task
    }

    async fn pause(&self, max: u64) {
        tokio::time::sleep(Duration::from_millis(self.roll(max))).await;
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn service_error(status: u16, task: &Value) -> Response {
    let mut body = json!({ "error": { "message": "simulated", "type": "server_error" } });
    if !task.is_null() {
        body["task_id"] = task.clone();
    }
    (StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), Json(body)).into_response()
}

fn gateway_error(status: u16) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    (status, [(header::CONTENT_TYPE, "text/html")], "<html><body>upstream failed</body></html>")
        .into_response()
}

/// The first half of a body, and then the connection breaks.
fn cut_off(body: &[u8]) -> Body {
    let beginning = Bytes::copy_from_slice(&body[..body.len() / 2]);
    let pieces = [Ok(beginning), Err(std::io::Error::other("the connection breaks"))];
    Body::from_stream(futures_util::stream::iter(pieces))
}

fn throttled(seconds: u64) -> Response {
    let mut response = service_error(429, &Value::Null);
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

async fn create(State(service): State<Service>, body: Bytes) -> Response {
    let _open = Open::begin(&service);
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    service.pause(150).await;
    if !service.is_faulty(40) {
        let task = service.accept(&request);
        service.count("accepted");
        service.pause(400).await;
        return Json(task).into_response();
    }
    let (answer, response) = match service.roll(10) {
        0 => ("throttled", throttled(service.roll(2))),
        1 => ("refused with 503", service_error(503, &Value::Null)),
        2 => ("not accepted, gateway 502", gateway_error(502)),
        3 => ("not accepted, gateway 404", gateway_error(404)),
        4 => ("accepted, gateway 504", {
            service.accept(&request);
            service.pause(400).await;
            gateway_error(504)
        }),
        5 => ("accepted, 500", {
            service.accept(&request);
            service_error(500, &Value::Null)
        }),
        6 => ("accepted, 500 with the id", {
            let task = service.accept(&request);
            service_error(500, &task["id"])
        }),
        7 => ("accepted, 409", {
            service.accept(&request);
            service_error(409, &Value::Null)
        }),
        8 => ("accepted, answer cut off", {
            let task = service.accept(&request);
            cut_off(task.to_string().as_bytes()).into_response()
        }),
        _ => ("accepted, connection broken", {
            service.accept(&request);
            service.pause(400).await;
            cut_off(b"").into_response()
        }),
    };
    service.count(answer);
    response
}

async fn poll(State(service): State<Service>, Path(id): Path<String>) -> Response {
    service.pause(30).await;
    if service.is_faulty(20) {
        let (answer, response) = match service.roll(5) {
            0 => ("poll throttled", throttled(1)),
            1 => ("poll, gateway 404", gateway_error(404)),
            2 => ("poll, 500", service_error(500, &Value::Null)),
            3 => (
                "poll, another task",
                Json(json!({ "id": "task_other", "status": "completed" })).into_response(),
            ),
            _ => ("poll, cut off", cut_off(json!({ "id": id }).to_string().as_bytes()).into_response()),
        };
        service.count(answer);
        return response;
    }
    let state = service.state();
    let is_unknown = state.unknown_until.get(&id).is_some_and(|until| *until > Instant::now());
    let task = state.account.get(&id).filter(|_| !is_unknown).map(Task::object);
    drop(state);
    let Some(task) = task else {
        service.count("poll, unknown task");
        return service_error(404, &Value::Null);
    };
    Json(task).into_response()
}

/// A video that names its task.
async fn content(State(service): State<Service>, Path(id): Path<String>) -> Response {
    if !service.state().account.get(&id).is_some_and(Task::has_video) {
        return service_error(404, &Value::Null);
    }
    let video = stub_video::named(&service.0.clip, &id);
    if service.is_faulty(20) {
        service.count("download cut off");
        let length = video.len().to_string();
        return ([(header::CONTENT_LENGTH, length)], cut_off(&video)).into_response();
    }
    ([(header::CONTENT_TYPE, "video/mp4")], video).into_response()
}
