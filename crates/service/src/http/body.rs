//! Reading a request body within bounds of size, time and shared memory.

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

use crate::refusal::{Refusal, RefusalKind};

/// How long a body may take to arrive.
const PATIENCE: Duration = Duration::from_mins(2);

/// How long a body that is not wanted is read for the caller's sake, see [`Incoming::drain`].
const DRAIN_PATIENCE: Duration = Duration::from_secs(10);

/// A body that has not been read yet.
pub(super) struct Incoming {
    stream: BodyDataStream,
    declared: Option<u64>,
    limit: usize,
    ended: bool,
}

impl Incoming {
    pub(super) fn new(headers: &HeaderMap, body: Body, limit: usize) -> Self {
        let declared =
            headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
        Self { stream: body.into_data_stream(), declared, limit, ended: false }
    }

    /// The whole body, and the share of the memory that it takes up.
    pub(super) async fn read<'a>(
        &mut self,
        memory: &'a Semaphore,
    ) -> Result<(Bytes, SemaphorePermit<'a>), Refusal> {
        if self.declared.is_some_and(|length| length > self.limit as u64) {
            return Err(self.too_large());
        }
        // A body of unknown length may turn out as long as the limit.
        let expected = self.declared.unwrap_or(self.limit as u64);
        let share = u32::try_from(expected / 1024 + 1).unwrap_or(u32::MAX);
        let permit = memory
            .acquire_many(share)
            .await
            .map_err(|closed| Refusal::internal("no memory is left for requests", &closed))?;
        let slow = || {
            let message = format!("the body did not arrive within {} s", PATIENCE.as_secs());
            Refusal::invalid("body_too_slow", message)
        };
        let bytes = timeout(PATIENCE, self.collect()).await.map_err(|_| slow())??;
        Ok((bytes, permit))
    }

    async fn collect(&mut self) -> Result<Bytes, Refusal> {
        let mut bytes = BytesMut::new();
        while let Some(chunk) = self.stream.next().await {
            let chunk = chunk.map_err(|error| {
                self.ended = true;
                Refusal::invalid("incomplete_body", format!("the body broke off: {error}"))
            })?;
            if bytes.len() + chunk.len() > self.limit {
                return Err(self.too_large());
            }
            bytes.extend_from_slice(&chunk);
        }
        self.ended = true;
        Ok(bytes.freeze())
    }

    /// Reads on and forgets. Callers who are still sending when the answer comes and the connection closes may
    /// never see the answer; this lets them finish, within reason.
    pub(super) async fn drain(mut self) {
        if self.ended {
            return;
        }
        let mut left = self.limit.saturating_mul(2);
        let drained = timeout(DRAIN_PATIENCE, async {
            while let Some(Ok(chunk)) = self.stream.next().await {
                left = left.saturating_sub(chunk.len());
                if left == 0 {
                    break;
                }
            }
        });
        if drained.await.is_err() {
            tracing::debug!("a refused body was not read to its end");
        }
    }

    fn too_large(&self) -> Refusal {
        let limit = self.limit;
        let limit = if limit >= 1 << 20 { format!("{} MiB", limit >> 20) } else { format!("{limit} bytes") };
        Refusal::new(
            RefusalKind::TooLarge,
            "body_too_large",
            format!("the request body is larger than {limit}; give large media as URLs"),
        )
    }
}
