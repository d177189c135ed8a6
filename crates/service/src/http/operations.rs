//! Endpoints for operators, without a key: health, metrics and the contract.

use std::sync::Arc;

use axum::{Json, extract::State, http::header, response::IntoResponse};
use contract::Contract;
use serde_json::{Value, json};

use super::{AppState, get_task::read};
use crate::{api_error::ApiError, metrics::Gauges};

/// 200 if the task store can be read.
pub(super) async fn health(State(state): State<Arc<AppState>>) -> Result<Json<Value>, ApiError> {
    read(&state, |store| store.task("").map(drop)).await?;
    Ok(Json(json!({"status": "ok"})))
}

pub(super) async fn metrics(State(state): State<Arc<AppState>>) -> impl IntoResponse {
    let text = state.metrics.text(gauges(&state));
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text)
}

pub(super) async fn document() -> Json<&'static Value> {
    Json(Contract::embedded().document())
}

pub(super) fn gauges(state: &AppState) -> Gauges {
    Gauges {
        unfinished: state.admission.unfinished(),
        waiting: state.active_tasks.waiting(),
        workers: state.workers,
    }
}
