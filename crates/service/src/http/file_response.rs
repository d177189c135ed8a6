//! Serves rendered files: `GET /files/{token}.mp4` and `.png`, and the body of `/content`. File URLs need no key: the
//! token is unguessable and grants access, like the signed URLs of hosted services (the spec leaves this open).

use std::{
    io::SeekFrom,
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime},
};

use axum::{
    body::Body,
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};

use super::{
    AppState,
    get_task::{is_purged, read},
    range::{FileRange, select_range},
};
use crate::{
    api_error::{ApiError, ApiErrorKind},
    faults::BodyFault,
    task::{StoredFile, Task},
};

/// Bytes read from disk at a time.
const CHUNK: u64 = 64 * 1024;

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
    if let Some(response) = state.faults.on_file(&task.id) {
        return Ok(response.into_response());
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
    if task.expired(now) {
        let message = "the files of this task have expired; submit it again for new ones";
        return Err(ApiError::new(ApiErrorKind::Gone, "file_expired", message));
    }
    let length = file.stored.bytes;
    let etag = format!("\"{}\"", file.stored.digest);
    let modified = modified(task);
    let range = select_range(method, headers, length, &etag, modified);
    let mut response = match range {
        FileRange::NotModified => StatusCode::NOT_MODIFIED.into_response(),
        FileRange::Unsatisfiable => {
            let message = format!("the file has {length} bytes; the range starts beyond its end");
            let mut response = ApiError::invalid("invalid_range", message).into_response();
            *response.status_mut() = StatusCode::RANGE_NOT_SATISFIABLE;
            set(&mut response, header::CONTENT_RANGE, &format!("bytes */{length}"));
            return Ok(response);
        }
        FileRange::Whole => {
            let mut response = body(state, task, &file, 0, length).await?;
            set(&mut response, header::CONTENT_LENGTH, &length.to_string());
            response
        }
        FileRange::Part(range) => {
            let (first, last) = range.into_inner();
            let part = last - first + 1;
            let mut response = body(state, task, &file, first, part).await?;
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
            set(&mut response, header::CONTENT_LENGTH, &part.to_string());
            set(&mut response, header::CONTENT_RANGE, &format!("bytes {first}-{last}/{length}"));
            response
        }
    };
    set(&mut response, header::ETAG, &etag);
    set(&mut response, header::LAST_MODIFIED, &httpdate::fmt_http_date(modified));
    set(&mut response, header::ACCEPT_RANGES, "bytes");
    set(&mut response, header::CACHE_CONTROL, "private, max-age=3600, immutable");
    set(&mut response, header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    if response.status() != StatusCode::NOT_MODIFIED {
        set(&mut response, header::CONTENT_TYPE, file.media_type);
        set(&mut response, header::CONTENT_DISPOSITION, &format!("inline; filename=\"{}\"", file.name));
    }
    Ok(response)
}

fn set(response: &mut Response, name: header::HeaderName, value: &str) {
    // All values are ASCII: digits, hexadecimal and constants.
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

fn modified(task: &Task) -> SystemTime {
    let millis = task.completed_at.unwrap_or(task.created_at);
    SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(millis).unwrap_or(0))
}

async fn body(
    state: &AppState,
    task: &Task,
    file: &ServedFile<'_>,
    first: u64,
    count: u64,
) -> Result<Response, ApiError> {
    let failed = |error: &dyn std::fmt::Display| ApiError::internal("a rendered file cannot be read", error);
    let mut open = tokio::fs::File::open(&file.path).await.map_err(|error| failed(&error))?;
    let actual = open.metadata().await.map_err(|error| failed(&error))?.len();
    if actual != file.stored.bytes {
        return Err(failed(&format!(
            "{} has {actual} bytes instead of {}",
            file.path.display(),
            file.stored.bytes
        )));
    }
    open.seek(SeekFrom::Start(first)).await.map_err(|error| failed(&error))?;
    let fault = state.faults.on_body(&task.id);
    let state = Some((open, count, 0_u64));
    let stream = futures_util::stream::unfold(state, move |state| async move {
        let (mut open, left, sent) = state?;
        if left == 0 {
            return None;
        }
        let mut size = left.min(CHUNK);
        match fault {
            None => {}
            Some(BodyFault::CutAfter(limit)) => {
                if sent >= limit {
                    // Lets the bytes so far leave; the error drops the buffers.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    return Some((Err(std::io::Error::other("injected fault: body cut")), None));
                }
                size = size.min(limit - sent);
            }
            Some(BodyFault::Slow { bytes_per_second }) => {
                // Ten chunks a second.
                size = size.min((bytes_per_second / 10).max(1));
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
        let mut chunk = bytes::BytesMut::with_capacity(size as usize);
        match (&mut open).take(size).read_buf(&mut chunk).await {
            Ok(0) => Some((Err(std::io::ErrorKind::UnexpectedEof.into()), None)),
            Ok(read) => {
                let read = read as u64;
                Some((Ok(chunk.freeze()), Some((open, left - read, sent + read))))
            }
            Err(error) => Some((Err(error), None)),
        }
    });
    Ok(Body::from_stream(stream).into_response())
}
