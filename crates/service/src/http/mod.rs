//! The HTTP API (spec 4): routes, responses and error bodies.

mod auth;
mod connection;
mod content;
mod create_task;
mod error_response;
mod file_response;
mod get_task;
mod operations;
mod range;
mod request_body;
mod status_page;
mod task_body;

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    routing::{get, post},
};
use tokio::sync::Semaphore;
use url::Url;

pub(crate) use self::{
    connection::{ConnectionHandle, HttpListener},
    task_body::TaskBody,
};
use crate::{
    admission::AdmissionController, clock::Clock, faults::Faults, jobs::ActiveTasks, keys::ApiKeyCache,
    metrics::Metrics, store::Store, submit::Submitter,
};

/// State shared by the handlers.
pub(crate) struct AppState {
    pub(crate) submitter: Submitter,
    pub(crate) store: Arc<Store>,
    pub(crate) active_tasks: Arc<ActiveTasks>,
    pub(crate) admission: Arc<AdmissionController>,
    pub(crate) keys: Arc<ApiKeyCache>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) faults: Arc<Faults>,
    /// The base of all generated URLs.
    pub(crate) base: Url,
    pub(crate) workers: usize,
    /// Limit of one request body, in bytes.
    pub(crate) body_bytes: usize,
    /// Permits for request bodies in memory, one per KiB.
    pub(crate) body_memory: Semaphore,
    /// From the expiry of a task until its record is purged.
    pub(crate) record: Duration,
}

/// The routes.
pub(crate) fn router(state: Arc<AppState>) -> Router {
    Router::new()
        .route("/v1/videos", post(create_task::create))
        .route("/v1/videos/{task_id}", get(get_task::task))
        .route("/v1/videos/{task_id}/content", get(content::content))
        .route("/files/{name}", get(file_response::file))
        .route("/healthz", get(operations::health))
        .route("/metrics", get(operations::metrics))
        .route("/openapi.json", get(operations::document))
        .route("/", get(status_page::page))
        .fallback(error_response::unknown_path)
        .method_not_allowed_fallback(error_response::wrong_method)
        .layer(axum::middleware::from_fn_with_state(Arc::clone(&state), error_response::count))
        .with_state(state)
}
