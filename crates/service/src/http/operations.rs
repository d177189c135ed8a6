//! For operators: health, metrics and the contract. Without a key, and without anything that belongs to one.

use std::sync::Arc;

use axum::{Json, extract::State, http::header, response::IntoResponse};
use contract::Contract;
use serde_json::{Value, json};

use super::{Front, get::read};
use crate::{metrics::Gauges, refusal::Refusal};

/// 200 when the task store answers.
pub(super) async fn health(State(front): State<Arc<Front>>) -> Result<Json<Value>, Refusal> {
    read(&front, |store| store.task("").map(drop)).await?;
    Ok(Json(json!({"status": "ok"})))
}

pub(super) async fn metrics(State(front): State<Arc<Front>>) -> impl IntoResponse {
    let text = front.metrics.text(gauges(&front));
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text)
}

pub(super) async fn document() -> Json<&'static Value> {
    Json(Contract::embedded().document())
}

pub(super) fn gauges(front: &Front) -> Gauges {
    Gauges { unfinished: front.gate.unfinished(), waiting: front.board.waiting(), workers: front.workers }
}
