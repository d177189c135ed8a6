//! Capture of a complete HTTP request instead of sending it, for snapshots.

use std::fmt;

use reqwest::Request;
use serde::Serialize;
use serde_json::Value;

/// A request as it would be sent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CapturedRequest {
    pub method: String,
    pub url: String,
    /// The headers that the client sets, sorted by name, the key redacted. The transport adds `host` and `content-length`.
    pub headers: Vec<(String, String)>,
    /// The body; empty when there is none.
    pub body: String,
}

impl CapturedRequest {
    pub(crate) fn new(request: &Request) -> Self {
        let mut headers: Vec<(String, String)> = request
            .headers()
            .iter()
            .map(|(name, value)| {
                let shown = if value.is_sensitive() {
                    "[redacted]".to_owned()
                } else {
                    String::from_utf8_lossy(value.as_bytes()).into_owned()
                };
                (name.as_str().to_owned(), shown)
            })
            .collect();
        headers.sort();
        let bytes = request.body().and_then(reqwest::Body::as_bytes);
        let body = bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default();
        Self { method: request.method().to_string(), url: request.url().to_string(), headers, body }
    }

    /// The body as JSON; `None` when there is none.
    pub fn json(&self) -> Option<Value> {
        serde_json::from_str(&self.body).ok()
    }
}

/// The request line, the headers, and the body as indented JSON.
impl fmt::Display for CapturedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.url)?;
        for (name, value) in &self.headers {
            write!(f, "\n{name}: {value}")?;
        }
        match self.json() {
            Some(body) => write!(f, "\n\n{body:#}"),
            None => Ok(()),
        }
    }
}
