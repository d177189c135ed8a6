//! `GET /v1/models` and `GET /v1/models/{model}`: the catalogue in the form that OpenAI-style clients read. An extension of the spec,
//! documented in docs/service.md.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, rejection::PathRejection},
};
use contract::{Contract, Model};
use serde::Serialize;

use super::auth::Caller;
use crate::api_error::{ApiError, ApiErrorKind};

/// `owned_by` of every model.
const OWNER: &str = "video-service";

#[derive(Serialize)]
pub(super) struct ModelList {
    object: &'static str,
    data: Vec<ModelBody>,
}

#[derive(Serialize)]
pub(super) struct ModelBody {
    id: String,
    object: &'static str,
    /// Clients demand a number of seconds; the catalogue has no dates.
    created: i64,
    owned_by: &'static str,
}

impl From<&Arc<Model>> for ModelBody {
    fn from(model: &Arc<Model>) -> Self {
        Self { id: model.id.clone(), object: "model", created: 0, owned_by: OWNER }
    }
}

pub(super) async fn models(_: Caller) -> Json<ModelList> {
    let data = Contract::embedded().models().iter().map(ModelBody::from).collect();
    Json(ModelList { object: "list", data })
}

pub(super) async fn model(
    _: Caller,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<ModelBody>, ApiError> {
    let model = id.ok().and_then(|Path(id)| Contract::embedded().model(&id));
    model.map(|model| Json(ModelBody::from(&model))).ok_or_else(|| {
        ApiError::new(
            ApiErrorKind::NotFound,
            "model_not_found",
            "no model has this id; GET /v1/models lists them",
        )
        .with_param("model")
    })
}
