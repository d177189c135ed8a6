//! A recording proxy in front of a service: records every request, passes it on, and can inject faults into responses.

use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::Response;
use contract::Contract;
use secrecy::SecretString;
use service::{Config, Deps, FaultProfile, Service};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use url::Url;

use super::stub::Stub;

/// The key that the service takes.
pub(crate) const KEY: &str = "sk-test-0123456789";

/// The key of another account, which does not see the tasks of [`KEY`].
pub(crate) const OTHER_KEY: &str = "sk-other-9876543210";

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct RecordedPost {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// The fault of the response to a POST.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResponseFault {
    /// It is passed on.
    None,
    /// The service accepts, and the connection breaks before the response is complete.
    ConnectionDropped,
    /// The request is refused with 429 and never passed on.
    TooManyRequests,
}

/// A running service with its counter. Dropping it stops both.
pub(crate) struct RecordingProxy {
    pub(crate) url: String,
    records: Arc<Mutex<Vec<RecordedPost>>>,
    accepted: Arc<Mutex<Vec<(String, Bytes)>>>,
    switches: Arc<Switches>,
    // Last, so that everything else is gone before them.
    _runtime: Runtime,
    _data: TempDir,
}

/// What a test turns on and off while the service runs.
#[derive(Default)]
struct Switches {
    forgetful: AtomicU16,
    is_one_account: AtomicBool,
    holds_tasks: AtomicBool,
    holds_files: AtomicBool,
}

/// What becomes of the response to the n-th POST, given its number from 1 and its body.
type FaultRule = dyn Fn(usize, &str) -> ResponseFault + Send + Sync;

#[derive(Clone)]
struct Passing {
    behind: Url,
    http: reqwest::Client,
    records: Arc<Mutex<Vec<RecordedPost>>>,
    accepted: Arc<Mutex<Vec<(String, Bytes)>>>,
    /// Ids of the tasks that a client has cancelled.
    cancelled: Arc<Mutex<Vec<String>>>,
    /// Ids of the tasks that were submitted with [`OTHER_KEY`].
    of_other_account: Arc<Mutex<Vec<String>>>,
    switches: Arc<Switches>,
    fault: Arc<FaultRule>,
}

impl RecordingProxy {
    /// A service that renders plain colors. `fault` returns the fault of the response to the n-th POST, counted from 1.
    pub(crate) fn start(fault: impl Fn(usize) -> ResponseFault + Send + Sync + 'static) -> Self {
        Self::start_with(None, move |post, _| fault(post))
    }

    /// The same service without faults.
    pub(crate) fn faithful() -> Self {
        Self::start(|_| ResponseFault::None)
    }

    /// The same service, which loses the response to the first POST whose body contains `text`: which shot that is does not depend on the
    /// order in which requests arrive.
    pub(crate) fn losing_first(text: &'static str) -> Self {
        let has_lost = AtomicBool::new(false);
        Self::start_with(None, move |_, body| {
            let is_lost = body.contains(text) && !has_lost.swap(true, Ordering::SeqCst);
            if is_lost { ResponseFault::ConnectionDropped } else { ResponseFault::None }
        })
    }

    /// The same service, which misbehaves as a profile says (docs/service.md), with a proxy that passes everything on.
    pub(crate) fn with_faults(profile: &str) -> Self {
        let profile = FaultProfile::from_json(profile).expect("a profile");
        Self::start_with(Some(profile), |_, _| ResponseFault::None)
    }

    fn start_with(
        faults: Option<FaultProfile>,
        fault: impl Fn(usize, &str) -> ResponseFault + Send + Sync + 'static,
    ) -> Self {
        let data = tempfile::tempdir().expect("a temporary folder");
        let folder = data.path().join("service");
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("the machine gives threads");
        let records = Arc::new(Mutex::new(Vec::new()));
        let accepted = Arc::new(Mutex::new(Vec::new()));
        let (shared_records, shared_accepted) = (Arc::clone(&records), Arc::clone(&accepted));
        let switches = Arc::<Switches>::default();
        let shared_switches = Arc::clone(&switches);
        let address = runtime.block_on(async move {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
            let address = listener.local_addr().expect("an address");
            let public = format!("http://{address}/").parse().expect("a URL");
            let shipped = |name: &str| Some((name.to_owned(), Arc::clone(Contract::shipped(name)?)));
            let config = Config {
                public_url: Some(public),
                faults,
                dialects: Contract::shipped_names().filter_map(shipped).collect(),
                ..Config::embedded(folder, SecretString::from(KEY))
            };
            let service =
                Service::start(config, Arc::new(Stub), Deps::system()).await.expect("the service starts");
            let behind = format!("http://{}/", service.local_addr()).parse().expect("a URL");
            let http = super::http::client_builder().build().expect("an HTTP client");
            let app = Router::new().fallback(pass_whole).with_state(Passing {
                behind,
                http,
                records: shared_records,
                accepted: shared_accepted,
                cancelled: Arc::default(),
                of_other_account: Arc::default(),
                switches: shared_switches,
                fault: Arc::new(fault),
            });
            tokio::spawn(async move {
                // The service lives as long as its proxy.
                let _service = service;
                axum::serve(listener, app).await
            });
            address
        });
        Self { url: format!("http://{address}"), records, accepted, switches, _runtime: runtime, _data: data }
    }

    /// From now on every request about a task is answered with this status in the service's error form; 0 ends that.
    pub(crate) fn forget_tasks(&self, status: u16) {
        self.switches.forgetful.store(status, Ordering::SeqCst);
    }

    /// From now on [`OTHER_KEY`] is another key of the account of [`KEY`].
    pub(crate) fn join_accounts(&self) {
        self.switches.is_one_account.store(true, Ordering::SeqCst);
    }

    /// From now on every task is in progress, for as long as this is not ended with `false`.
    pub(crate) fn hold_tasks(&self, are_held: bool) {
        self.switches.holds_tasks.store(are_held, Ordering::SeqCst);
    }

    /// From now on no response to a request for a file begins, for as long as this is not ended with `false`.
    pub(crate) fn hold_files(&self, are_held: bool) {
        self.switches.holds_files.store(are_held, Ordering::SeqCst);
    }

    /// Every POST to the videos endpoint so far.
    pub(crate) fn posts(&self) -> Vec<RecordedPost> {
        let records = self.records.lock().expect("no handler panics");
        records.iter().filter(|record| record.method == Method::POST).cloned().collect()
    }

    /// How many requests there were that only ask, whose path begins so.
    pub(crate) fn gets(&self, path: &str) -> usize {
        let records = self.records.lock().expect("no handler panics");
        records.iter().filter(|record| record.method == Method::GET && record.path.starts_with(path)).count()
    }

    /// The ids of all tasks that the service has accepted, in order, whether or not the answers arrived.
    pub(crate) fn accepted(&self) -> Vec<String> {
        self.accepted.lock().expect("no handler panics").iter().map(|(id, _)| id.clone()).collect()
    }
}

/// Passes a request on to its end even if the client is gone before, as a real service behind a gateway would see it.
async fn pass_whole(state: State<Passing>, request: Request) -> Response {
    tokio::spawn(pass(state, request)).await.expect("passing on does not panic")
}

async fn pass(State(passing): State<Passing>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 64 << 20).await.unwrap_or_default();
    let posts = {
        let mut records = passing.records.lock().expect("no handler panics");
        records.push(RecordedPost {
            method: parts.method.clone(),
            path: parts.uri.path().to_owned(),
            headers: parts.headers.clone(),
            body: body.to_vec(),
        });
        records.iter().filter(|record| record.method == Method::POST).count()
    };
    let fault = if parts.method == Method::POST {
        (passing.fault)(posts, &String::from_utf8_lossy(&body))
    } else {
        ResponseFault::None
    };
    if fault == ResponseFault::TooManyRequests {
        return too_many();
    }
    let parts_method = parts.method.clone();
    let is_other_account = parts
        .headers
        .get("authorization")
        .is_some_and(|value| value.as_bytes().ends_with(OTHER_KEY.as_bytes()));
    let switches = &passing.switches;
    if let Some(path) = parts.uri.path().strip_prefix("/v1/videos/") {
        let task = path.split('/').next().unwrap_or_default().to_owned();
        let status = switches.forgetful.load(Ordering::SeqCst);
        let is_of_other_account = passing.of_other_account.lock().expect("no handler panics").contains(&task);
        let is_hidden =
            is_of_other_account != is_other_account && !switches.is_one_account.load(Ordering::SeqCst);
        if status != 0 || is_hidden {
            return not_found(if status == 0 { 404 } else { status });
        }
        if path == task && switches.holds_tasks.load(Ordering::SeqCst) {
            let body = serde_json::json!({ "id": task, "object": "video", "status": "in_progress" });
            return json_response(200, &body);
        }
    }
    while parts.uri.path().starts_with("/files/") && switches.holds_files.load(Ordering::SeqCst) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // What the service behind does not do in the dialect of Ark: it cancels nothing, and has no list.
    if let Some((_, task)) = parts.uri.path().split_once("/contents/generations/tasks/") {
        let mut cancelled = passing.cancelled.lock().expect("no handler panics");
        if parts_method == Method::DELETE {
            cancelled.push(task.to_owned());
            return json_response(200, &serde_json::json!({}));
        }
        let status = if cancelled.iter().any(|id| id == task) { "cancelled" } else { "queued" };
        if status == "cancelled" || switches.holds_tasks.load(Ordering::SeqCst) {
            return json_response(200, &serde_json::json!({ "id": task, "status": status }));
        }
    }
    if parts_method == Method::GET && parts.uri.path().ends_with("/contents/generations/tasks") {
        let accepted = passing.accepted.lock().expect("no handler panics").clone();
        let item = |(id, body): &(String, Bytes)| {
            let request: serde_json::Value = serde_json::from_slice(body).expect("a request");
            serde_json::json!({ "id": id, "safety_identifier": request["safety_identifier"] })
        };
        let items: Vec<serde_json::Value> = accepted.iter().rev().map(item).collect();
        return json_response(200, &serde_json::json!({ "total": items.len(), "items": items }));
    }
    let sent = body.clone();
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let mut onward =
        passing.http.request(parts.method, passing.behind.join(path).expect("a path")).body(body);
    for (name, value) in &parts.headers {
        if name == "authorization" && is_other_account {
            onward = onward.header(name, format!("Bearer {KEY}"));
        } else if !["host", "content-length", "connection"].contains(&name.as_str()) {
            onward = onward.header(name, value);
        }
    }
    // A service that cuts the connection is passed on as well.
    let Ok(answer) = onward.send().await else {
        return Response::new(broken(&Bytes::new()));
    };
    let mut response = Response::builder().status(answer.status());
    for (name, value) in answer.headers() {
        if !["transfer-encoding", "connection"].contains(&name.as_str()) {
            response = response.header(name, value);
        }
    }
    if parts_method != Method::POST {
        return response.body(Body::from_stream(answer.bytes_stream())).expect("an answer");
    }
    let is_accepted = answer.status().is_success();
    let bytes = answer.bytes().await.unwrap_or_default();
    if is_accepted {
        let task: serde_json::Value = serde_json::from_slice(&bytes).expect("a task object");
        // Elsewhere in other dialects.
        let id = task["id"].as_str().unwrap_or_default().to_owned();
        if is_other_account {
            passing.of_other_account.lock().expect("no handler panics").push(id.clone());
        }
        passing.accepted.lock().expect("no handler panics").push((id, sent));
    }
    let body = match fault {
        ResponseFault::ConnectionDropped => broken(&bytes),
        ResponseFault::None | ResponseFault::TooManyRequests => Body::from(bytes),
    };
    response.body(body).expect("an answer")
}

/// The beginning of a body, and then the connection breaks.
fn broken(bytes: &Bytes) -> Body {
    let half = bytes.slice(..bytes.len() / 2);
    Body::from_stream(futures_util::stream::iter([Ok(half), Err(std::io::Error::other("the line is cut"))]))
}

/// In the service's own form.
fn not_found(status: u16) -> Response {
    let error = serde_json::json!({
        "error": { "message": "no such video", "type": "invalid_request_error", "param": null, "code": "not_found" }
    });
    json_response(status, &error)
}

fn json_response(status: u16, body: &serde_json::Value) -> Response {
    Response::builder()
        .status(status)
        .header("content-type", "application/json")
        .body(Body::from(body.to_string()))
        .expect("an answer")
}

fn too_many() -> Response {
    let error = serde_json::json!({
        "error": { "message": "slow down", "type": "rate_limit_error", "param": null, "code": "rate_limited" }
    });
    Response::builder()
        .status(StatusCode::TOO_MANY_REQUESTS)
        .header("content-type", "application/json")
        .header("retry-after", "0")
        .body(Body::from(error.to_string()))
        .expect("an answer")
}
