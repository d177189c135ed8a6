//! [`RangedFile`]: a file as a response, whole or in part.

use std::{
    io::{self, SeekFrom},
    path::PathBuf,
    time::Duration,
};

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};

use super::range::{FileRange, select_range};
use crate::faults::BodyFault;

/// Bytes read from disk at a time.
const CHUNK: u64 = 64 * 1024;

/// A file to serve, with what its response says about it (RFC 9110, sections 8, 13 and 14).
#[derive(Debug, Clone)]
pub struct RangedFile {
    pub path: PathBuf,
    /// Its length in bytes.
    pub length: u64,
    /// Its entity tag, with quotes.
    pub etag: String,
    pub media_type: &'static str,
    /// The value of `Cache-Control`.
    pub cache_control: &'static str,
}

/// Why a file cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum RangedFileError {
    /// The range starts beyond its end: 416.
    #[error("the file has {length} bytes; the range starts beyond its end")]
    Unsatisfiable {
        /// The file's length in bytes.
        length: u64,
    },
    /// It cannot be read, or has another length.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl RangedFile {
    /// The response to a `GET` or `HEAD` with these headers.
    ///
    /// # Errors
    /// See [`RangedFileError`].
    pub async fn respond(&self, method: &Method, headers: &HeaderMap) -> Result<Response, RangedFileError> {
        self.respond_with(method, headers, || None).await
    }

    /// As [`Self::respond`], with a fault in its body.
    pub(crate) async fn respond_with(
        &self,
        method: &Method,
        headers: &HeaderMap,
        fault: impl FnOnce() -> Option<BodyFault>,
    ) -> Result<Response, RangedFileError> {
        let length = self.length;
        let mut response = match select_range(method, headers, length, &self.etag) {
            FileRange::NotModified => StatusCode::NOT_MODIFIED.into_response(),
            FileRange::Unsatisfiable => return Err(RangedFileError::Unsatisfiable { length }),
            FileRange::Whole => {
                let mut response = self.body(0, length, fault).await?;
                set(&mut response, header::CONTENT_LENGTH, &length.to_string());
                response
            }
            FileRange::Part(range) => {
                let (first, last) = range.into_inner();
                let part = last - first + 1;
                let mut response = self.body(first, part, fault).await?;
                *response.status_mut() = StatusCode::PARTIAL_CONTENT;
                set(&mut response, header::CONTENT_LENGTH, &part.to_string());
                set(&mut response, header::CONTENT_RANGE, &format!("bytes {first}-{last}/{length}"));
                response
            }
        };
        set(&mut response, header::ETAG, &self.etag);
        set(&mut response, header::ACCEPT_RANGES, "bytes");
        set(&mut response, header::CACHE_CONTROL, self.cache_control);
        set(&mut response, header::X_CONTENT_TYPE_OPTIONS, "nosniff");
        if response.status() != StatusCode::NOT_MODIFIED {
            set(&mut response, header::CONTENT_TYPE, self.media_type);
        }
        Ok(response)
    }

    async fn body(
        &self,
        first: u64,
        count: u64,
        fault: impl FnOnce() -> Option<BodyFault>,
    ) -> io::Result<Response> {
        let mut open = tokio::fs::File::open(&self.path).await?;
        let actual = open.metadata().await?.len();
        if actual != self.length {
            let message = format!("{} has {actual} bytes instead of {}", self.path.display(), self.length);
            return Err(io::Error::other(message));
        }
        open.seek(SeekFrom::Start(first)).await?;
        let fault = fault();
        let state = Some((open, count, 0_u64));
        let stream = futures_util::stream::unfold(state, move |state| async move {
            let (mut open, remaining, sent) = state?;
            if remaining == 0 {
                return None;
            }
            let mut size = remaining.min(CHUNK);
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
                    Some((Ok(chunk.freeze()), Some((open, remaining - read, sent + read))))
                }
                Err(error) => Some((Err(error), None)),
            }
        });
        Ok(Body::from_stream(stream).into_response())
    }
}

pub(super) fn set(response: &mut Response, name: header::HeaderName, value: &str) {
    // All values are ASCII: digits, hexadecimal and constants.
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}
