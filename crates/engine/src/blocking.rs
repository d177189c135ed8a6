//! Runs blocking work (files, frames, joining, ledger transactions) on tokio's blocking threads.

use tokio::task::JoinError;

/// Runs `work` on a blocking thread and waits for its result.
///
/// # Errors
/// When `work` panicked.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    #[cfg(feature = "failpoints")]
    if crate::failpoint::is_blocking_inline() {
        return Ok(work());
    }
    tokio::task::spawn_blocking(work).await
}
