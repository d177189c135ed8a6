//! Reading response bodies up to a limit.

use std::time::Duration;

use futures_util::StreamExt;
use progenitor_client::ByteStream;

use crate::{CallError, response::max_response_bytes};

/// Reads a whole body of at most `limit` bytes.
///
/// # Errors
/// With the bytes that had arrived.
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

/// Reads the beginning of an error response's body.
pub(crate) async fn read_error(stream: ByteStream, limits: ErrorBody) -> Vec<u8> {
    let mut stream = stream.into_inner();
    let mut bytes = Vec::new();
    let end = tokio::time::Instant::now() + limits.timeout;
    loop {
        match tokio::time::timeout_at(end, stream.next()).await {
            Ok(Some(Ok(chunk))) => {
                let remaining = limits.max_bytes - bytes.len();
                bytes.extend_from_slice(&chunk[..chunk.len().min(remaining)]);
                if chunk.len() > remaining {
                    return bytes;
                }
            }
            Ok(None | Some(Err(_))) | Err(_) => return bytes,
        }
    }
}
