//! `GET /files/{token}.mp4` and `.png`: finished files without a key. The token cannot be guessed; whoever was given
//! the URL may read the file, as with the signed URLs of hosted services (the document leaves it open).

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
    Front,
    get::{forgotten, read},
    range::{Wanted, wanted},
};
use crate::{
    faults::BodyFault,
    refusal::{Refusal, RefusalKind},
    task::{StoredFile, Task},
};

/// Bytes read from disk at a time.
const CHUNK: u64 = 64 * 1024;

pub(super) async fn file(
    State(front): State<Arc<Front>>,
    name: Result<Path<String>, PathRejection>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let unknown = || Refusal::new(RefusalKind::NotFound, "file_not_found", "there is no such file");
    let Path(name) = name.map_err(|_| unknown())?;
    let (token, kind) = name.split_once('.').ok_or_else(unknown)?;
    let wanted = token.to_owned();
    let task = read(&front, move |store| store.task_of_file(&wanted)).await?.ok_or_else(unknown)?;
    let file = match kind {
        "mp4" => video(&front, &task),
        "png" => last_frame(&front, &task),
        _ => None,
    };
    let file = file.filter(|file| file.stored.token == token).ok_or_else(unknown)?;
    if let Some(answer) = front.faults.on_file(&task.id) {
        return Ok(answer.into_response());
    }
    send(&front, &task, file, &method, &headers).await
}

/// A file of a task, ready to be sent.
pub(super) struct Outgoing<'a> {
    stored: &'a StoredFile,
    path: PathBuf,
    media_type: &'static str,
    name: String,
}

pub(super) fn video<'a>(front: &Front, task: &'a Task) -> Option<Outgoing<'a>> {
    let stored = task.video.as_ref()?;
    let path = front.store.files.video(&task.id);
    Some(Outgoing { stored, path, media_type: "video/mp4", name: format!("{}.mp4", task.id) })
}

fn last_frame<'a>(front: &Front, task: &'a Task) -> Option<Outgoing<'a>> {
    let stored = task.last_frame.as_ref()?;
    let path = front.store.files.last_frame(&task.id);
    Some(Outgoing { stored, path, media_type: "image/png", name: format!("{}.png", task.id) })
}

/// Sends a file or the part of it that is wanted. An expired one is 410, and 404 once its task is forgotten.
pub(super) async fn send(
    front: &Front,
    task: &Task,
    file: Outgoing<'_>,
    method: &Method,
    headers: &HeaderMap,
) -> Result<Response, Refusal> {
    let now = front.clock.now_ms();
    if forgotten(task, now, front.record) {
        return Err(Refusal::new(RefusalKind::NotFound, "file_not_found", "there is no such file"));
    }
    if task.expired(now) {
        let message = "the files of this task have expired; submit it again for new ones";
        return Err(Refusal::new(RefusalKind::Gone, "file_expired", message));
    }
    let length = file.stored.bytes;
    let etag = format!("\"{}\"", file.stored.digest);
    let modified = modified(task);
    let wanted = wanted(method, headers, length, &etag, modified);
    let mut response = match wanted {
        Wanted::NotModified => StatusCode::NOT_MODIFIED.into_response(),
        Wanted::Unsatisfiable => {
            let message = format!("the file has {length} bytes; the range begins beyond them");
            let mut response = Refusal::invalid("invalid_range", message).into_response();
            *response.status_mut() = StatusCode::RANGE_NOT_SATISFIABLE;
            set(&mut response, header::CONTENT_RANGE, &format!("bytes */{length}"));
            return Ok(response);
        }
        Wanted::Whole => {
            let mut response = body(front, task, &file, 0, length).await?;
            set(&mut response, header::CONTENT_LENGTH, &length.to_string());
            response
        }
        Wanted::Part(range) => {
            let (first, last) = range.into_inner();
            let part = last - first + 1;
            let mut response = body(front, task, &file, first, part).await?;
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
    // All values are made of digits, hexadecimal and fixed words.
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

fn modified(task: &Task) -> SystemTime {
    let at = task.completed_at.unwrap_or(task.created_at);
    SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(at).unwrap_or(0))
}

async fn body(
    front: &Front,
    task: &Task,
    file: &Outgoing<'_>,
    first: u64,
    count: u64,
) -> Result<Response, Refusal> {
    let failed = |error: &dyn std::fmt::Display| Refusal::internal("a finished file cannot be read", error);
    let mut open = tokio::fs::File::open(&file.path).await.map_err(|error| failed(&error))?;
    let found = open.metadata().await.map_err(|error| failed(&error))?.len();
    if found != file.stored.bytes {
        return Err(failed(&format!(
            "{} has {found} bytes instead of {}",
            file.path.display(),
            file.stored.bytes
        )));
    }
    open.seek(SeekFrom::Start(first)).await.map_err(|error| failed(&error))?;
    let fault = front.faults.on_body(&task.id);
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
                    // Time for what was sent so far to leave; with the error, buffers are dropped.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    return Some((Err(std::io::Error::other("cut on purpose")), None));
                }
                size = size.min(limit - sent);
            }
            Some(BodyFault::Slow { bytes_per_second }) => {
                // Ten pieces a second.
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
