//! The service on the wire (spec 4): paths, answers and refusals. What it all means is decided elsewhere.

mod auth;
mod body;
mod content;
mod create;
mod error;
mod files;
mod get;
mod operations;
mod range;
mod status_page;
mod task_body;
mod wire;

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    routing::{get, post},
};
use tokio::sync::Semaphore;
use url::Url;

pub(crate) use self::{
    task_body::TaskBody,
    wire::{Wire, WireListener},
};
use crate::{
    clock::Clock, faults::Faults, keys::KeyRing, limits::Gate, metrics::Metrics, reception::Reception,
    store::Store, workshop::Board,
};

/// What the handlers share.
pub(crate) struct Front {
    pub(crate) reception: Reception,
    pub(crate) store: Arc<Store>,
    pub(crate) board: Arc<Board>,
    pub(crate) gate: Arc<Gate>,
    pub(crate) keys: Arc<KeyRing>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) faults: Arc<Faults>,
    /// What every URL that is given out begins with.
    pub(crate) base: Url,
    pub(crate) workers: usize,
    /// Bytes of one request body.
    pub(crate) body_bytes: usize,
    /// Kibibytes of request bodies that may be in memory.
    pub(crate) body_memory: Semaphore,
    /// From the expiry of a task until it is forgotten.
    pub(crate) record: Duration,
}

/// All paths.
pub(crate) fn router(front: Arc<Front>) -> Router {
    Router::new()
        .route("/v1/videos", post(create::create))
        .route("/v1/videos/{task_id}", get(get::task))
        .route("/v1/videos/{task_id}/content", get(content::content))
        .route("/files/{name}", get(files::file))
        .route("/healthz", get(operations::health))
        .route("/metrics", get(operations::metrics))
        .route("/openapi.json", get(operations::document))
        .route("/", get(status_page::page))
        .fallback(error::unknown_path)
        .method_not_allowed_fallback(error::wrong_method)
        .layer(axum::middleware::from_fn_with_state(Arc::clone(&front), error::count))
        .with_state(front)
}
