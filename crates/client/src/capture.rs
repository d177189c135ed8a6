//! A request as it would be sent, taken at the last moment before it is.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use reqwest::Request;
use serde::Serialize;
use serde_json::Value;

/// A request that was not sent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Captured {
    /// The HTTP method.
    pub method: String,
    /// The whole URL.
    pub url: String,
    /// The headers that the client sets, by name; the key is blotted out. The transport adds `host` and lengths.
    pub headers: Vec<(String, String)>,
    /// The body as it would go onto the wire; empty when there is none.
    pub body: String,
}

impl Captured {
    pub(crate) fn of(request: &Request) -> Self {
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
    #[must_use]
    pub fn json(&self) -> Option<Value> {
        serde_json::from_str(&self.body).ok()
    }
}

/// The request as people read it: the line, the headers, and the body with one field a line.
impl fmt::Display for Captured {
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

/// Where the hook leaves what it captured.
#[derive(Debug, Clone, Default)]
pub(crate) struct Slot(Arc<Mutex<Option<Captured>>>);

impl Slot {
    pub(crate) fn put(&self, captured: Captured) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(captured);
    }

    pub(crate) fn take(&self) -> Option<Captured> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
