//! Endpoints without a key: health and the contract.

use std::sync::Arc;

use axum::{Json, extract::State};
use contract::Contract;
use serde_json::{Value, json};

use super::{AppState, get_task::read};
use crate::api_error::ApiError;

/// 200 if tasks can be read.
pub(super) async fn health(State(state): State<Arc<AppState>>) -> Result<Json<Value>, ApiError> {
    read(&state, |store| store.task("").map(drop)).await?;
    Ok(Json(json!({"status": "ok"})))
}

pub(super) async fn document() -> Json<&'static Value> {
    Json(Contract::embedded().document())
}
