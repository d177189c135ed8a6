//! Appends the events of a run to the ledger, before they are applied or with the next ones.

use std::sync::Arc;

use std::time::Duration;

use scheduler::{Event, RunState, Timestamp};
use tokio::time::Instant;
use workflow::plan::Plan;

use super::{MAX_BATCH, RunError};
use crate::blocking::run_blocking;
use crate::ledger::{Ledger, LedgerError, Persist, RunLock};

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
        let is_persistent: Vec<bool> = events.iter().map(|event| state.must_persist(event, now)).collect();
        let mut persistent = events.iter().zip(&is_persistent).filter(|(_, is_persistent)| **is_persistent);
        if self.deferred.len() < MAX_BATCH && persistent.all(|(event, _)| state.may_be_deferred(event)) {
            let deferred = events.iter().zip(&is_persistent).filter(|(_, is_persistent)| **is_persistent);
            self.deferred.extend(deferred.map(|(event, _)| (event.clone(), Persist::Applied(now))));
            if !self.deferred.is_empty() {
                self.since.get_or_insert_with(Instant::now);
            }
            return Ok(Ok(events));
        }
        let persist = |is_persistent| if is_persistent { Persist::Yes } else { Persist::No };
        let batch = events.into_iter().zip(is_persistent.into_iter().map(persist));
        self.store(batch.collect(), now).await
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
