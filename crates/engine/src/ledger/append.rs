//! Writing: events, and in the same transaction what follows from them for attempts, artifacts and films.

use rusqlite::{Transaction, TransactionBehavior};
use workflow::plan::Plan;

use super::attempt_state::holds_key;
use super::totals::{self, AttemptEnd, BudgetDelta, Settlement};
use super::{Ledger, LedgerError, RunLock};
use crate::failpoint::{self, Boundary};
use scheduler::{Artifact, AttemptId, Event, ExistingWork, Film, PollResult, RunId, Timestamp};

/// The format of an event's stored body.
const EVENT_VERSION: i64 = 1;

/// Whether an event is written to the ledger, or only passed through in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Persist {
    /// It decides something.
    Yes,
    /// It decides nothing ([`scheduler::RunState::must_persist`]).
    No,
}

impl Ledger {
    /// Appends what happened at `at`, durably and as a whole, and returns what is to be applied: the same events, except for an intent that
    /// is not written. Where its key has a live attempt already it comes back as [`Event::ClaimConflict`], where it would cross a cap of the run as
    /// [`Event::BudgetExceeded`].
    ///
    /// # Errors
    /// When the events could not be made durable; none of them has been.
    pub fn append(
        &self,
        run_lock: &RunLock,
        plan: &Plan,
        at: Timestamp,
        events: Vec<(Event, Persist)>,
    ) -> Result<Vec<Event>, LedgerError> {
        for (event, persist) in &events {
            if *persist == Persist::Yes {
                failpoint::hit(Boundary::Before, event.kind().as_str());
            }
        }
        // Ticks of the clock and polls that bring no news need no commit.
        if events.iter().all(|(_, persist)| *persist == Persist::No) {
            return Ok(events.into_iter().map(|(event, _)| event).collect());
        }
        if events.iter().any(|(event, _)| matches!(event, Event::Downloaded { .. })) {
            // What says that a video is there is not more durable than the video's name.
            self.store.sync_dir()?;
        }
        let mut connection = self.connection();
        let wrap = |source| self.sqlite(source);
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(wrap)?;
        let mut applied = Vec::with_capacity(events.len());
        let mut written = Vec::with_capacity(events.len());
        let mut delta = BudgetDelta::default();
        for (event, persist) in events {
            let event =
                self.write(&transaction, &mut delta, run_lock, plan, at, event, persist).map_err(wrap)?;
            if persist == Persist::Yes {
                written.push(event.kind());
            }
            applied.push(event);
        }
        delta.write(&transaction).map_err(wrap)?;
        transaction.commit().map_err(wrap)?;
        drop(connection);
        for kind in written {
            failpoint::hit(Boundary::After, kind.as_str());
        }
        Ok(applied)
    }

    /// Notes that an attempt's task is gone from the service.
    ///
    /// # Errors
    /// When that could not be recorded.
    pub fn forget(&self, attempt: &AttemptId, at: Timestamp) -> Result<(), LedgerError> {
        failpoint::hit(Boundary::Before, "forget");
        let mut connection = self.connection();
        let wrap = |source| self.sqlite(source);
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(wrap)?;
        let was_in_flight: bool = transaction
            .query_row(
                "SELECT EXISTS (SELECT 1 FROM attempts WHERE id = ?1 AND state IN ('submitted', 'completed'))",
                [attempt.as_str()],
                |row| row.get(0),
            )
            .map_err(wrap)?;
        if was_in_flight {
            let mut delta = BudgetDelta::default();
            let end = AttemptEnd { state: "expired", settled: Settlement::Full, failure: None, at };
            delta.end(&transaction, attempt, end).map_err(wrap)?;
            delta.write(&transaction).map_err(wrap)?;
        }
        transaction.commit().map_err(wrap)?;
        failpoint::hit(Boundary::After, "forget");
        Ok(())
    }

    /// Notes a file's new time of delta, after its content was found to be what it was.
    pub(crate) fn note_change(
        &self,
        attempt: &AttemptId,
        changed_at: Option<i64>,
    ) -> Result<(), LedgerError> {
        self.connection()
            .execute(
                "UPDATE artifacts SET changed_at = ?2 WHERE attempt = ?1",
                (attempt.as_str(), changed_at),
            )
            .map_err(|error| self.sqlite(error))?;
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "one event and all that it is written with")]
    fn write(
        &self,
        transaction: &Transaction<'_>,
        delta: &mut BudgetDelta,
        run_lock: &RunLock,
        plan: &Plan,
        at: Timestamp,
        event: Event,
        persist: Persist,
    ) -> rusqlite::Result<Event> {
        let event = match event {
            Event::Prepared { .. } => write_intent(transaction, delta, run_lock, plan, at, event)?,
            other => other,
        };
        match &event {
            Event::Submitted { attempt, task, .. } => {
                transaction
                    .prepare_cached(
                        "UPDATE attempts SET state = 'submitted', task = ?2, submitted_at = ?3 WHERE id = ?1",
                    )?
                    .execute((attempt.as_str(), task.as_str(), at.0))?;
            }
            Event::Refused { attempt, refusal, .. } => {
                let failure = Some(refusal.failure.message.as_str());
                let end = AttemptEnd { state: "refused", settled: Settlement::Released, failure, at };
                delta.end(transaction, attempt, end)?;
            }
            Event::Indeterminate { attempt, reason, .. } => {
                transaction.execute(
                    "UPDATE attempts SET state = 'ambiguous', failure = ?2 WHERE id = ?1",
                    (attempt.as_str(), reason.as_str()),
                )?;
            }
            Event::Polled { attempt, result: PollResult::Failed { failure }, .. } => {
                let failure = Some(failure.message.as_str());
                let end = AttemptEnd { state: "failed", settled: Settlement::Full, failure, at };
                delta.end(transaction, attempt, end)?;
            }
            Event::Downloaded { attempt, artifact, cost, .. } => {
                let settled = cost.map_or(Settlement::Full, Settlement::Actual);
                let end = AttemptEnd { state: "completed", settled, failure: None, at };
                delta.end(transaction, attempt, end)?;
                self.write_artifact(transaction, attempt, artifact, at)?;
            }
            Event::FilmJoined { film, .. } => self.write_film(transaction, film, at)?,
            Event::RunConfigured { .. }
            | Event::Started
            | Event::LookupDone { .. }
            | Event::Prepared { .. }
            | Event::ClaimConflict { .. }
            | Event::BudgetExceeded { .. }
            | Event::PrepareFailed { .. }
            | Event::Polled { .. }
            | Event::DownloadFailed { .. }
            | Event::JoinFailed { .. }
            | Event::TimerFired
            | Event::Interrupted => {}
        }
        if persist == Persist::Yes {
            let body = serde_json::to_string(&event)
                .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
            let node = event.node().map(|node| plan.node(node).name.as_str());
            transaction
                .prepare_cached(
                    "INSERT INTO events (run, at, node, version, body) VALUES (?1, ?2, ?3, ?4, ?5)",
                )?
                .execute((run_lock.run().as_str(), at.0, node, EVENT_VERSION, body))?;
        }
        Ok(event)
    }

    fn write_artifact(
        &self,
        transaction: &Transaction<'_>,
        attempt: &AttemptId,
        artifact: &Artifact,
        at: Timestamp,
    ) -> rusqlite::Result<()> {
        transaction
            .prepare_cached(
                "INSERT OR REPLACE INTO artifacts
                 (attempt, path, sha256, bytes, seconds, width, height, last_frame_url, expires_at, made_at, changed_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            )?
            .execute((
                attempt.as_str(),
                self.stored_path(&artifact.path),
                artifact.sha256.as_str(),
                i64::try_from(artifact.bytes).unwrap_or(i64::MAX),
                artifact.seconds,
                artifact.width,
                artifact.height,
                artifact.last_frame_url.as_deref(),
                artifact.expires_at.map(|at| at.0),
                at.0,
                artifact.changed_at,
            ))?;
        Ok(())
    }

    fn write_film(&self, transaction: &Transaction<'_>, film: &Film, at: Timestamp) -> rusqlite::Result<()> {
        if film.reused {
            return Ok(());
        }
        let bytes = std::fs::metadata(&film.path).map_or(0, |found| found.len());
        transaction.execute(
            "INSERT OR REPLACE INTO films (path, made_of, bytes, seconds, width, height, audio, made_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            (
                self.stored_path(&film.path),
                film.made_of.as_str(),
                i64::try_from(bytes).unwrap_or(i64::MAX),
                film.seconds,
                film.width,
                film.height,
                film.audio,
                at.0,
            ),
        )?;
        Ok(())
    }
}

/// Writes an intent, if its key is free and it fits into the budget.
fn write_intent(
    transaction: &Transaction<'_>,
    delta: &mut BudgetDelta,
    run_lock: &RunLock,
    plan: &Plan,
    at: Timestamp,
    event: Event,
) -> rusqlite::Result<Event> {
    let Event::Prepared {
        node: ix,
        attempt,
        key,
        digest,
        service_independent_key,
        reservation,
        forced_rerun,
        parts,
        by_url: _,
    } = &event
    else {
        return Ok(event);
    };
    if let Some(other) = live_run(transaction, key)? {
        return Ok(Event::ClaimConflict { node: *ix, existing: ExistingWork::ClaimedByRun { run: other } });
    }
    let node = plan.node(*ix);
    let amount = reservation.amount();
    let (caps, spent_before) = run_lock.caps();
    if let Some(limit) = totals::exceeded_by(transaction, delta, caps, spent_before, amount)? {
        return Ok(Event::BudgetExceeded { node: *ix, limit });
    }
    let parts = serde_json::to_string(parts)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    transaction
        .prepare_cached(
            "INSERT INTO attempts (id, run, node, key, work, model, seconds, digest, state, intended_at, held, parts)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'intended', ?9, ?10, ?11)",
        )?
        .execute((
            attempt.as_str(),
            run_lock.run().as_str(),
            node.name.as_str(),
            key.as_str(),
            service_independent_key.as_deref(),
            &*node.model,
            reservation.video_ms as f64 / 1e3,
            digest.as_str(),
            at.0,
            reservation.cost,
            parts,
        ))?;
    delta.hold(amount);
    if let Some(forced) = forced_rerun {
        transaction
            .prepare_cached("INSERT OR REPLACE INTO salts (key, salt, run, at) VALUES (?1, ?2, ?3, ?4)")?
            .execute((forced.key.as_str(), forced.salt.as_str(), run_lock.run().as_str(), at.0))?;
    }
    Ok(event)
}

fn live_run(transaction: &Transaction<'_>, key: &str) -> rusqlite::Result<Option<RunId>> {
    use rusqlite::OptionalExtension as _;
    transaction
        .prepare_cached(concat!("SELECT run FROM attempts WHERE key = ?1 AND ", holds_key!()))?
        .query_row([key], |row| row.get(0).map(RunId))
        .optional()
}
