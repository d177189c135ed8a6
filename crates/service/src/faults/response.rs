//! Responses that a fault returns in place of the real one.

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{Html, IntoResponse, Response},
};
use serde_json::{Value, json};

use super::ErrorBodyFormat;

/// An injected response.
#[derive(Debug)]
pub(crate) struct FaultResponse {
    status: StatusCode,
    body: Body,
    retry_after: Option<u64>,
}

#[derive(Debug)]
enum Body {
    Json(Value),
    Html(String),
    Empty,
}

impl FaultResponse {
    /// A mutated task object.
    pub(super) fn json(task: Value) -> Self {
        Self { status: StatusCode::OK, body: Body::Json(task), retry_after: None }
    }

    pub(super) fn error(status: u16, body: ErrorBodyFormat, retry_after: Option<u64>) -> Self {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let reason = status.canonical_reason().unwrap_or("Error");
        let body = match body {
            ErrorBodyFormat::Json => Body::Json(json!({"error": {
                "message": reason.to_lowercase(), "type": "server_error", "param": null, "code": "injected_fault",
            }})),
            ErrorBodyFormat::Html => Body::Html(format!(
                "<html><head><title>{0} {reason}</title></head><body><h1>{0} {reason}</h1></body></html>",
                status.as_u16()
            )),
            ErrorBodyFormat::Empty => Body::Empty,
        };
        Self { status, body, retry_after }
    }
}

impl IntoResponse for FaultResponse {
    fn into_response(self) -> Response {
        let mut response = match self.body {
            Body::Json(value) => (self.status, Json(value)).into_response(),
            Body::Html(page) => (self.status, Html(page)).into_response(),
            Body::Empty => self.status.into_response(),
        };
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
