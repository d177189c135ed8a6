//! Bytes on their way.

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
    header::{CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderMap, LAST_MODIFIED},
};

use crate::CallError;

/// From where a download goes on; by default from the beginning.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resume {
    /// The first byte that is wanted.
    pub first: u64,
    /// What the service said about the file that the bytes before come from ([`Download::validator`]). When it is another file by now, all of
    /// it is sent.
    pub validator: Option<String>,
}

/// The body of a successful download: a stream of chunks as they come in.
///
/// An error ends it; a body that is shorter than was announced is an error.
pub struct Download {
    /// The position in the file of the first byte: 0, unless the service went on where it was asked to.
    pub offset: u64,
    /// How many bytes are to come, when the service said so.
    pub length: Option<u64>,
    /// How long the whole file is, when the service said so.
    pub total: Option<u64>,
    /// What says later that it is still the same file: a strong `ETag`, or else `Last-Modified`. Goes into [`Resume::validator`].
    pub validator: Option<String>,
    /// The content type, when the service said one.
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
    /// A download from bytes at hand, for tests and for simulations.
    #[must_use]
    pub fn of_chunks(chunks: Vec<Result<Bytes, CallError>>) -> Self {
        Self {
            offset: 0,
            length: None,
            total: None,
            validator: None,
            content_type: None,
            stream: Box::pin(futures_util::stream::iter(chunks)),
        }
    }

    pub(crate) fn new(status: StatusCode, headers: &HeaderMap, stream: ByteStream) -> Self {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let partial = status == StatusCode::PARTIAL_CONTENT;
        let offset = text(CONTENT_RANGE).filter(|_| partial).and_then(first_byte).unwrap_or(0);
        let length: Option<u64> = text(CONTENT_LENGTH).and_then(|length| length.trim().parse().ok());
        let content_type = text(CONTENT_TYPE).map(str::to_owned);
        let mut left = length;
        let mut stream = stream.into_inner();
        // HTTP/1.1 tells a body that broke off from one that ended only where a length was given; be sure in all cases.
        let counted = futures_util::stream::poll_fn(move |context| {
            stream.as_mut().poll_next(context).map(|next| match next {
                Some(Ok(chunk)) => {
                    left = left.map(|left| left.saturating_sub(chunk.len() as u64));
                    Some(Ok(chunk))
                }
                Some(Err(error)) => Some(Err(CallError::of_transport(&error))),
                None => match left.take() {
                    Some(missing) if missing > 0 => {
                        Some(Err(CallError::lost(format!("the download ended {missing} bytes early"))))
                    }
                    _ => None,
                },
            })
        });
        let total = match text(CONTENT_RANGE).filter(|_| partial) {
            Some(range) => range.rsplit('/').next().and_then(|total| total.trim().parse().ok()),
            None => length,
        };
        // A weak tag stands for what means the same, not for the same bytes (RFC 9110, section 13.1.5).
        let strong = text(ETAG).filter(|tag| tag.starts_with('"'));
        let validator = strong.or_else(|| text(LAST_MODIFIED)).map(str::to_owned);
        Self { offset, length, total, validator, content_type, stream: Box::pin(counted) }
    }

    /// Reads the rest into memory, at most `bound` bytes.
    ///
    /// # Errors
    /// The download broke off, or is longer than the bound.
    pub async fn collect(mut self, bound: usize) -> Result<Vec<u8>, CallError> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.next().await {
            let chunk = chunk?;
            if bytes.len() + chunk.len() > bound {
                return Err(CallError::lost(format!(
                    "the download is longer than the {bound} bytes that are read"
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

/// The first byte of `bytes 100-199/200`.
fn first_byte(range: &str) -> Option<u64> {
    range.trim().strip_prefix("bytes")?.trim_start().split('-').next()?.trim().parse().ok()
}
