//! How far the joining of a film is.

use std::fmt;
use std::sync::Arc;

/// Frames that the film has. Its sound follows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinProgress {
    /// Those that are copied or encoded.
    pub done: u64,
    pub all: u64,
}

/// Is called for each frame that is encoded for a film, and after each part that is copied, on the thread that joins it.
#[derive(Clone)]
pub struct OnJoinProgress(Arc<dyn Fn(JoinProgress) + Send + Sync>);

impl OnJoinProgress {
    /// Calls this function, which must not block.
    pub fn new(on: impl Fn(JoinProgress) + Send + Sync + 'static) -> Self {
        Self(Arc::new(on))
    }

    pub(super) fn call(&self, progress: JoinProgress) {
        (self.0)(progress);
    }
}

impl fmt::Debug for OnJoinProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnJoinProgress")
    }
}
