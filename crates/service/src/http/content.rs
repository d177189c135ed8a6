//! `GET /v1/videos/{task_id}/content` (spec 4.3): the video, for whoever has the key.

use std::sync::Arc;

use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderMap, Method},
    response::{IntoResponse, Response},
};

use super::{
    Front,
    auth::Caller,
    error::unknown_task,
    files::{send, video},
    get::find,
};
use crate::{refusal::Refusal, task::Status};

pub(super) async fn content(
    State(front): State<Arc<Front>>,
    Caller(key): Caller,
    id: Result<Path<String>, PathRejection>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let Path(id) = id.map_err(|_| unknown_task())?;
    let found = find(&front, &key, &id).await?;
    let (task, (status, progress)) = (found.task(), found.standing());
    match status {
        Status::Queued | Status::InProgress => {
            let message =
                format!("the task is {} ({progress} %); its video is not there yet", status.as_str());
            return Err(Refusal::invalid("task_not_completed", message).about("task_id"));
        }
        Status::Failed => {
            let code = task.failure.as_ref().map_or("unknown", |failure| failure.code.as_str());
            let message = format!("the task has failed ({code}) and has no video");
            return Err(Refusal::invalid("task_failed", message).about("task_id"));
        }
        Status::Completed => {}
    }
    let file = video(&front, task).ok_or_else(unknown_task)?;
    if let Some(answer) = front.faults.on_content(&task.id) {
        return Ok(answer.into_response());
    }
    send(&front, task, file, &method, &headers).await
}
