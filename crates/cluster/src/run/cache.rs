//! The runs in the memory of a worker. Losing it costs reading the log again; an entry is never ahead of what is stored.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::active::ActiveRun;
use super::log::StoredRun;
use crate::error::ClusterError;
use crate::worker::Worker;

/// Runs in memory, at most.
const MAX_RUNS: usize = 64;
/// How often the log is read again while it lags behind the run's head.
const LAG_RETRIES: u32 = 100;
/// The wait between two reads of a log that lags.
const LAG_INTERVAL: Duration = Duration::from_millis(20);

#[derive(Default)]
pub(crate) struct RunCache(Mutex<HashMap<String, ActiveRun>>);

impl std::fmt::Debug for RunCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunCache").finish_non_exhaustive()
    }
}

impl RunCache {
    /// Takes the run out of memory, brought up to what is stored. Segments that are missing are read through Restate's ingress: whether a
    /// worker has to read is not part of the journal, and the events before the head do not change any more.
    pub(crate) async fn take(&self, worker: &Worker, stored: &StoredRun) -> Result<ActiveRun, ClusterError> {
        let head = &stored.head;
        let cached = self.lock().remove(head.run.as_str());
        let mut active = match cached.filter(|cached| cached.length <= head.length) {
            Some(active) => active,
            None => ActiveRun::new(worker.spec(&head.spec).await?, head),
        };
        let in_segments = head.length - stored.tail.len() as u64;
        let mut lagged = 0;
        while active.length < in_segments {
            let page = worker.client.events(&head.run, active.length).await?;
            if page.events.is_empty() {
                lagged += 1;
                if lagged > LAG_RETRIES {
                    return Err(ClusterError::Unreadable {
                        what: format!("the log of run {}", head.run),
                        reason: format!("it has {} of {} events", active.length, head.length),
                    });
                }
                tokio::time::sleep(LAG_INTERVAL).await;
            }
            let missing = usize::try_from(in_segments - active.length).unwrap_or(usize::MAX);
            for logged in page.events.into_iter().take(missing) {
                active.replay(head, &*worker.provider, logged);
            }
        }
        let replayed = usize::try_from(active.length - in_segments).unwrap_or(usize::MAX);
        for logged in stored.tail.iter().skip(replayed) {
            active.replay(head, &*worker.provider, logged.clone());
        }
        Ok(active)
    }

    /// Puts a run back.
    pub(crate) fn insert(&self, stored: &StoredRun, active: ActiveRun) {
        let mut runs = self.lock();
        if stored.head.is_ended {
            return;
        }
        if runs.len() >= MAX_RUNS
            && let Some(evicted) = runs.keys().next().cloned()
        {
            runs.remove(&evicted);
        }
        runs.insert(stored.head.run.as_str().to_owned(), active);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, ActiveRun>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
