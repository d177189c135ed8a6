//! [`Cancellation`]: ends work on films and images before it is done.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::MediaError;

/// Ends work in progress early: programs that were started are killed, encodings stop, and temporary files are removed. Copies share
/// their state.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Ends the work that has this, or a copy of it, with [`MediaError::Cancelled`].
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether [`Self::cancel`] was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn check(&self) -> Result<(), MediaError> {
        if self.is_cancelled() { Err(MediaError::Cancelled) } else { Ok(()) }
    }
}
