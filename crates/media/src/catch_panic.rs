//! Panic isolation for third-party decoders.

use crate::MediaError;

/// Runs third-party code on untrusted bytes and reports a panic as [`MediaError::Damaged`]. The decoder must not be used again
/// after that.
pub(crate) fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, MediaError> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work))
        .map_err(|_| MediaError::damaged("its contents are invalid"))
}
