//! Serves rendered files: `GET /files/{token}.mp4` and `.png`, and the body of `/content`. File URLs need no key: the
//! token is unguessable and grants access, like the signed URLs of hosted services (the spec leaves this open).

use std::{path::PathBuf, sync::Arc};

use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderMap, Method, StatusCode, header},
    response::{IntoResponse, Response},
};

use super::{
    AppState,
    get_task::{is_purged, read},
    ranged_file::{RangedFile, RangedFileError, set},
};
use crate::{
    api_error::{ApiError, ApiErrorKind},
    faults::Operation,
    task::{StoredFile, Task},
};

pub(super) async fn file(
    State(state): State<Arc<AppState>>,
    name: Result<Path<String>, PathRejection>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let unknown = || ApiError::new(ApiErrorKind::NotFound, "file_not_found", "there is no such file");
    let Path(name) = name.map_err(|_| unknown())?;
    let (token, kind) = name.split_once('.').ok_or_else(unknown)?;
    let owned = token.to_owned();
    let task = read(&state, move |store| store.task_of_file(&owned)).await?.ok_or_else(unknown)?;
    let file = match kind {
        "mp4" => video(&state, &task),
        "png" => last_frame(&state, &task),
        _ => None,
    };
    let file = file.filter(|file| file.stored.token == token).ok_or_else(unknown)?;
    if let Some(response) = state.faults.on_download(&task.id, Operation::File) {
        return Ok(response);
    }
    serve(&state, &task, file, &method, &headers).await
}

/// A file of a task with its response metadata.
pub(super) struct ServedFile<'a> {
    stored: &'a StoredFile,
    path: PathBuf,
    media_type: &'static str,
    name: String,
}

pub(super) fn video<'a>(state: &AppState, task: &'a Task) -> Option<ServedFile<'a>> {
    let stored = task.video.as_ref()?;
    let path = state.store.files.video(&task.id);
    Some(ServedFile { stored, path, media_type: "video/mp4", name: format!("{}.mp4", task.id) })
}

fn last_frame<'a>(state: &AppState, task: &'a Task) -> Option<ServedFile<'a>> {
    let stored = task.last_frame.as_ref()?;
    let path = state.store.files.last_frame(&task.id);
    Some(ServedFile { stored, path, media_type: "image/png", name: format!("{}.png", task.id) })
}

/// Serves a file or the requested range of it: 410 once it has expired, 404 once its task is purged.
pub(super) async fn serve(
    state: &AppState,
    task: &Task,
    file: ServedFile<'_>,
    method: &Method,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    let now = state.clock.now_ms();
    if is_purged(task, now, state.record) {
        return Err(ApiError::new(ApiErrorKind::NotFound, "file_not_found", "there is no such file"));
    }
    if task.files_expired(now) {
        let message = "the files of this task have expired; submit it again for new ones";
        return Err(ApiError::new(ApiErrorKind::Gone, "file_expired", message));
    }
    let length = file.stored.bytes;
    let ranged = RangedFile {
        path: file.path,
        length,
        etag: format!("\"{}\"", file.stored.digest),
        media_type: file.media_type,
        cache_control: "private, max-age=3600, immutable",
    };
    let mut response = match ranged.respond_with(method, headers, || state.faults.on_body(&task.id)).await {
        Ok(response) => response,
        Err(RangedFileError::Unsatisfiable { length }) => {
            let message = format!("the file has {length} bytes; the range starts beyond its end");
            let mut response = ApiError::invalid("invalid_range", message).into_response();
            *response.status_mut() = StatusCode::RANGE_NOT_SATISFIABLE;
            set(&mut response, header::CONTENT_RANGE, &format!("bytes */{length}"));
            return Ok(response);
        }
        Err(RangedFileError::Io(error)) => {
            return Err(ApiError::internal("a rendered file cannot be read", &error));
        }
    };
    if response.status() != StatusCode::NOT_MODIFIED {
        set(&mut response, header::CONTENT_DISPOSITION, &format!("inline; filename=\"{}\"", file.name));
    }
    Ok(response)
}
