//! The HTTP API (spec 4): routes, responses and error bodies.

mod auth;
mod body_format;
mod connection;
mod content;
mod create_task;
mod dialect;
mod error_response;
mod file_response;
mod get_task;
mod models;
mod multipart;
mod operations;
mod range;
mod ranged_file;
mod request_body;
mod task_body;

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    routing::{any, get, post},
};
use url::Url;

pub use self::ranged_file::{RangedFile, RangedFileError};
pub(crate) use self::{
    connection::{ConnectionHandle, HttpListener},
    dialect::Dialects,
    task_body::TaskBody,
};
use crate::{
    admission::AdmissionController, clock::Clock, faults::Faults, jobs::ActiveTasks, keys::ApiKeys,
    limits::BodyLimits, memory::MemoryBudget, store::Store, submit::Submitter,
};

/// State shared by the handlers.
pub(crate) struct AppState {
    pub(crate) submitter: Submitter,
    pub(crate) store: Arc<Store>,
    pub(crate) active_tasks: Arc<ActiveTasks>,
    pub(crate) admission: Arc<AdmissionController>,
    pub(crate) keys: ApiKeys,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) faults: Arc<Faults>,
    /// The services that are answered for in their own words.
    pub(crate) dialects: Dialects,
    /// The base of all generated URLs.
    pub(crate) base: Url,
    pub(crate) body_limits: BodyLimits,
    pub(crate) body_memory: MemoryBudget,
    /// From the expiry of a task until its record is purged.
    pub(crate) record: Duration,
}

pub(crate) fn router(state: Arc<AppState>) -> Router {
    Router::new()
        .route("/v1/videos", post(create_task::create))
        .route("/v1/videos/{task_id}", get(get_task::task))
        .route("/v1/videos/{task_id}/content", get(content::content))
        .route("/v1/models", get(models::models))
        .route("/v1/models/{model}", get(models::model))
        .route("/dialects/{name}/{*path}", any(dialect::answer))
        .route("/files/{name}", get(file_response::file))
        .route("/healthz", get(operations::health))
        .route("/openapi.json", get(operations::document))
        .fallback(error_response::unknown_path)
        .method_not_allowed_fallback(error_response::wrong_method)
        .layer(axum::middleware::from_fn(connection::count_request))
        .with_state(state)
}
