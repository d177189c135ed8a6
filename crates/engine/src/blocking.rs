//! Work that would hold up everything else: files, frames, joining. It is done on a thread of its own.

use tokio::task::JoinError;

/// Does `work` beside the run.
///
/// # Errors
/// When `work` panicked.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    #[cfg(feature = "failpoints")]
    if crate::failpoint::is_in_line() {
        return Ok(work());
    }
    tokio::task::spawn_blocking(work).await
}
