//! `POST /v1/videos` (spec 4.1).

use std::{future, sync::Arc};

use axum::{
    Json,
    extract::{ConnectInfo, Request, State},
    http::{HeaderMap, header},
    response::{IntoResponse, Response},
};
use serde_json::Value;

use super::{AppState, ConnectionHandle, auth::authenticate, request_body::RequestBody, task_body::TaskBody};
use crate::{
    api_error::ApiError,
    blocking::blocking,
    faults::{AfterAcceptance, BeforeAcceptance},
    keys::Key,
    task::Status,
};

pub(super) async fn create(
    State(state): State<Arc<AppState>>,
    ConnectInfo(connection): ConnectInfo<ConnectionHandle>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let mut body = RequestBody::new(&parts.headers, body, state.body_bytes);
    let response = respond(&state, &parts.headers, &mut body, &connection).await;
    if response.is_err() {
        body.drain().await;
    }
    response.unwrap_or_else(IntoResponse::into_response)
}

async fn respond(
    state: &Arc<AppState>,
    headers: &HeaderMap,
    body: &mut RequestBody,
    connection: &ConnectionHandle,
) -> Result<Response, ApiError> {
    let key = authenticate(headers, &state.keys)?;
    state.admission.check_rate(&key, state.clock.now_ms())?;
    if !is_json(headers) {
        return Err(ApiError::invalid(
            "invalid_content_type",
            "the body must be JSON, with the header `Content-Type: application/json`",
        ));
    }
    let (bytes, memory) = body.read(&state.body_memory).await?;
    let request = blocking("the request could not be read", move || parse(&bytes)).await?;
    let fault = state.faults.on_create(&request);
    match fault.before {
        Some(BeforeAcceptance::Respond(response)) => return Ok(response.into_response()),
        Some(BeforeAcceptance::Reject(error)) => return Err(error),
        None => {}
    }
    let response = accept(state, key, request).await?;
    drop(memory);
    match fault.after {
        Some(AfterAcceptance::CutConnection) => connection.cut(),
        Some(AfterAcceptance::NeverRespond) => future::pending().await,
        None => {}
    }
    Ok(response)
}

/// Accepts the request on a spawned task, so that a client that disconnects cannot cancel it half-way.
async fn accept(state: &Arc<AppState>, key: Arc<Key>, request: Value) -> Result<Response, ApiError> {
    let shared = Arc::clone(state);
    let accepted = tokio::spawn(async move { shared.submitter.accept(&key, request).await });
    let task =
        accepted.await.map_err(|error| ApiError::internal("the request could not be handled", &error))??;
    // The response is always `queued` at 0 (spec 4.1), even if rendering has begun meanwhile.
    Ok(Json(TaskBody::new(&task, Status::Queued, 0, &state.base)).into_response())
}

fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    content_type
        .and_then(|value| value.split(';').next())
        .is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}

fn parse(bytes: &[u8]) -> Result<Value, ApiError> {
    let request: Value = serde_json::from_slice(bytes)
        .map_err(|error| ApiError::invalid("invalid_json", format!("the body is not JSON: {error}")))?;
    if request.is_object() {
        Ok(request)
    } else {
        Err(ApiError::invalid("invalid_json", "the body must be a JSON object"))
    }
}
