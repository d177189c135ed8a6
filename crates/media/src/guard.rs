//! A last line of defence around foreign decoders.

use crate::MediaError;

/// Runs foreign code on untrusted bytes. Should it panic, that is damage to report like any other; what it was working on must not be
/// used again.
pub(crate) fn guard<T>(work: impl FnOnce() -> T) -> Result<T, MediaError> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work))
        .map_err(|_| MediaError::damaged("its contents cannot be made sense of"))
}
