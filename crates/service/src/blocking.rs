//! Blocking work (disk, long computations) off the async worker threads.

use crate::api_error::ApiError;

/// Runs `work` on the blocking thread pool. If it panics, `what` becomes the error message.
pub(crate) async fn blocking<T: Send + 'static>(
    problem: &'static str,
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(ApiError::internal(problem, &error)))
}
