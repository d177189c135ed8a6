//! Test servers: one that speaks HTTP and records requests, one that treats connections as scripted.

use std::{
    future::Future,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::Request,
    response::{IntoResponse, Response},
};
use client::{Client, ClientConfig, PreparedRequest};
use serde_json::{Value, json};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use url::Url;

pub(crate) const KEY: &str = "sk-0123456789abcdef";

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct RecordedRequest {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl RecordedRequest {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }
}

/// A server; it stops when it is dropped.
pub(crate) struct Server {
    pub(crate) url: Url,
    requests: Arc<Mutex<Vec<RecordedRequest>>>,
    serving: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Server {
    /// Answers each request with what a function makes of it.
    pub(crate) async fn answering(
        answer: impl Fn(&RecordedRequest) -> Response + Clone + Send + Sync + 'static,
    ) -> Self {
        let requests = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&requests);
        let app = Router::new().fallback(move |request: Request| {
            let (log, answer) = (Arc::clone(&log), answer.clone());
            async move {
                let arrived = arrived(request).await;
                let response = answer(&arrived);
                log.lock().expect("no test panics with the lock").push(arrived);
                response
            }
        });
        let (listener, url) = listen().await;
        let serving = tokio::spawn(async move {
            axum::serve(listener, app).await.expect("serving goes on until the test ends");
        });
        Self { url, requests, serving }
    }

    /// Hands each connection to a function, with its number.
    pub(crate) async fn handling<F>(handle: impl Fn(TcpStream, usize) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (listener, url) = listen().await;
        let serving = tokio::spawn(async move {
            let mut number = 0;
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(handle(stream, number));
                number += 1;
            }
        });
        Self { url, requests: Arc::default(), serving }
    }

    pub(crate) fn requests(&self) -> Vec<RecordedRequest> {
        self.requests.lock().expect("no test panics with the lock").clone()
    }

    /// A client with times that suit a test.
    pub(crate) fn client(&self) -> Client {
        client(&self.url)
    }
}

async fn listen() -> (TcpListener, Url) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    (listener, format!("http://127.0.0.1:{port}").parse().expect("a URL"))
}

async fn arrived(request: Request) -> RecordedRequest {
    let (parts, body) = request.into_parts();
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    let mut headers: Vec<_> =
        parts.headers.iter().map(|(name, value)| (name.to_string(), text(value.as_bytes()))).collect();
    headers.sort();
    let body = to_bytes(body, usize::MAX).await.expect("a whole body");
    RecordedRequest {
        method: parts.method.to_string(),
        path: parts.uri.to_string(),
        headers,
        body: text(&body),
    }
}

pub(crate) fn config(base: &Url) -> ClientConfig {
    let mut config = ClientConfig::new(base.clone(), KEY.to_owned().into());
    // A busy machine may be slow. A connection gives up before its request does, so that it is known what was not sent.
    config.connect_timeout = Duration::from_mins(1);
    config.submit_timeout = Duration::from_mins(2);
    config.poll_timeout = Duration::from_mins(2);
    config.read_timeout = Duration::from_mins(2);
    config
}

pub(crate) fn client(base: &Url) -> Client {
    Client::new(config(base)).expect("a usable configuration")
}

pub(crate) fn request() -> Value {
    json!({ "model": "modelb-video-480p", "prompt": "the lamp turns on", "seconds": "5" })
}

pub(crate) fn prepared() -> PreparedRequest {
    PreparedRequest::new(&request()).expect("acceptable")
}

pub(crate) fn task(status: &str) -> Value {
    json!({
        "id": "task_1", "object": "video", "model": "modelb-video-480p", "status": status, "progress": 0,
        "created_at": 1_795_225_551_000_i64, "seconds": "5",
    })
}

pub(crate) fn answer(status: u16, headers: &[(&str, &str)], body: impl Into<Body>) -> Response {
    let mut builder = axum::http::Response::builder().status(status);
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    builder.body(body.into()).expect("a response").into_response()
}

pub(crate) fn json_response(status: u16, body: &Value) -> Response {
    answer(status, &[("content-type", "application/json")], body.to_string())
}
