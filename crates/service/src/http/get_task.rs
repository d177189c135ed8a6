//! `GET /v1/videos/{task_id}` (spec 4.2), and the lookup of a task by id and key.

use std::{sync::Arc, time::Duration};

use axum::{
    Json,
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};

use super::{AppState, auth::Caller, error_response::unknown_task, task_body::TaskBody};
use crate::{
    api_error::ApiError,
    id::TaskId,
    jobs::ActiveTask,
    keys::Key,
    store::{Store, StoreError},
    task::{Status, Task},
};

pub(super) async fn task(
    State(state): State<Arc<AppState>>,
    Caller(key): Caller,
    id: Result<Path<String>, PathRejection>,
) -> Result<Response, ApiError> {
    let Path(id) = id.map_err(|_| unknown_task())?;
    let entry = find(&state, &key, &id).await?;
    let (status, progress) = entry.progress();
    let body = TaskBody::new(entry.task(), status, progress, &state.base);
    let mut response = match state.faults.on_poll(&entry.task().id, &body) {
        Some(response) => response,
        None => Json(body).into_response(),
    };
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// A task: in memory while it is active, from the store afterwards.
pub(super) enum TaskEntry {
    Active(Arc<ActiveTask>),
    Stored(Box<Task>),
}

impl TaskEntry {
    pub(super) fn task(&self) -> &Task {
        match self {
            Self::Active(active) => active.task(),
            Self::Stored(task) => task,
        }
    }

    /// The current status and percentage.
    pub(super) fn progress(&self) -> (Status, u8) {
        match self {
            Self::Active(active) => active.progress(),
            Self::Stored(task) => (task.status, task.progress),
        }
    }
}

/// The task of that id, if it belongs to this key and is not purged.
pub(super) async fn find(state: &AppState, key: &Key, id: &str) -> Result<TaskEntry, ApiError> {
    let entry = if let Some(active) = state.active_tasks.find(&TaskId::from_text(id)) {
        TaskEntry::Active(active)
    } else {
        let id = id.to_owned();
        let task = read(state, move |store| store.task(&id)).await?;
        TaskEntry::Stored(Box::new(task.ok_or_else(unknown_task)?))
    };
    let task = entry.task();
    if task.key != key.id || is_purged(task, state.clock.now_ms(), state.record) {
        return Err(unknown_task());
    }
    Ok(entry)
}

/// Whether the record of a task has expired; the next sweep deletes it.
pub(super) fn is_purged(task: &Task, now: i64, record: Duration) -> bool {
    let record = i64::try_from(record.as_millis()).unwrap_or(i64::MAX);
    task.expires_at.is_some_and(|expiry| expiry.saturating_add(record) <= now)
}

/// Reads from the store on the blocking thread pool.
pub(super) async fn read<T: Send + 'static>(
    state: &AppState,
    work: impl FnOnce(&Store) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, ApiError> {
    let store = Arc::clone(&state.store);
    let failed = |error: &dyn std::fmt::Display| ApiError::internal("the task store cannot be read", error);
    tokio::task::spawn_blocking(move || work(&store))
        .await
        .map_err(|error| failed(&error))?
        .map_err(|error| failed(&error))
}
