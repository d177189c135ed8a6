//! Accounting for a submission whose answer was lost, by someone who knows: always on the record.

use rusqlite::{OptionalExtension as _, Transaction, TransactionBehavior};

use super::totals::{AttemptEnd, BudgetDelta, Settlement};
use super::{Ledger, LedgerError};
use crate::failpoint::{self, Boundary};
use scheduler::{AttemptId, RunId, TaskId, Timestamp};

/// What became of a submission whose answer was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// It was accepted: this is its task.
    Accepted(TaskId),
    /// It was not accepted: the next run submits the shot anew.
    NotAccepted,
    /// Nobody will ever know: what it may have cost counts as spent, and the shot is not submitted again unless someone asks for it.
    GivenUp,
}

impl Ledger {
    /// Records what became of an attempt that is intended, ambiguous or given up.
    ///
    /// # Errors
    /// [`LedgerError::NotResolvable`] when there is no such attempt, it is accounted for already, its run still waits for the answer, or the
    /// task belongs to another attempt.
    pub fn resolve(
        &self,
        attempt: &AttemptId,
        resolution: &Resolution,
        at: Timestamp,
    ) -> Result<(), LedgerError> {
        failpoint::hit(Boundary::Before, "resolved");
        let mut connection = self.connection();
        let wrap = |error| self.sqlite(error);
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(wrap)?;
        let run: Option<String> = transaction
            .query_row(
                "SELECT run FROM attempts WHERE id = ?1 AND state = 'intended'",
                [attempt.as_str()],
                |row| row.get(0),
            )
            .optional()
            .map_err(wrap)?;
        if let Some(run) = run.map(RunId)
            && self.is_alive(&run)
        {
            return Err(LedgerError::NotResolvable(format!(
                "run {run} is alive and still waits for the answer to attempt {attempt}; it will account for it itself"
            )));
        }
        if let Resolution::Accepted(task) = resolution
            && is_owned(&transaction, task).map_err(wrap)?
        {
            return Err(LedgerError::NotResolvable(format!(
                "task {task} is in the ledger already, for another attempt"
            )));
        }
        if !record(&transaction, attempt, resolution, at).map_err(wrap)? {
            return Err(LedgerError::NotResolvable(format!("there is no unaccounted attempt {attempt}")));
        }
        transaction.commit().map_err(wrap)?;
        failpoint::hit(Boundary::After, "resolved");
        Ok(())
    }

    /// Accounts for an attempt whose answer was lost from what the service knows: `tasks` are all that it made from the same request, oldest first.
    /// The attempt takes the first that no other attempt owns; if there is none, the request never arrived.
    ///
    /// # Errors
    /// When that could not be recorded.
    pub fn account_for(
        &self,
        attempt: &AttemptId,
        tasks: &[TaskId],
        at: Timestamp,
    ) -> Result<Option<TaskId>, LedgerError> {
        failpoint::hit(Boundary::Before, "accounted");
        let mut connection = self.connection();
        let wrap = |error| self.sqlite(error);
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(wrap)?;
        let mut free = None;
        for task in tasks {
            if !is_owned(&transaction, task).map_err(wrap)? {
                free = Some(task.clone());
                break;
            }
        }
        let resolution = free.clone().map_or(Resolution::NotAccepted, Resolution::Accepted);
        record(&transaction, attempt, &resolution, at).map_err(wrap)?;
        transaction.commit().map_err(wrap)?;
        failpoint::hit(Boundary::After, "accounted");
        Ok(free)
    }
}

fn is_owned(transaction: &Transaction<'_>, task: &TaskId) -> rusqlite::Result<bool> {
    transaction.query_row("SELECT EXISTS (SELECT 1 FROM attempts WHERE task = ?1)", [task.as_str()], |row| {
        row.get(0)
    })
}

/// Whether there was such an attempt to resolve.
fn record(
    transaction: &Transaction<'_>,
    attempt: &AttemptId,
    resolution: &Resolution,
    at: Timestamp,
) -> rusqlite::Result<bool> {
    let mut delta = BudgetDelta::default();
    delta.reopen(transaction, attempt)?;
    let is_open: bool = transaction.query_row(
        "SELECT EXISTS (SELECT 1 FROM attempts WHERE id = ?1 AND state IN ('intended', 'ambiguous'))",
        [attempt.as_str()],
        |row| row.get(0),
    )?;
    if !is_open {
        return Ok(false);
    }
    let (state, task) = match resolution {
        Resolution::Accepted(task) => ("submitted", Some(task.as_str())),
        Resolution::NotAccepted => ("abandoned", None),
        Resolution::GivenUp => ("given-up", None),
    };
    let settled = match resolution {
        Resolution::Accepted(_) => None,
        Resolution::NotAccepted => Some(Settlement::Released),
        Resolution::GivenUp => Some(Settlement::Full),
    };
    if let Some(settled) = settled {
        delta.end(transaction, attempt, AttemptEnd { state, settled, failure: None, at })?;
    } else {
        transaction.execute(
            "UPDATE attempts SET state = ?2, task = ?3, submitted_at = intended_at WHERE id = ?1",
            (attempt.as_str(), state, task),
        )?;
    }
    delta.write(transaction)?;
    let body = serde_json::json!({ "event": "resolved", "attempt": attempt, "state": state, "task": task });
    transaction.execute(
        "INSERT INTO events (run, at, node, version, body) SELECT 'resolve', ?2, node, 1, ?3 FROM attempts WHERE id = ?1",
        (attempt.as_str(), at.0, body.to_string()),
    )?;
    Ok(true)
}
