//! [`ApiError`] as an HTTP response (spec 7).

use std::borrow::Cow;

use axum::{
    Json,
    extract::Request,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;

use crate::api_error::{ApiError, ApiErrorKind};

#[derive(Serialize)]
struct ErrorBody<'a> {
    error: ErrorDetail<'a>,
}

#[derive(Serialize)]
struct ErrorDetail<'a> {
    message: &'a str,
    r#type: &'static str,
    param: Option<&'a str>,
    code: &'a Cow<'static, str>,
}

impl ApiErrorKind {
    fn status(self) -> StatusCode {
        match self {
            Self::Invalid => StatusCode::BAD_REQUEST,
            Self::Unauthenticated => StatusCode::UNAUTHORIZED,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::Conflict => StatusCode::CONFLICT,
            Self::Gone => StatusCode::GONE,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Limited => StatusCode::TOO_MANY_REQUESTS,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// `error.type`. The spec names `invalid_request_error` only.
    fn error_type(self) -> &'static str {
        match self {
            Self::Invalid | Self::Conflict | Self::MethodNotAllowed | Self::TooLarge => {
                "invalid_request_error"
            }
            Self::Unauthenticated => "authentication_error",
            Self::NotFound | Self::Gone => "not_found_error",
            Self::Limited => "rate_limit_error",
            Self::Unavailable | Self::Internal => "server_error",
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let body = ErrorBody {
            error: ErrorDetail {
                message: &self.message,
                r#type: self.kind.error_type(),
                param: self.param.as_deref(),
                code: &self.code,
            },
        };
        let mut response = (self.kind.status(), Json(body)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(wait) = self.retry_after {
            // Whole seconds, rounded up: an earlier retry would be rejected again.
            let seconds = wait.as_millis().div_ceil(1000).max(1);
            headers
                .insert(header::RETRY_AFTER, HeaderValue::from(u64::try_from(seconds).unwrap_or(u64::MAX)));
        }
        if self.kind == ApiErrorKind::Unauthenticated {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

pub(super) async fn unknown_path(request: Request) -> ApiError {
    let message = format!("no such path: {}", request.uri().path());
    ApiError::new(ApiErrorKind::NotFound, "unknown_path", message)
}

pub(super) async fn wrong_method(request: Request) -> ApiError {
    let message = format!("{} does not support {}", request.uri().path(), request.method());
    ApiError::new(ApiErrorKind::MethodNotAllowed, "method_not_allowed", message)
}

/// No task of that id is visible to this key. Unknown tasks and tasks of other keys get the same error, so that ids cannot
/// be probed.
pub(super) fn unknown_task() -> ApiError {
    ApiError::new(ApiErrorKind::NotFound, "task_not_found", "no task has this id").with_param("task_id")
}
