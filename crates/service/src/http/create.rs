//! `POST /v1/videos` (spec 4.1).

use std::{future, sync::Arc};

use axum::{
    Json,
    extract::{ConnectInfo, Request, State},
    http::{HeaderMap, header},
    response::{IntoResponse, Response},
};
use serde_json::Value;

use super::{Front, Wire, auth::authenticate, body::Incoming, task_body::TaskBody};
use crate::{
    blocking::blocking,
    faults::{AfterAcceptance, BeforeAcceptance},
    keys::Key,
    refusal::Refusal,
    task::Status,
};

pub(super) async fn create(
    State(front): State<Arc<Front>>,
    ConnectInfo(wire): ConnectInfo<Wire>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let mut body = Incoming::new(&parts.headers, body, front.body_bytes);
    let answer = answer(&front, &parts.headers, &mut body, &wire).await;
    if answer.is_err() {
        body.drain().await;
    }
    answer.unwrap_or_else(IntoResponse::into_response)
}

async fn answer(
    front: &Arc<Front>,
    headers: &HeaderMap,
    body: &mut Incoming,
    wire: &Wire,
) -> Result<Response, Refusal> {
    let key = authenticate(headers, &front.keys)?;
    front.gate.submission(&key, front.clock.now_ms())?;
    if !is_json(headers) {
        return Err(Refusal::invalid(
            "invalid_content_type",
            "the body is sent as JSON, with the header `Content-Type: application/json`",
        ));
    }
    let (bytes, memory) = body.read(&front.body_memory).await?;
    let request = blocking("the request could not be read", move || parse(&bytes)).await?;
    let fault = front.faults.on_create(&request);
    match fault.before {
        Some(BeforeAcceptance::Answer(answer)) => return Ok(answer.into_response()),
        Some(BeforeAcceptance::Refuse(refusal)) => return Err(refusal),
        None => {}
    }
    let response = accept(front, key, request).await?;
    drop(memory);
    match fault.after {
        Some(AfterAcceptance::CutConnection) => wire.cut(),
        Some(AfterAcceptance::NeverAnswer) => future::pending().await,
        None => {}
    }
    Ok(response)
}

/// Accepts on a task of its own, so that a caller who hangs up cannot stop it half-way.
async fn accept(front: &Arc<Front>, key: Arc<Key>, request: Value) -> Result<Response, Refusal> {
    let reception = Arc::clone(front);
    let accepted = tokio::spawn(async move { reception.reception.accept(&key, request).await });
    let task =
        accepted.await.map_err(|error| Refusal::internal("the request could not be handled", &error))??;
    // Whatever has happened in between, the answer to a creation is a queued task at 0 (spec 4.1).
    Ok(Json(TaskBody::new(&task, Status::Queued, 0, &front.base)).into_response())
}

fn is_json(headers: &HeaderMap) -> bool {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    given
        .and_then(|value| value.split(';').next())
        .is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}

fn parse(bytes: &[u8]) -> Result<Value, Refusal> {
    let request: Value = serde_json::from_slice(bytes)
        .map_err(|error| Refusal::invalid("invalid_json", format!("the body is not JSON: {error}")))?;
    if request.is_object() {
        Ok(request)
    } else {
        Err(Refusal::invalid("invalid_json", "the body is a JSON object"))
    }
}
