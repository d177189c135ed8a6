//! Ids of the attempts of a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use scheduler::{AttemptId, RunId};

/// Generates attempt ids: the run's id and a counter, unique within the ledger because run ids are.
#[derive(Debug, Clone)]
pub(super) struct AttemptIds {
    pub(super) run: RunId,
    pub(super) next: Arc<AtomicU64>,
}

impl AttemptIds {
    /// Whether an attempt is one of this run.
    pub(super) fn is_own(&self, attempt: &AttemptId) -> bool {
        attempt.as_str().strip_prefix(self.run.as_str()).is_some_and(|number| number.starts_with('.'))
    }

    pub(super) fn next(&self) -> AttemptId {
        AttemptId(format!("{}.{}", self.run, self.next.fetch_add(1, Ordering::Relaxed)))
    }
}
