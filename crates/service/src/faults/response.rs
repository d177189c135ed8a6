//! Responses that a fault returns in place of the real one.

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{Html, IntoResponse as _, Response},
};
use serde_json::json;

use super::ErrorBodyFormat;

/// The response of a gateway or a service that fails.
pub(super) fn error(status: u16, body: ErrorBodyFormat, retry_after: Option<u64>) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let reason = status.canonical_reason().unwrap_or("Error");
    let mut response = match body {
        ErrorBodyFormat::Json => Json(json!({"error": {
            "message": reason.to_lowercase(), "type": "server_error", "param": null, "code": "injected_fault",
        }}))
        .into_response(),
        ErrorBodyFormat::Html => Html(format!(
            "<html><head><title>{0} {reason}</title></head><body><h1>{0} {reason}</h1></body></html>",
            status.as_u16()
        ))
        .into_response(),
        ErrorBodyFormat::Empty => ().into_response(),
    };
    *response.status_mut() = status;
    if let Some(seconds) = retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}
