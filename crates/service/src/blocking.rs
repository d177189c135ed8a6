//! Work that reads, writes or computes for long, off the threads that answer requests.

use crate::refusal::Refusal;

/// Runs such work. If it panics, `what` is the refusal's message.
pub(crate) async fn blocking<T: Send + 'static>(
    what: &'static str,
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(Refusal::internal(what, &error)))
}
