//! `POST /v1/videos` (spec 4.1).

use std::{future, sync::Arc};

use axum::{
    Json,
    extract::{ConnectInfo, Request, State},
    http::HeaderMap,
    response::{IntoResponse, Response},
};

use super::{
    AppState, ConnectionHandle, auth::authenticate, body_format::BodyFormat, json_body, multipart,
    request_body::RequestBody, task_body::TaskBody,
};
use crate::{
    api_error::ApiError,
    blocking::blocking,
    faults::{AfterAcceptance, BeforeAcceptance},
    keys::Key,
    submit::Submission,
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
    connection.authenticated();
    state.admission.check_rate(&key, state.clock.now_ms())?;
    let format = BodyFormat::from_headers(headers, &state.base)?;
    if let Some(problem) = state.store.health.problem() {
        return Err(ApiError::storage_unavailable(problem));
    }
    let mut share = state.body_memory.share(&key.id);
    let bytes = body.read(&mut share).await?;
    let parse_permit = Arc::clone(&state.parse_permits)
        .acquire_owned()
        .await
        .map_err(|closed| ApiError::internal("the request could not be read", &closed))?;
    let request = match format {
        BodyFormat::Json => {
            blocking("the request could not be read", move || json_body::parse(&bytes)).await?
        }
        BodyFormat::Form { content_type } => multipart::parse(bytes, &content_type).await?,
    };
    let fault = state.faults.on_create(&request);
    match fault.before {
        Some(BeforeAcceptance::Respond(response)) => return Ok(response.into_response()),
        Some(BeforeAcceptance::Reject(error)) => return Err(error),
        None => {}
    }
    let submission = Submission { request, parse_permit, share };
    let response = accept(state, key, submission).await?;
    match fault.after {
        Some(AfterAcceptance::CutConnection) => connection.cut(),
        Some(AfterAcceptance::NeverRespond) => future::pending().await,
        None => {}
    }
    Ok(response)
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
