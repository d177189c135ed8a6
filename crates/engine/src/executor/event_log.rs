//! Appends the events of a run to the ledger, before they are applied or with the next ones.

use std::sync::Arc;
use std::time::Duration;

use scheduler::{Event, RunState, Timestamp};
use tokio::time::Instant;
use workflow::plan::Plan;

use super::run_error::RunError;
use crate::blocking::run_blocking;
use crate::ledger::{Ledger, LedgerError, Persist, RunLock};

/// New events per ledger transaction, at most; those that were deferred are as many again.
pub(super) const MAX_BATCH: usize = 1_024;

/// How long an event may be applied and not stored, where nothing else happens: other commands read the ledger to display the run.
const MAX_DEFERRAL: Duration = Duration::from_secs(1);

/// The writer of one run's events.
pub(super) struct EventLog {
    ledger: Arc<Ledger>,
    run_lock: Arc<RunLock>,
    plan: Arc<Plan>,
    /// Applied, and not stored yet. Invariant: they are stored before any event that follows from them.
    deferred: Vec<(Event, Persist)>,
    /// Since when there are some.
    since: Option<Instant>,
}

impl EventLog {
    pub(super) fn new(ledger: Arc<Ledger>, run_lock: Arc<RunLock>, plan: Arc<Plan>) -> Self {
        Self { ledger, run_lock, plan, deferred: Vec::new(), since: None }
    }

    /// Appends decided events, and returns those to apply. Where each of them may be deferred, no thread is woken and nothing is synced.
    ///
    /// # Errors
    /// [`RunError::Internal`] when the ledger's thread ended; otherwise as [`Ledger::append`].
    pub(super) async fn append(
        &mut self,
        state: &RunState,
        events: Vec<Event>,
        now: Timestamp,
    ) -> Result<Result<Vec<Event>, LedgerError>, RunError> {
        let with_persist = |event: Event| {
            let persist = if state.must_persist(&event, now) { Persist::Yes } else { Persist::No };
            (event, persist)
        };
        let batch: Vec<(Event, Persist)> = events.into_iter().map(with_persist).collect();
        let waits =
            |(event, persist): &(Event, Persist)| *persist == Persist::No || state.may_be_deferred(event);
        if self.deferred.len() >= MAX_BATCH || !batch.iter().all(waits) {
            return self.store(batch, now).await;
        }
        for (event, _) in batch.iter().filter(|(_, persist)| *persist == Persist::Yes) {
            self.deferred.push((event.clone(), Persist::Applied(now)));
            self.since.get_or_insert_with(Instant::now);
        }
        Ok(Ok(batch.into_iter().map(|(event, _)| event).collect()))
    }

    /// Resolves when what was deferred has to be stored; never while there is nothing.
    pub(super) async fn is_due(&self) {
        match self.since {
            Some(since) => tokio::time::sleep_until(since + MAX_DEFERRAL).await,
            None => std::future::pending().await,
        }
    }

    /// Stores what was deferred.
    ///
    /// # Errors
    /// As [`Self::append`].
    pub(super) async fn flush(&mut self, now: Timestamp) -> Result<Result<(), LedgerError>, RunError> {
        Ok(self.store(Vec::new(), now).await?.map(|_| ()))
    }

    async fn store(
        &mut self,
        batch: Vec<(Event, Persist)>,
        now: Timestamp,
    ) -> Result<Result<Vec<Event>, LedgerError>, RunError> {
        self.since = None;
        let mut all = std::mem::take(&mut self.deferred);
        all.extend(batch);
        let (ledger, run_lock, plan) =
            (Arc::clone(&self.ledger), Arc::clone(&self.run_lock), Arc::clone(&self.plan));
        run_blocking(move || ledger.append(&run_lock, &plan, now, all)).await.map_err(RunError::Internal)
    }
}
