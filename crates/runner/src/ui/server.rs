//! The routes: the page, its events, its actions and its files.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use futures_util::Stream;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use service::{RangedFile, RangedFileError};
use tokio::sync::watch;

use super::action::PageAction;
use super::origin::Origin;
use super::preview::{self, PreviewError};
use super::project::{Project, ProjectSnapshot};
use super::request_guard::{self, DenialReason};
use super::session::Session;
use super::started_commands::{StartError, StartedCommand, StartedCommands};

/// Largest body of an action: a prompt is at most a few kilobytes.
const MAX_BODY: usize = 1 << 20;

/// A comment is sent so often where nothing happens; the page takes a longer silence for a lost connection.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// Minimum time between two events.
const EVENT_INTERVAL: Duration = Duration::from_millis(250);

/// State shared by the handlers.
pub(super) struct Server {
    pub(super) origin: Origin,
    pub(super) session: Session,
    pub(super) project: Project,
    pub(super) snapshots: watch::Receiver<ProjectSnapshot>,
    pub(super) jobs: StartedCommands,
}

impl Server {
    /// Other files that the workflow depends on.
    fn inputs(&self) -> Arc<[PathBuf]> {
        Arc::clone(&self.snapshots.borrow().inputs)
    }
}

pub(super) fn router(server: Arc<Server>) -> Router {
    Router::new()
        .route("/", get(page))
        .route("/events", get(events))
        .route("/api/shot", get(shot))
        .route("/api/preview", post(preview))
        .route("/api/perform", post(perform))
        .fallback(file)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(middleware::from_fn_with_state(Arc::clone(&server), guard))
        .with_state(server)
}

/// Refuses requests of other pages and without a session, and adds the headers of every response.
async fn guard(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    let mut response = match admitted(&server, &request) {
        Ok(()) => next.run(request).await,
        Err(denied) => error(denied.status(), "denied", denied.message()),
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

fn admitted(server: &Server, request: &Request) -> Result<(), DenialReason> {
    request_guard::check(request.method(), request.headers(), &server.origin)?;
    let has_cookie = request_guard::cookie(request.headers(), server.session.name())
        .is_some_and(|cookie| server.session.is_cookie(cookie));
    if has_cookie || token(request.uri()).is_some_and(|token| server.session.is_token(&token)) {
        return Ok(());
    }
    Err(DenialReason::Session)
}

/// The token in the address of the page.
fn token(uri: &Uri) -> Option<String> {
    if uri.path() != "/" {
        return None;
    }
    Some(uri.query()?.strip_prefix("token=")?.to_owned())
}

/// The page with the manifest of now; with a token, the cookie and the address without it.
async fn page(State(server): State<Arc<Server>>, uri: Uri) -> Response {
    if token(&uri).is_some() {
        let cookie = HeaderValue::from_str(&server.session.set_cookie(server.origin.is_secure()));
        let Ok(cookie) = cookie else { return StatusCode::INTERNAL_SERVER_ERROR.into_response() };
        let headers = [(header::SET_COOKIE, cookie), (header::LOCATION, HeaderValue::from_static("/"))];
        return (StatusCode::SEE_OTHER, headers).into_response();
    }
    let manifest = Arc::clone(&server.snapshots.borrow().manifest);
    match viewer::live_page(&manifest) {
        Ok(page) => {
            let policy = HeaderValue::from_static("frame-ancestors 'none'");
            ([(header::CONTENT_SECURITY_POLICY, policy)], Html(page)).into_response()
        }
        Err(failure) => error(StatusCode::INTERNAL_SERVER_ERROR, "failed", &failure.to_string()),
    }
}

/// The stream of events: the project and the started commands, first as they are, then whenever they change.
async fn events(State(server): State<Arc<Server>>) -> impl IntoResponse {
    let mut stream = EventStream { snapshots: server.snapshots.clone(), jobs: server.jobs.watch(), sent: 0 };
    stream.snapshots.mark_changed();
    stream.jobs.mark_changed();
    Sse::new(stream.into_events()).keep_alive(KeepAlive::new().interval(KEEP_ALIVE))
}

struct EventStream {
    snapshots: watch::Receiver<ProjectSnapshot>,
    jobs: watch::Receiver<Arc<[StartedCommand]>>,
    sent: u64,
}

impl EventStream {
    fn into_events(self) -> impl Stream<Item = Result<Event, Infallible>> {
        futures_util::stream::unfold(self, |mut stream| async move {
            if stream.sent > 1 {
                tokio::time::sleep(EVENT_INTERVAL).await;
            }
            stream.sent += 1;
            // In this order at the start. An error means that the server stops.
            let (kind, data) = tokio::select! {
                biased;
                changed = stream.snapshots.changed() => {
                    changed.ok()?;
                    ("manifest", stream.snapshots.borrow_and_update().json())
                }
                changed = stream.jobs.changed() => {
                    changed.ok()?;
                    ("jobs", serde_json::to_string(&**stream.jobs.borrow_and_update()).ok()?)
                }
            };
            let event = Event::default().event(kind).id(stream.sent.to_string()).data(data);
            Some((Ok(event), stream))
        })
    }
}

async fn shot(State(server): State<Arc<Server>>, uri: Uri) -> Response {
    let mut query = url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    let id = query.find(|(name, _)| name == "id").map(|(_, id)| id.into_owned()).unwrap_or_default();
    match preview::own_values(&server.project, &id) {
        Ok(values) => axum::Json(values).into_response(),
        Err(failure) => error(StatusCode::NOT_FOUND, "unknown-shot", &failure),
    }
}

async fn preview(State(server): State<Arc<Server>>, body: Bytes) -> Response {
    let action = match parse(&body) {
        Ok(action) => action,
        Err(message) => return error(StatusCode::BAD_REQUEST, "invalid", &message),
    };
    match preview::preview(&server.project, &server.inputs(), &action).await {
        Ok(preview) => axum::Json(preview).into_response(),
        Err(failure) => preview_error(&failure),
    }
}

fn preview_error(failure: &PreviewError) -> Response {
    match failure {
        PreviewError::Changed(message) => error(StatusCode::CONFLICT, "changed", message),
        PreviewError::Invalid(message) => error(StatusCode::UNPROCESSABLE_ENTITY, "invalid", message),
    }
}

async fn perform(State(server): State<Arc<Server>>, body: Bytes) -> Response {
    let mut action = match parse(&body) {
        Ok(action) => action,
        Err(message) => return error(StatusCode::BAD_REQUEST, "invalid", &message),
    };
    if let PageAction::Run(run) = &action {
        action = match preview::previewed_run(&server.project, &server.inputs(), run) {
            Ok(run) => run,
            Err(failure) => return preview_error(&failure),
        };
    }
    let target = server.project.target();
    let started = match (&action, action.arguments(target)) {
        (PageAction::Stop { job }, _) => server.jobs.stop(job).map(|()| job.clone()),
        (_, None) => Err(StartError::Unknown),
        (PageAction::Edit { .. }, Some(_)) if preview::is_changed(&server.project, &action) => {
            return error(StatusCode::CONFLICT, "changed", "the file was changed in the meantime");
        }
        (_, Some(mut arguments)) => {
            if matches!(action, PageAction::Run(_)) {
                arguments.insert(1, "--format=ndjson".to_owned());
            }
            server.jobs.start(action.name(), &arguments, action.command(target))
        }
    };
    match started {
        Ok(job) => (StatusCode::ACCEPTED, axum::Json(json!({ "job": job }))).into_response(),
        Err(failure) => {
            let (status, code) = match failure {
                StartError::Busy => (StatusCode::CONFLICT, "busy"),
                StartError::Unknown => (StatusCode::NOT_FOUND, "unknown-job"),
                StartError::System(_) => (StatusCode::INTERNAL_SERVER_ERROR, "failed"),
            };
            error(status, code, &failure.to_string())
        }
    }
}

fn parse(body: &[u8]) -> Result<PageAction, String> {
    serde_json::from_slice(body).map_err(|failure| format!("not an action: {failure}"))
}

/// A file that the manifest names, and no other: whatever the path is, it cannot leave the folder.
async fn file(State(server): State<Arc<Server>>, method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let unknown = || error(StatusCode::NOT_FOUND, "unknown-file", "there is no such file");
    let name = percent_decode_str(uri.path().trim_start_matches('/')).decode_utf8_lossy().into_owned();
    let snapshot = server.snapshots.borrow().clone();
    if !matches!(method, Method::GET | Method::HEAD) || !snapshot.files.contains(&name) {
        return unknown();
    }
    let path = snapshot.folder.join(&name);
    let Ok(metadata) = tokio::fs::metadata(&path).await else { return unknown() };
    let modified = metadata.modified().unwrap_or(UNIX_EPOCH);
    let age = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    let media_type = match path.extension().and_then(|extension| extension.to_str()) {
        Some("mp4") => "video/mp4",
        Some("jpg") => "image/jpeg",
        Some("png") => "image/png",
        _ => "application/octet-stream",
    };
    let file = RangedFile {
        path,
        length: metadata.len(),
        etag: format!("\"{:x}-{:x}\"", metadata.len(), age.as_nanos()),
        media_type,
        // A film is joined again under its name.
        cache_control: "private, no-cache",
    };
    match file.respond(&method, &headers).await {
        Ok(response) => response,
        Err(RangedFileError::Unsatisfiable { length }) => {
            let range = HeaderValue::from_str(&format!("bytes */{length}"));
            let mut response =
                error(StatusCode::RANGE_NOT_SATISFIABLE, "invalid-range", "it starts beyond the end");
            if let Ok(range) = range {
                response.headers_mut().insert(header::CONTENT_RANGE, range);
            }
            response
        }
        Err(RangedFileError::Io(failure)) => error(StatusCode::NOT_FOUND, "unreadable", &failure.to_string()),
    }
}

fn error(status: StatusCode, code: &str, message: &str) -> Response {
    let body: Value = json!({ "error": { "code": code, "message": message } });
    (status, axum::Json(body)).into_response()
}
