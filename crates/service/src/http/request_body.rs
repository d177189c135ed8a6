//! Reads request bodies, bounded in size and memory.

use std::time::Duration;

use axum::{
    body::{Body, BodyDataStream},
    http::{HeaderMap, header},
};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use tokio::time::timeout;

use crate::{
    api_error::{ApiError, ApiErrorKind},
    limits::BodyLimits,
    memory::{MemoryBudget, MemoryPermit},
};

/// Timeout for discarding a rejected body, see [`RequestBody::drain`].
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// An unread body.
pub(super) struct RequestBody {
    stream: BodyDataStream,
    declared: Option<usize>,
    limits: BodyLimits,
    has_ended: bool,
}

impl RequestBody {
    pub(super) fn new(headers: &HeaderMap, body: Body, limits: BodyLimits) -> Self {
        let declared =
            headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
        Self { stream: body.into_data_stream(), declared, limits, has_ended: false }
    }

    /// Reads the whole body, with the memory that it takes.
    pub(super) async fn read(&mut self, memory: &MemoryBudget) -> Result<(Bytes, MemoryPermit), ApiError> {
        let limit = self.limits.bytes;
        let length = self.declared.unwrap_or(limit);
        if length > limit {
            return Err(self.too_large());
        }
        let permit = memory.reserve(length).await?;
        let mut bytes = BytesMut::new();
        loop {
            let next = timeout(self.limits.timeout, self.stream.next()).await;
            let Some(chunk) = next.map_err(|_| self.too_slow())? else { break };
            let chunk = chunk.map_err(|error| {
                self.has_ended = true;
                ApiError::invalid("incomplete_body", format!("the body was cut off: {error}"))
            })?;
            if bytes.len() + chunk.len() > limit {
                return Err(self.too_large());
            }
            bytes.extend_from_slice(&chunk);
        }
        self.has_ended = true;
        Ok((bytes.freeze(), permit))
    }

    /// Reads and discards the rest, up to twice the limit. A client that is still sending when the connection closes may
    /// never read the response.
    pub(super) async fn drain(mut self) {
        if self.has_ended {
            return;
        }
        let mut left = self.limits.bytes.saturating_mul(2);
        let drained = timeout(DRAIN_TIMEOUT.min(self.limits.timeout), async {
            while let Some(Ok(chunk)) = self.stream.next().await {
                left = left.saturating_sub(chunk.len());
                if left == 0 {
                    break;
                }
            }
        });
        if drained.await.is_err() {
            tracing::debug!("a rejected body was not read to its end");
        }
    }

    fn too_slow(&self) -> ApiError {
        let message = format!("nothing of the body has arrived for {} s", self.limits.timeout.as_secs());
        ApiError::invalid("body_too_slow", message)
    }

    fn too_large(&self) -> ApiError {
        let limit = self.limits.bytes;
        let limit = if limit >= 1 << 20 { format!("{} MiB", limit >> 20) } else { format!("{limit} bytes") };
        ApiError::new(
            ApiErrorKind::TooLarge,
            "body_too_large",
            format!("the request body is larger than {limit}; pass large media as URLs"),
        )
    }
}
