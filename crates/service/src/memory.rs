//! Memory for request bodies, and for fetched media: bounded over all requests. Who finds too little waits.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::api_error::ApiError;

/// Bytes of one permit.
const UNIT: usize = 1024;

/// So much memory for requests. Invariant: a request reserves all that it needs at once, so that none waits with what
/// another one needs.
#[derive(Debug, Clone)]
pub(crate) struct MemoryBudget(Arc<Semaphore>);

/// The memory of one request; given back when it is dropped.
pub(crate) type MemoryPermit = OwnedSemaphorePermit;

impl MemoryBudget {
    /// A budget of `total` bytes for requests of at most `largest` bytes each.
    pub(crate) fn new(total: usize, largest: usize) -> Self {
        let units = total.max(largest).div_ceil(UNIT).min(Semaphore::MAX_PERMITS);
        Self(Arc::new(Semaphore::new(units)))
    }

    pub(crate) async fn reserve(&self, bytes: usize) -> Result<MemoryPermit, ApiError> {
        let units = u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX);
        let permit = Arc::clone(&self.0).acquire_many_owned(units).await;
        permit.map_err(|closed| ApiError::internal("no memory is available for the request", &closed))
    }
}
