//! The HTTP API (spec 4): routes, responses and error bodies.

mod auth;
mod body_format;
mod connection;
mod connection_table;
mod content;
mod create_task;
mod error_response;
mod file_response;
mod get_task;
mod json_body;
mod models;
mod multipart;
mod operations;
mod range;
mod ranged_file;
mod request_body;
mod request_guard;
mod task_body;

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    routing::{get, post},
};
use tokio::sync::Semaphore;
use url::Url;

pub use self::ranged_file::{RangedFile, RangedFileError};
pub(crate) use self::{connection::HttpListener, connection_table::ConnectionHandle, task_body::TaskBody};
use crate::{
    admission::AdmissionController, faults::Faults, jobs::ActiveTasks, keys::ApiKeys, limits::BodyLimits,
    memory::MemoryBudget, metrics::Metrics, service_clock::ServiceClock, store::Store, submit::Submitter,
};

/// State shared by the handlers.
pub(crate) struct AppState {
    pub(crate) submitter: Submitter,
    pub(crate) store: Arc<Store>,
    pub(crate) active_tasks: Arc<ActiveTasks>,
    pub(crate) admission: Arc<AdmissionController>,
    pub(crate) keys: ApiKeys,
    pub(crate) clock: Arc<ServiceClock>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) faults: Arc<Faults>,
    /// The base of all generated URLs.
    pub(crate) base: Url,
    pub(crate) workers: usize,
    pub(crate) body_limits: BodyLimits,
    /// Memory for request bodies.
    pub(crate) body_memory: Arc<MemoryBudget>,
    /// Permits for parsing bodies: their values and canonical forms take further memory.
    pub(crate) parse_permits: Arc<Semaphore>,
    /// From the expiry of a task until its record is purged.
    pub(crate) record: Duration,
}

/// The routes.
pub(crate) fn router(state: Arc<AppState>) -> Router {
    Router::new()
        .route("/v1/videos", post(create_task::create))
        .route("/v1/videos/{task_id}", get(get_task::task))
        .route("/v1/videos/{task_id}/content", get(content::content))
        .route("/v1/models", get(models::models))
        .route("/v1/models/{model}", get(models::model))
        .route("/files/{name}", get(file_response::file))
        .route("/healthz", get(operations::health))
        .route("/metrics", get(operations::metrics))
        .route("/openapi.json", get(operations::document))
        .fallback(error_response::unknown_path)
        .method_not_allowed_fallback(error_response::wrong_method)
        .layer(axum::middleware::from_fn_with_state(Arc::clone(&state), error_response::count))
        .layer(axum::middleware::from_fn(request_guard::guard))
        .with_state(state)
}
