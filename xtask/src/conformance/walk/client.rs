//! [`Walker`]: services under test and a plain HTTP client.

use std::fmt;
use std::time::Duration;

use crate::http::client_builder;
use reqwest::header::HeaderMap;
use reqwest::{Method, RequestBuilder};
use secrecy::ExposeSecret;
use serde::Deserialize;
use serde_json::{Value, json};
use service::KeyLimits;

use super::media_host;
use crate::blank_service::{BlankService, KEY, NamedKey};

pub(super) const A: &str = "modela-video-2-0-260128";
pub(super) const B: &str = "modelb-video-480p";
pub(super) const PROMPT: &str = "a lamp";

/// Time for a task to end.
const TIMEOUT: Duration = Duration::from_secs(20);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Whose key is used, and with which service.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Client {
    /// Everything is permitted.
    #[default]
    All,
    /// Without 1080p.
    Plain,
    /// One submission in a long time.
    Limited,
    /// Of a service that fetches from public addresses only.
    Public,
}

/// The service with its keys, and a second one that fetches from public addresses only.
pub(super) struct Walker {
    http: reqwest::Client,
    service: BlankService,
    public: BlankService,
    /// By [`Client`].
    keys: Vec<String>,
    /// The URL of the media host, without a slash at its end.
    pub(super) host: String,
}

#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) status: u16,
    headers: HeaderMap,
    pub(super) bytes: Vec<u8>,
    /// The body as JSON; null for other bodies.
    pub(super) body: Value,
}

impl Walker {
    pub(super) async fn start() -> Result<Self, String> {
        let limits = KeyLimits { submissions_per_second: 0.001, burst: 1, ..KeyLimits::default() };
        let keys = [
            NamedKey { name: "all", full_hd: true, limits: None },
            NamedKey { name: "plain", full_hd: false, limits: None },
            NamedKey { name: "limited", full_hd: true, limits: Some(limits) },
        ];
        let (service, secrets) =
            BlankService::with_keys(&keys, |config| config.allow_private_media = true).await?;
        let secrets = secrets.iter().map(ExposeSecret::expose_secret);
        Ok(Self {
            http: client_builder().timeout(TIMEOUT).build().map_err(|error| error.to_string())?,
            keys: secrets.chain([KEY]).map(str::to_owned).collect(),
            service,
            public: BlankService::start(|_| {}).await?,
            host: media_host::start().await?,
        })
    }

    pub(super) async fn shutdown(self) {
        self.service.shutdown().await;
        self.public.shutdown().await;
    }

    pub(super) fn key(&self, client: Client) -> &str {
        &self.keys[client as usize]
    }

    /// A request without a key; `path` begins with `/`.
    pub(super) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.service.base_url().trim_end_matches('/')))
    }

    pub(super) async fn get(&self, path: &str) -> Result<Answer, String> {
        send(self.request(Method::GET, path).bearer_auth(self.key(Client::All))).await
    }

    pub(super) async fn get_url(&self, url: &Value) -> Result<Answer, String> {
        send(self.http.get(url.as_str().unwrap_or_default())).await
    }

    pub(super) async fn post(&self, body: &Value) -> Result<Answer, String> {
        self.post_as(Client::All, body).await
    }

    pub(super) async fn post_as(&self, client: Client, body: &Value) -> Result<Answer, String> {
        let service = if matches!(client, Client::Public) { &self.public } else { &self.service };
        let url = format!("{}v1/videos", service.base_url());
        send(self.http.post(url).bearer_auth(self.key(client)).json(body)).await
    }

    /// Submits and polls to the end; returns each task object that differs from the one before.
    pub(super) async fn follow(&self, body: &Value) -> Result<Vec<Value>, String> {
        let created = self.post(body).await?;
        if created.status != 200 {
            return Err(created.to_string());
        }
        let path = path_of(&created.body);
        let mut states = vec![created.body];
        let polls = async {
            loop {
                let task = self.get(&path).await?.body;
                let has_ended = matches!(task["status"].as_str(), Some("completed" | "failed"));
                if states.last() != Some(&task) {
                    states.push(task);
                }
                if has_ended {
                    return Ok(());
                }
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        };
        tokio::time::timeout(TIMEOUT, polls)
            .await
            .unwrap_or_else(|_| Err(format!("{path} does not end")))
            .map(|()| states)
    }

    /// The ended task of a request.
    pub(super) async fn final_task(&self, body: &Value) -> Result<Value, String> {
        self.follow(body).await?.pop().ok_or_else(|| "no task".to_owned())
    }
}

/// The path of a task.
pub(super) fn path_of(task: &Value) -> String {
    format!("/v1/videos/{}", task["id"].as_str().unwrap_or_default())
}

/// Sends a request and reads the response.
pub(super) async fn send(request: RequestBuilder) -> Result<Answer, String> {
    let response = request.send().await.map_err(|error| format!("no response: {error}"))?;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let bytes = response.bytes().await.map_err(|error| format!("no body: {error}"))?.to_vec();
    let body = serde_json::from_slice(&bytes).unwrap_or_default();
    Ok(Answer { status, headers, bytes, body })
}

impl Answer {
    /// The value of a header; empty where there is none.
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// 200 with a task that is queued.
    pub(super) fn is_new_task(&self) -> bool {
        let task = &self.body;
        self.status == 200 && task["status"] == "queued" && task["progress"] == 0 && task["id"].is_string()
    }

    /// This status, and the body of section 7.
    pub(super) fn is_error(&self, status: u16) -> bool {
        let error = &self.body["error"];
        let is_text = |name: &str| error[name].is_string();
        let is_text_or_null = |name: &str| is_text(name) || error.get(name) == Some(&Value::Null);
        let has_members =
            |value: &Value, count: usize| value.as_object().is_some_and(|members| members.len() == count);
        self.status == status
            && has_members(&self.body, 1)
            && has_members(error, 4)
            && is_text("message")
            && error["message"] != ""
            && is_text("type")
            && is_text_or_null("param")
            && is_text_or_null("code")
    }

    /// 400 with the error of a length out of range.
    pub(super) fn is_invalid_duration(&self) -> bool {
        let error = &self.body["error"];
        self.is_error(400)
            && error["type"] == "invalid_request_error"
            && error["param"] == "seconds"
            && error["code"] == "invalid_duration"
    }
}

impl fmt::Display for Answer {
    /// The status, and the error if it is one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.status, self.body["error"])
    }
}

/// A request with fields besides `model` and `prompt`, or instead of them.
pub(super) fn request(model: &str, fields: &Value) -> Value {
    let mut body = json!({"model": model, "prompt": PROMPT});
    for (name, value) in fields.as_object().into_iter().flatten() {
        body[name] = value.clone();
    }
    body
}
