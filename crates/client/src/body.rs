//! Reading response bodies up to a limit.

use std::time::Duration;

use futures_util::StreamExt;
use progenitor_client::ByteStream;

use crate::{
    CallError,
    download::content_coding,
    response::{is_binary, max_response_bytes, may_trailers_name_task},
    unread_response::Response,
};

/// Reads a whole body of at most `limit` bytes.
///
/// # Errors
/// With the bytes that had arrived: a truncated body may name a task.
pub(crate) async fn read(stream: ByteStream, limit: usize) -> Result<Vec<u8>, (CallError, Vec<u8>)> {
    let mut stream = stream.into_inner();
    let mut body = Vec::new();
    while let Some(chunk) = stream.next().await {
        let chunk = match chunk {
            Ok(chunk) => chunk,
            Err(error) => return Err((CallError::from_transport(&error), body)),
        };
        if body.len() + chunk.len() > limit {
            let reason = format!("the response is longer than the limit of {limit} bytes");
            return Err((CallError::indeterminate(reason), body));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The beginning of a body.
pub(crate) struct BodyPrefix {
    pub(crate) bytes: Vec<u8>,
    /// Whether there may be more: a limit was reached, the connection broke, or something of the response cannot be read.
    pub(crate) is_truncated: bool,
}

/// How much of an error response's body is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ErrorBody {
    pub(crate) max_bytes: usize,
    pub(crate) timeout: Duration,
}

impl ErrorBody {
    /// Of an error that responds to a request of this size.
    pub(crate) const fn in_response_to(request_bytes: usize) -> Self {
        Self { max_bytes: max_response_bytes(request_bytes), timeout: Duration::from_hours(1) }
    }
}

/// Reads the beginning of an error response's body. What is compressed, although that was not asked for, and headers behind the body are not
/// read: the latter count where one is announced that may name a task.
pub(crate) async fn read_error(response: Response, limits: ErrorBody) -> BodyPrefix {
    let headers = response.headers();
    let is_task_behind_body = may_trailers_name_task(headers);
    let is_encoded = content_coding(headers).is_some();
    let mut prefix = read_prefix(response.into_stream(), limits.max_bytes, limits.timeout).await;
    let is_unreadable = is_encoded || is_binary(&String::from_utf8_lossy(&prefix.bytes));
    prefix.is_truncated |= is_task_behind_body || (is_unreadable && !prefix.bytes.is_empty());
    prefix
}

/// Reads at most the first `limit` bytes of a body, for at most `timeout`.
async fn read_prefix(stream: ByteStream, limit: usize, timeout: Duration) -> BodyPrefix {
    let mut stream = stream.into_inner();
    let mut bytes = Vec::new();
    let end = tokio::time::Instant::now() + timeout;
    loop {
        match tokio::time::timeout_at(end, stream.next()).await {
            Ok(None) => return BodyPrefix { bytes, is_truncated: false },
            Ok(Some(Ok(chunk))) => {
                let remaining = limit - bytes.len();
                bytes.extend_from_slice(&chunk[..chunk.len().min(remaining)]);
                if chunk.len() > remaining {
                    return BodyPrefix { bytes, is_truncated: true };
                }
            }
            Ok(Some(Err(_))) | Err(_) => return BodyPrefix { bytes, is_truncated: true },
        }
    }
}
