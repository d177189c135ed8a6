//! Reads request bodies, bounded in size and memory, at a minimum rate.

use std::time::Duration;

use axum::{
    body::{Body, BodyDataStream},
    http::{HeaderMap, header},
};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use tokio::time::{Instant, timeout};

use crate::{
    api_error::{ApiError, ApiErrorKind},
    limits::BodyLimits,
    memory::MemoryShare,
};

/// Timeout for discarding a rejected body, see [`RequestBody::drain`].
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// An unread body.
pub(super) struct RequestBody {
    stream: BodyDataStream,
    declared: Option<u64>,
    limits: BodyLimits,
    has_ended: bool,
}

impl RequestBody {
    pub(super) fn new(headers: &HeaderMap, body: Body, limits: BodyLimits) -> Self {
        let declared =
            headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
        Self { stream: body.into_data_stream(), declared, limits, has_ended: false }
    }

    /// Reads the whole body; `memory` accounts for what has arrived.
    pub(super) async fn read(&mut self, memory: &mut MemoryShare) -> Result<Bytes, ApiError> {
        if self.declared.is_some_and(|length| length > self.limits.bytes as u64) {
            return Err(self.too_large());
        }
        let mut bytes = BytesMut::new();
        // The client is not charged for waiting until there is memory for what it has sent.
        let mut waited = Duration::ZERO;
        loop {
            let earned = Duration::from_secs_f64(bytes.len() as f64 / self.limits.min_rate.max(1) as f64);
            let left = (self.limits.grace + earned).saturating_sub(waited);
            let begin = Instant::now();
            let chunk = timeout(left, self.stream.next()).await.map_err(|_| self.too_slow())?;
            waited += begin.elapsed();
            let Some(chunk) = chunk else { break };
            let chunk = chunk.map_err(|error| {
                self.has_ended = true;
                ApiError::invalid("incomplete_body", format!("the body was cut off: {error}"))
            })?;
            if bytes.len() + chunk.len() > self.limits.bytes {
                return Err(self.too_large());
            }
            memory.take(chunk.len()).await?;
            bytes.extend_from_slice(&chunk);
        }
        self.has_ended = true;
        Ok(bytes.freeze())
    }

    /// Reads and discards the rest, up to twice the limit. A client that is still sending when the connection closes may
    /// never read the response.
    pub(super) async fn drain(mut self) {
        if self.has_ended {
            return;
        }
        let mut left = self.limits.bytes.saturating_mul(2);
        let drained = timeout(DRAIN_TIMEOUT.min(self.limits.grace), async {
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
        let message = format!(
            "the body arrives too slowly: after {} s, less than {} KiB a second",
            self.limits.grace.as_secs(),
            self.limits.min_rate >> 10
        );
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
