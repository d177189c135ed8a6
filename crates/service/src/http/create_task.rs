//! `POST /v1/videos` (spec 4.1).

use std::{future, sync::Arc};

use axum::{
    Json,
    extract::{ConnectInfo, Request, State},
    http::HeaderMap,
    response::{IntoResponse, Response},
};
use serde_json::Value;

use super::{
    AppState, ConnectionHandle, auth::authenticate, body_format::BodyFormat, multipart,
    request_body::RequestBody, task_body::TaskBody,
};
use crate::{
    api_error::ApiError, blocking::blocking, faults::AfterAcceptance, keys::Key, submit::Submission,
    task::Status,
};

pub(super) async fn create(
    State(state): State<Arc<AppState>>,
    ConnectInfo(connection): ConnectInfo<ConnectionHandle>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let mut body = RequestBody::new(&parts.headers, body, state.body_limits.clone());
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
    let key = authenticate(headers, state)?;
    state.admission.check_rate(&key, state.clock.now_ms())?;
    let format = BodyFormat::from_headers(headers, &state.base)?;
    let (bytes, memory) = body.read(&state.body_memory).await?;
    let request = match format {
        BodyFormat::Json => blocking("the request could not be read", move || parse_json(&bytes)).await?,
        BodyFormat::Form { content_type } => multipart::parse(bytes, &content_type).await?,
    };
    let fault = state.faults.on_create(&request);
    if let Some(response) = fault.instead {
        return Ok(response);
    }
    if fault.is_moderated {
        return Err(ApiError::moderated());
    }
    let response = accept(state, key, Submission { request, memory }).await?;
    match fault.after {
        Some(AfterAcceptance::CutConnection) => connection.cut(),
        Some(AfterAcceptance::NeverRespond) => future::pending().await,
        None => {}
    }
    Ok(response)
}

fn parse_json(bytes: &[u8]) -> Result<Value, ApiError> {
    match serde_json::from_slice(bytes) {
        Ok(request @ Value::Object(_)) => Ok(request),
        Ok(_) => Err(ApiError::invalid("invalid_json", "the body must be a JSON object")),
        Err(error) => Err(ApiError::invalid("invalid_json", format!("the body is not JSON: {error}"))),
    }
}

/// Accepts the request on a spawned task, so that a client that disconnects cannot cancel it half-way.
async fn accept(state: &Arc<AppState>, key: Arc<Key>, submission: Submission) -> Result<Response, ApiError> {
    let shared = Arc::clone(state);
    let accepted = tokio::spawn(async move { shared.submitter.accept(&key, submission).await });
    let task =
        accepted.await.map_err(|error| ApiError::internal("the request could not be handled", &error))??;
    // The response is always `queued` at 0 (spec 4.1), even if rendering has begun meanwhile.
    Ok(Json(TaskBody::new(&task, Status::Queued, 0, &state.base)).into_response())
}
