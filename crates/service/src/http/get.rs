//! `GET /v1/videos/{task_id}` (spec 4.2), and finding a task for its key.

use std::{sync::Arc, time::Duration};

use axum::{
    Json,
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};

use super::{Front, auth::Caller, error::unknown_task, task_body::TaskBody};
use crate::{
    id::TaskId,
    keys::Key,
    refusal::Refusal,
    store::{Store, StoreError},
    task::{Status, Task},
    workshop::Live,
};

pub(super) async fn task(
    State(front): State<Arc<Front>>,
    Caller(key): Caller,
    id: Result<Path<String>, PathRejection>,
) -> Result<Response, Refusal> {
    let Path(id) = id.map_err(|_| unknown_task())?;
    let found = find(&front, &key, &id).await?;
    let (status, progress) = found.standing();
    let body = TaskBody::new(found.task(), status, progress, &front.base);
    let mut response = match front.faults.on_poll(&found.task().id, &body) {
        Some(answer) => answer.into_response(),
        None => Json(body).into_response(),
    };
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// A task that was found, in memory while it is being worked on and in the store afterwards.
pub(super) enum Found {
    Live(Arc<Live>),
    Stored(Box<Task>),
}

impl Found {
    pub(super) fn task(&self) -> &Task {
        match self {
            Self::Live(live) => live.task(),
            Self::Stored(task) => task,
        }
    }

    /// The status and the percentage right now.
    pub(super) fn standing(&self) -> (Status, u8) {
        match self {
            Self::Live(live) => live.standing(),
            Self::Stored(task) => (task.status, task.progress),
        }
    }
}

/// The task of that id, if it is this key's and not yet forgotten.
pub(super) async fn find(front: &Front, key: &Key, id: &str) -> Result<Found, Refusal> {
    let found = if let Some(live) = front.board.find(&TaskId::from_text(id)) {
        Found::Live(live)
    } else {
        let id = id.to_owned();
        let task = read(front, move |store| store.task(&id)).await?;
        Found::Stored(Box::new(task.ok_or_else(unknown_task)?))
    };
    let task = found.task();
    if task.key != key.id || forgotten(task, front.clock.now_ms(), front.record) {
        return Err(unknown_task());
    }
    Ok(found)
}

/// Whether a task is past even its record; the sweeper may not have come by yet.
pub(super) fn forgotten(task: &Task, now: i64, record: Duration) -> bool {
    let record = i64::try_from(record.as_millis()).unwrap_or(i64::MAX);
    task.expires_at.is_some_and(|at| at.saturating_add(record) <= now)
}

/// Reads from the store off the threads that answer requests.
pub(super) async fn read<T: Send + 'static>(
    front: &Front,
    work: impl FnOnce(&Store) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, Refusal> {
    let store = Arc::clone(&front.store);
    let failed = |error: &dyn std::fmt::Display| Refusal::internal("the task store cannot be read", error);
    tokio::task::spawn_blocking(move || work(&store))
        .await
        .map_err(|error| failed(&error))?
        .map_err(|error| failed(&error))
}
