//! [`Walker`]: services under test and a plain HTTP client.

use std::net::SocketAddr;
use std::time::Duration;

use crate::http::client_builder;
use base64::Engine as _;
use reqwest::{Client, Method, RequestBuilder, header};
use secrecy::ExposeSecret as _;
use serde_json::{Map, Value, json};
use service::KeyLimits;

use super::media_host;
use crate::blank_service::{BlankService, NamedKey};

pub(super) const A: &str = "modela-video-2-0-260128";
pub(super) const A_FAST: &str = "modela-video-2-0-fast-260128";
pub(super) const B: &str = "modelb-video-480p";
pub(super) const B_720: &str = "modelb-video-720p";
pub(super) const PREVIEW: &str = "modelb-video-1.5-preview-480p";
pub(super) const PREVIEW_720: &str = "modelb-video-1.5-preview-720p";

/// Time for a task to end.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The service with its keys, and a second one that fetches from public addresses only.
pub(super) struct Walker {
    http: Client,
    service: BlankService,
    public: BlankService,
    /// Permits everything.
    key: String,
    /// Without 1080p.
    pub(super) plain_key: String,
    /// One submission in a long time.
    pub(super) limited_key: String,
    host: SocketAddr,
}

/// A response.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) content_type: String,
    pub(super) retry_after: Option<String>,
    pub(super) bytes: Vec<u8>,
    /// The body as JSON; null for other bodies.
    pub(super) body: Value,
}

impl Walker {
    pub(super) async fn start() -> Result<Self, String> {
        let host = media_host::start().await?;
        let limits = KeyLimits { submissions_per_second: 0.001, burst: 1, ..KeyLimits::default() };
        let keys = [
            NamedKey { name: "all", full_hd: true, limits: None },
            NamedKey { name: "plain", full_hd: false, limits: None },
            NamedKey { name: "limited", full_hd: true, limits: Some(limits) },
        ];
        let (service, secrets) =
            BlankService::with_keys(&keys, |config| config.allow_private_media = true).await?;
        let public = BlankService::start(|_| {}).await?;
        let mut secrets = secrets.into_iter().map(|secret| secret.expose_secret().to_owned());
        let mut next = || secrets.next().unwrap_or_default();
        let http = client_builder().timeout(TIMEOUT).build().map_err(|error| error.to_string())?;
        Ok(Self { http, service, public, key: next(), plain_key: next(), limited_key: next(), host })
    }

    pub(super) async fn shutdown(self) {
        self.service.shutdown().await;
        self.public.shutdown().await;
    }

    /// A URL of the media host.
    pub(super) fn media(&self, name: &str) -> String {
        format!("http://{}/{name}", self.host)
    }

    pub(super) fn base_url(&self) -> String {
        self.service.base_url()
    }

    /// A request without a key; `path` begins with `/`.
    pub(super) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.service.base_url().trim_end_matches('/')))
    }

    pub(super) async fn get(&self, path: &str) -> Result<Answer, String> {
        send(self.request(Method::GET, path).bearer_auth(&self.key)).await
    }

    pub(super) async fn get_url(&self, url: &str) -> Result<Answer, String> {
        send(self.http.get(url)).await
    }

    pub(super) async fn post(&self, body: &Value) -> Result<Answer, String> {
        self.post_as(&self.key, body).await
    }

    pub(super) async fn post_as(&self, key: &str, body: &Value) -> Result<Answer, String> {
        send(self.request(Method::POST, "/v1/videos").bearer_auth(key).json(body)).await
    }

    /// Submits to the service that fetches from public addresses only.
    pub(super) async fn post_public(&self, body: &Value) -> Result<Answer, String> {
        let url = format!("{}v1/videos", self.public.base_url());
        send(self.http.post(url).bearer_auth(crate::blank_service::KEY).json(body)).await
    }

    /// Submits and polls to the end; returns each task object that differs from the one before.
    pub(super) async fn follow(&self, body: &Value) -> Result<Vec<Value>, String> {
        let created = self.post(body).await?;
        if created.status != 200 {
            return Err(created.summary());
        }
        let path = format!("/v1/videos/{}", created.body["id"].as_str().unwrap_or_default());
        let mut states = vec![created.body];
        let begin = std::time::Instant::now();
        loop {
            let task = self.get(&path).await?.body;
            let has_ended = matches!(task["status"].as_str(), Some("completed" | "failed"));
            if states.last() != Some(&task) {
                states.push(task);
            }
            if has_ended {
                return Ok(states);
            }
            if begin.elapsed() > TIMEOUT {
                return Err(format!("the task does not end: {:?}", states.last()));
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// The ended task of a request.
    pub(super) async fn final_task(&self, body: &Value) -> Result<Value, String> {
        self.follow(body).await?.pop().ok_or_else(|| "no task".to_owned())
    }
}

/// Sends a request and reads the response.
pub(super) async fn send(request: RequestBuilder) -> Result<Answer, String> {
    let response = request.send().await.map_err(|error| format!("no response: {error}"))?;
    let status = response.status().as_u16();
    let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let (content_type, retry_after) =
        (header(header::CONTENT_TYPE).unwrap_or_default(), header(header::RETRY_AFTER));
    let bytes = response.bytes().await.map_err(|error| format!("no body: {error}"))?.to_vec();
    let body = serde_json::from_slice(&bytes).unwrap_or_default();
    Ok(Answer { status, content_type, retry_after, bytes, body })
}

impl Answer {
    /// For the report: the status, and the error if it is one.
    pub(super) fn summary(&self) -> String {
        let error = &self.body["error"];
        if self.status < 300 {
            self.status.to_string()
        } else {
            format!("{} {} {}: {}", self.status, error["code"], error["param"], error["message"])
        }
    }
}

/// A request with fields besides `model` and `prompt`; null removes one.
pub(super) fn request(model: &str, fields: &Value) -> Value {
    let mut members = Map::new();
    members.insert("model".to_owned(), model.into());
    members.insert("prompt".to_owned(), "a lamp".into());
    for (name, value) in fields.as_object().into_iter().flatten() {
        if value.is_null() {
            members.remove(name);
        } else {
            members.insert(name.clone(), value.clone());
        }
    }
    Value::Object(members)
}

/// An item of `metadata.content`, with or without a role.
pub(super) fn item(kind: &str, role: Option<&str>, url: &str) -> Value {
    let mut item = json!({"type": kind, kind: {"url": url}});
    if let Some(role) = role {
        item["role"] = role.into();
    }
    item
}

pub(super) fn base64(bytes: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

pub(super) fn data_uri(kind: &str, bytes: &[u8]) -> String {
    format!("data:{kind};base64,{}", base64(bytes))
}
