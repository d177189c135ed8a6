//! `GET /v1/videos/{task_id}/content` (spec 4.3): the video, authenticated by key.

use std::sync::Arc;

use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderMap, Method, Uri},
    response::Response,
};

use super::{
    AppState,
    auth::Caller,
    error_response::unknown_task,
    file_response::{serve, video},
    get_task::find,
};
use crate::{
    api_error::{ApiError, ApiErrorKind},
    faults::Operation,
    task::Status,
};

pub(super) async fn content(
    State(state): State<Arc<AppState>>,
    Caller(key): Caller,
    id: Result<Path<String>, PathRejection>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let Path(id) = id.map_err(|_| unknown_task())?;
    check_variant(uri.query().unwrap_or_default())?;
    let entry = find(&state, &key, &id).await?;
    let (task, (status, progress)) = (entry.task(), entry.progress());
    match status {
        Status::Queued | Status::InProgress => {
            let message =
                format!("the task is {} ({progress} %); its video is not available yet", status.as_str());
            return Err(
                ApiError::new(ApiErrorKind::Conflict, "task_not_completed", message).with_param("task_id")
            );
        }
        Status::Failed => {
            let code = task.failure.as_ref().map_or("unknown", |failure| failure.code.as_str());
            let message = format!("the task has failed ({code}) and has no video");
            return Err(ApiError::new(ApiErrorKind::Conflict, "task_failed", message).with_param("task_id"));
        }
        Status::Completed => {}
    }
    let file = video(&state, task).ok_or_else(unknown_task)?;
    if let Some(response) = state.faults.on_download(&task.id, Operation::Content) {
        return Ok(response);
    }
    serve(&state, task, file, &method, &headers).await
}

/// OpenAI-style clients name a `variant` of the result; there is only the video.
fn check_variant(query: &str) -> Result<(), ApiError> {
    let variants = url::form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == "variant");
    for (_, variant) in variants {
        if variant != "video" {
            let message = "this service has the video only: leave out `variant`, or send `variant=video`; a last frame is at \
                           `metadata.last_frame_url` of a task with `return_last_frame`";
            return Err(ApiError::invalid("unsupported_variant", message).with_param("variant"));
        }
    }
    Ok(())
}
