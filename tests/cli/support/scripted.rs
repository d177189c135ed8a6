//! A service whose responses a test scripts. What the script leaves open is answered as a well-behaved service would: tasks are complete at
//! once, and each has a video of its own.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::response::Response;
use media::{ClipSpec, ClipWriter, FrameRate, RgbImage};
use serde_json::json;
use tokio::runtime::Runtime;

/// A request, for the script.
pub(crate) struct Call<'a> {
    pub(crate) path: &'a str,
    /// The number of this request among those with the same method and path, from 1.
    pub(crate) nth: usize,
}

type Script = dyn Fn(&Call<'_>) -> Option<Response> + Send + Sync;

/// A running service. Dropping it stops it.
pub(crate) struct ScriptedService {
    pub(crate) url: String,
    calls: Arc<Mutex<Calls>>,
    _runtime: Runtime,
}

#[derive(Default)]
struct Calls {
    counts: HashMap<(Method, String), usize>,
    posts: usize,
}

#[derive(Clone)]
struct Shared {
    base: String,
    calls: Arc<Mutex<Calls>>,
    script: Arc<Script>,
}

impl ScriptedService {
    pub(crate) fn start(script: impl Fn(&Call<'_>) -> Option<Response> + Send + Sync + 'static) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("the machine gives threads");
        let calls = Arc::<Mutex<Calls>>::default();
        let shared_calls = Arc::clone(&calls);
        let url = runtime.block_on(async move {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
            let base = format!("http://{}", listener.local_addr().expect("an address"));
            let shared = Shared { base: base.clone(), calls: shared_calls, script: Arc::new(script) };
            let app = Router::new().fallback(respond).with_state(shared);
            tokio::spawn(async move { axum::serve(listener, app).await });
            base
        });
        Self { url, calls, _runtime: runtime }
    }

    /// How many submissions arrived.
    pub(crate) fn posts(&self) -> usize {
        self.calls.lock().expect("no handler panics").posts
    }

    /// How often a path was asked for.
    pub(crate) fn gets(&self, path: &str) -> usize {
        let calls = self.calls.lock().expect("no handler panics");
        calls.counts.get(&(Method::GET, path.to_owned())).copied().unwrap_or_default()
    }
}

/// The id of the task of the n-th submission.
pub(crate) fn task_id(nth: usize) -> String {
    format!("task_{nth:026}")
}

/// A response with this body.
pub(crate) fn response(status: u16, headers: &[(&str, &str)], body: impl Into<Body>) -> Response {
    let builder = headers
        .iter()
        .fold(Response::builder().status(status), |builder, (name, value)| builder.header(*name, *value));
    builder.body(body.into()).expect("a response")
}

async fn respond(State(shared): State<Shared>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    // A client that is answered before its request is complete sees a broken connection.
    let _ = axum::body::to_bytes(body, 64 << 20).await;
    let path = parts.uri.path();
    let (nth, posts) = {
        let mut calls = shared.calls.lock().expect("no handler panics");
        calls.posts += usize::from(parts.method == Method::POST);
        let posts = calls.posts;
        let count = calls.counts.entry((parts.method.clone(), path.to_owned())).or_default();
        *count += 1;
        (*count, posts)
    };
    if let Some(response) = (shared.script)(&Call { path, nth }) {
        return response;
    }
    let task = |id: &str, status: &str| {
        let url = format!("{}/files/{id}.mp4", shared.base);
        let task = json!({
            "id": id, "object": "video", "model": "modelb-video-480p", "status": status, "progress": 0,
            "created_at": 0, "seconds": "1", "metadata": { "url": url },
        });
        response(200, &[("content-type", "application/json")], task.to_string())
    };
    match (&parts.method, path.trim_start_matches('/').split('/').collect::<Vec<_>>().as_slice()) {
        (&Method::POST, ["v1", "videos"]) => task(&task_id(posts), "queued"),
        (&Method::GET, ["v1", "videos", id]) => task(id, "completed"),
        (&Method::GET, ["v1", "videos", id, "content"]) => video(id),
        (&Method::GET, ["files", name]) => video(name.trim_end_matches(".mp4")),
        _ => response(StatusCode::NOT_FOUND.as_u16(), &[], ""),
    }
}

fn video(id: &str) -> Response {
    response(200, &[(header::CONTENT_TYPE.as_str(), "video/mp4")], clip_of(id))
}

/// The video of a task.
pub(crate) fn clip_of(id: &str) -> Vec<u8> {
    // A box that players skip makes the video another one for each task.
    let mut bytes = CLIP.clone();
    bytes.extend(u32::try_from(8 + id.len()).expect("a short id").to_be_bytes());
    bytes.extend(b"free");
    bytes.extend(id.as_bytes());
    bytes
}

/// A tenth of a second, 64x64 pixels.
static CLIP: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let rate = FrameRate::new(30, 1).expect("a frame rate");
    let mut writer = ClipWriter::new(ClipSpec::new(64, 64, rate)).expect("a size that can be encoded");
    for shade in 0..3_u8 {
        let mut frame = RgbImage::new(64, 64);
        frame.pixels_mut().fill(60 * shade);
        writer.push_frame(&frame).expect("a frame of the right size");
    }
    writer.finish().expect("a clip")
});
