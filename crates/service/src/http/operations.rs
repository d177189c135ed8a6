//! Endpoints for operators, without a key: health, metrics and the contract.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use contract::Contract;
use serde_json::{Value, json};

use super::{AppState, get_task::read};
use crate::{api_error::ApiError, metrics::Gauges};

/// 200 if tasks can be read and stored, 503 with the reason if they cannot be stored for the moment.
pub(super) async fn health(State(state): State<Arc<AppState>>) -> Result<Response, ApiError> {
    if let Some(problem) = state.store.health.problem() {
        let body = json!({"status": "degraded", "reason": problem.as_str()});
        return Ok((StatusCode::SERVICE_UNAVAILABLE, Json(body)).into_response());
    }
    read(&state, |store| store.task("").map(drop)).await?;
    Ok(Json(json!({"status": "ok"})).into_response())
}

pub(super) async fn metrics(State(state): State<Arc<AppState>>) -> impl IntoResponse {
    let text = state.metrics.text(Gauges {
        unfinished: state.admission.unfinished(),
        waiting: state.active_tasks.waiting(),
        workers: state.workers,
        is_storage_available: state.store.health.problem().is_none(),
    });
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text)
}

pub(super) async fn document() -> Json<&'static Value> {
    Json(Contract::embedded().document())
}
