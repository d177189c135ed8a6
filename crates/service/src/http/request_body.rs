//! Reads request bodies, bounded in size, time and total memory.

use std::time::Duration;

use axum::{
    body::{Body, BodyDataStream},
    http::{HeaderMap, header},
};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::timeout,
};

use crate::api_error::{ApiError, ApiErrorKind};

/// Timeout for receiving a body.
const BODY_TIMEOUT: Duration = Duration::from_mins(2);

/// Timeout for discarding a rejected body, see [`RequestBody::drain`].
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// An unread body.
pub(super) struct RequestBody {
    stream: BodyDataStream,
    declared: Option<u64>,
    limit: usize,
    ended: bool,
}

impl RequestBody {
    pub(super) fn new(headers: &HeaderMap, body: Body, limit: usize) -> Self {
        let declared =
            headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
        Self { stream: body.into_data_stream(), declared, limit, ended: false }
    }

    /// Reads the whole body; the permit accounts for its memory.
    pub(super) async fn read<'a>(
        &mut self,
        memory: &'a Semaphore,
    ) -> Result<(Bytes, SemaphorePermit<'a>), ApiError> {
        if self.declared.is_some_and(|length| length > self.limit as u64) {
            return Err(self.too_large());
        }
        // A body of unknown length may be as long as the limit.
        let expected = self.declared.unwrap_or(self.limit as u64);
        let share = u32::try_from(expected / 1024 + 1).unwrap_or(u32::MAX);
        let permit = memory
            .acquire_many(share)
            .await
            .map_err(|closed| ApiError::internal("no memory is available for requests", &closed))?;
        let slow = || {
            let message = format!("the body did not arrive within {} s", BODY_TIMEOUT.as_secs());
            ApiError::invalid("body_too_slow", message)
        };
        let bytes = timeout(BODY_TIMEOUT, self.collect()).await.map_err(|_| slow())??;
        Ok((bytes, permit))
    }

    async fn collect(&mut self) -> Result<Bytes, ApiError> {
        let mut bytes = BytesMut::new();
        while let Some(chunk) = self.stream.next().await {
            let chunk = chunk.map_err(|error| {
                self.ended = true;
                ApiError::invalid("incomplete_body", format!("the body was cut off: {error}"))
            })?;
            if bytes.len() + chunk.len() > self.limit {
                return Err(self.too_large());
            }
            bytes.extend_from_slice(&chunk);
        }
        self.ended = true;
        Ok(bytes.freeze())
    }

    /// Reads and discards the rest, up to twice the limit. A client that is still sending when the connection closes may
    /// never read the response.
    pub(super) async fn drain(mut self) {
        if self.ended {
            return;
        }
        let mut left = self.limit.saturating_mul(2);
        let drained = timeout(DRAIN_TIMEOUT, async {
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

    fn too_large(&self) -> ApiError {
        let limit = self.limit;
        let limit = if limit >= 1 << 20 { format!("{} MiB", limit >> 20) } else { format!("{limit} bytes") };
        ApiError::new(
            ApiErrorKind::TooLarge,
            "body_too_large",
            format!("the request body is larger than {limit}; pass large media as URLs"),
        )
    }
}
