//! Writing: events, and in the same transaction what follows from them for attempts, artifacts and films.

use rusqlite::{Transaction, TransactionBehavior};
use workflow::plan::Plan;

use super::{Ledger, LedgerError};
use crate::artifact::Artifact;
use crate::ids::{AttemptId, RunId};
use crate::state::{Answer, Event, Failure, Film, Prior};
use crate::time::Millis;

/// The format of an event's stored body.
const EVENT_VERSION: i64 = 1;

/// Whether an event is written to the ledger, or only passed through in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// It decides something.
    Yes,
    /// It decides nothing ([`crate::RunState::decides`]).
    No,
}

impl Ledger {
    /// Appends what happened at `at`, durably and as a whole, and returns what is to be applied: the same events, except that an intent
    /// whose key has a live attempt already is not written and comes back as [`Event::Taken`].
    ///
    /// # Errors
    /// When the events could not be made durable; none of them has been.
    pub fn append(
        &self,
        run: &RunId,
        plan: &Plan,
        at: Millis,
        events: Vec<(Event, Kept)>,
    ) -> Result<Vec<Event>, LedgerError> {
        let mut connection = self.connection();
        let wrap = |source| self.sqlite(source);
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(wrap)?;
        let mut applied = Vec::with_capacity(events.len());
        for (event, kept) in events {
            let event = self.write(&transaction, run, plan, at, event, kept).map_err(wrap)?;
            applied.push(event);
        }
        transaction.commit().map_err(wrap)?;
        Ok(applied)
    }

    /// Notes that an attempt's task is gone from the service.
    ///
    /// # Errors
    /// When that could not be recorded.
    pub fn forget(&self, attempt: &AttemptId, at: Millis) -> Result<(), LedgerError> {
        self.connection()
            .execute(
                "UPDATE attempts SET state = 'expired', ended_at = ?2 WHERE id = ?1 AND state IN ('submitted', 'completed')",
                (attempt.as_str(), at.0),
            )
            .map_err(|error| self.sqlite(error))?;
        Ok(())
    }

    fn write(
        &self,
        transaction: &Transaction<'_>,
        run: &RunId,
        plan: &Plan,
        at: Millis,
        event: Event,
        kept: Kept,
    ) -> rusqlite::Result<Event> {
        let mut event = event;
        match &event {
            Event::Prepared { node, attempt, key, digest, by_url: _, parts } => {
                if let Some(other) = live_run(transaction, key)? {
                    event = Event::Taken { node: *node, prior: Prior::Busy { run: other } };
                } else {
                    let node = plan.node(*node);
                    let parts = serde_json::to_string(parts)
                        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
                    transaction.execute(
                        "INSERT INTO attempts (id, run, node, key, model, seconds, digest, state, intended_at, parts)
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'intended', ?8, ?9)",
                        (
                            attempt.as_str(),
                            run.as_str(),
                            node.name.as_str(),
                            key.as_str(),
                            &*node.model,
                            node.seconds,
                            digest.as_str(),
                            at.0,
                            parts,
                        ),
                    )?;
                }
            }
            Event::Submitted { attempt, task, .. } => {
                transaction.execute(
                    "UPDATE attempts SET state = 'submitted', task = ?2, submitted_at = ?3 WHERE id = ?1",
                    (attempt.as_str(), task.as_str(), at.0),
                )?;
            }
            Event::Refused { attempt, refusal, .. } => {
                end(transaction, attempt, "refused", Some(&refusal.failure), at)?;
            }
            Event::Lost { attempt, reason, .. } => {
                transaction.execute(
                    "UPDATE attempts SET state = 'ambiguous', failure = ?2 WHERE id = ?1",
                    (attempt.as_str(), reason.as_str()),
                )?;
            }
            Event::Answered { attempt, answer: Answer::Failed { failure }, .. } => {
                end(transaction, attempt, "failed", Some(failure), at)?;
            }
            Event::Downloaded { attempt, artifact, .. } => {
                end(transaction, attempt, "completed", None, at)?;
                self.write_artifact(transaction, attempt, artifact, at)?;
            }
            Event::Joined { film, .. } => self.write_film(transaction, film, at)?,
            Event::Started
            | Event::Looked { .. }
            | Event::Taken { .. }
            | Event::Unprepared { .. }
            | Event::Answered { .. }
            | Event::NotDownloaded { .. }
            | Event::NotJoined { .. }
            | Event::Woke
            | Event::Interrupted => {}
        }
        if kept == Kept::Yes {
            let body = serde_json::to_string(&event)
                .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
            let node = event.node().map(|node| plan.node(node).name.as_str());
            transaction.execute(
                "INSERT INTO events (run, at, node, version, body) VALUES (?1, ?2, ?3, ?4, ?5)",
                (run.as_str(), at.0, node, EVENT_VERSION, body),
            )?;
        }
        Ok(event)
    }

    fn write_artifact(
        &self,
        transaction: &Transaction<'_>,
        attempt: &AttemptId,
        artifact: &Artifact,
        at: Millis,
    ) -> rusqlite::Result<()> {
        transaction.execute(
            "INSERT OR REPLACE INTO artifacts
             (attempt, path, sha256, bytes, seconds, width, height, last_frame_url, expires_at, made_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            (
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
            ),
        )?;
        Ok(())
    }

    fn write_film(&self, transaction: &Transaction<'_>, film: &Film, at: Millis) -> rusqlite::Result<()> {
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

fn live_run(transaction: &Transaction<'_>, key: &str) -> rusqlite::Result<Option<RunId>> {
    use rusqlite::OptionalExtension as _;
    transaction
        .query_row(
            "SELECT run FROM attempts WHERE key = ?1 AND state IN ('intended', 'ambiguous', 'submitted', 'completed')",
            [key],
            |row| row.get(0).map(RunId),
        )
        .optional()
}

fn end(
    transaction: &Transaction<'_>,
    attempt: &AttemptId,
    state: &str,
    failure: Option<&Failure>,
    at: Millis,
) -> rusqlite::Result<()> {
    transaction.execute(
        "UPDATE attempts SET state = ?2, failure = ?3, ended_at = ?4 WHERE id = ?1",
        (attempt.as_str(), state, failure.map(|failure| failure.message.as_str()), at.0),
    )?;
    Ok(())
}
