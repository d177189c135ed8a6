//! Downloads: byte streams with resume information.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use progenitor_client::ByteStream;
use reqwest::{
    StatusCode,
    header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderMap, LAST_MODIFIED},
};

use crate::CallError;

/// Where a download resumes; by default at the beginning.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resume {
    /// The first byte to request.
    pub offset: u64,
    /// The validator of the earlier response ([`Download::validator`]), sent as `If-Range`: when the file has changed, the service
    /// sends all of it.
    pub validator: Option<String>,
}

/// The body of a successful download, as a stream of chunks.
///
/// The stream ends after an error. A body shorter than its `Content-Length` is an error.
pub struct Download {
    /// The offset of the first byte: 0, unless the service honored the range.
    pub offset: u64,
    /// Length of this body in bytes, when known.
    pub length: Option<u64>,
    /// Length of the whole file in bytes, when known.
    pub total: Option<u64>,
    /// A strong `ETag`, or else `Last-Modified`, for [`Resume::validator`].
    pub validator: Option<String>,
    pub content_type: Option<String>,
    stream: Pin<Box<dyn Stream<Item = Result<Bytes, CallError>> + Send>>,
}

impl fmt::Debug for Download {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Download")
            .field("offset", &self.offset)
            .field("length", &self.length)
            .field("content_type", &self.content_type)
            .finish_non_exhaustive()
    }
}

impl Download {
    /// # Errors
    /// A partial response that does not say which part it is, or is not as long as it says; and one that is compressed, which was not asked for:
    /// its bytes are not those of the file.
    pub(crate) fn new(
        status: StatusCode,
        headers: &HeaderMap,
        stream: ByteStream,
    ) -> Result<Self, CallError> {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let partial = status == StatusCode::PARTIAL_CONTENT;
        if let Some(coding) = content_coding(headers) {
            return Err(CallError::indeterminate(format!(
                "the service sent the file compressed ({coding}), which was not asked for"
            )));
        }
        let range = text(CONTENT_RANGE).filter(|_| partial);
        let length: Option<u64> = text(CONTENT_LENGTH).and_then(|length| length.trim().parse().ok());
        let (offset, length) = match (partial, range.and_then(byte_range)) {
            (false, _) => (0, length),
            (true, Some((first, last))) => {
                let expected = (last - first).saturating_add(1);
                if length.is_some_and(|length| length != expected) {
                    return Err(CallError::indeterminate(
                        "the service sent a part of the file that is not as long as it says",
                    ));
                }
                (first, Some(expected))
            }
            (true, None) => {
                return Err(CallError::indeterminate(
                    "the service sent a part of the file without saying which",
                ));
            }
        };
        let content_type = text(CONTENT_TYPE).map(str::to_owned);
        let mut remaining = length;
        let mut stream = stream.into_inner();
        // The transport detects a body of another length in some cases only; count the bytes in all of them.
        let counted = futures_util::stream::poll_fn(move |context| {
            stream.as_mut().poll_next(context).map(|next| match next {
                Some(Ok(chunk)) => {
                    let rest = remaining.map(|count| count.checked_sub(chunk.len() as u64));
                    if rest == Some(None) {
                        return Some(Err(CallError::indeterminate(
                            "the download is longer than the service says",
                        )));
                    }
                    remaining = rest.flatten();
                    Some(Ok(chunk))
                }
                Some(Err(error)) => Some(Err(CallError::from_transport(&error))),
                None => match remaining.take() {
                    Some(missing) if missing > 0 => Some(Err(CallError::indeterminate(format!(
                        "the download ended {missing} bytes early"
                    )))),
                    _ => None,
                },
            })
        });
        let total = match range {
            Some(range) => range.rsplit('/').next().and_then(|total| total.trim().parse().ok()),
            None => length,
        };
        // A weak ETag identifies equivalent content, not equal bytes (RFC 9110, section 13.1.5).
        let strong = text(ETAG).filter(|tag| tag.starts_with('"'));
        let validator = strong.or_else(|| text(LAST_MODIFIED)).map(str::to_owned);
        Ok(Self { offset, length, total, validator, content_type, stream: Box::pin(counted) })
    }

    /// Reads the rest into memory, at most `limit` bytes.
    ///
    /// # Errors
    /// The connection broke, or the download is longer than the limit.
    pub async fn collect(mut self, limit: usize) -> Result<Vec<u8>, CallError> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.next().await {
            let chunk = chunk?;
            if bytes.len() + chunk.len() > limit {
                return Err(CallError::indeterminate(format!(
                    "the download is longer than the limit of {limit} bytes"
                )));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }
}

impl Stream for Download {
    type Item = Result<Bytes, CallError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.stream.as_mut().poll_next(context)
    }
}

/// The first and the last byte of `bytes 100-199/200`.
fn byte_range(range: &str) -> Option<(u64, u64)> {
    let (range, _total) = range.trim().strip_prefix("bytes")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    (first <= last).then_some((first, last))
}

/// What a body is compressed with, if it is.
pub(crate) fn content_coding(headers: &HeaderMap) -> Option<String> {
    let mut codings = headers.get_all(CONTENT_ENCODING).iter();
    codings
        .find(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity"))
        .map(|coding| coding.to_str().unwrap_or("an unknown coding").to_owned())
}
