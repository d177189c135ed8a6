//! Accounting for a submission whose answer was lost, by someone who knows: always on the record.

use rusqlite::{Transaction, TransactionBehavior};

use super::{Ledger, LedgerError};
use crate::ids::{AttemptId, TaskId};
use crate::time::Millis;

/// What became of a submission whose answer was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// It was accepted: this is its task.
    Accepted(TaskId),
    /// It was not accepted: the next run submits the shot anew.
    NotAccepted,
}

impl Ledger {
    /// Records what became of an attempt that is intended or ambiguous.
    ///
    /// # Errors
    /// [`LedgerError::NotResolvable`] when there is no such attempt, it is accounted for already, or the task belongs to another attempt.
    pub fn resolve(
        &self,
        attempt: &AttemptId,
        resolution: &Resolution,
        at: Millis,
    ) -> Result<(), LedgerError> {
        let mut connection = self.connection();
        let wrap = |error| self.sqlite(error);
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(wrap)?;
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
        transaction.commit().map_err(wrap)
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
        at: Millis,
    ) -> Result<Option<TaskId>, LedgerError> {
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
    at: Millis,
) -> rusqlite::Result<bool> {
    let (state, task, ended) = match resolution {
        Resolution::Accepted(task) => ("submitted", Some(task.as_str()), None),
        Resolution::NotAccepted => ("abandoned", None, Some(at.0)),
    };
    let changed = transaction.execute(
        "UPDATE attempts SET state = ?2, task = ?3, ended_at = ?4,
         submitted_at = CASE WHEN ?3 IS NULL THEN NULL ELSE intended_at END
         WHERE id = ?1 AND state IN ('intended', 'ambiguous')",
        (attempt.as_str(), state, task, ended),
    )?;
    let body = serde_json::json!({ "event": "resolved", "attempt": attempt, "state": state, "task": task });
    transaction.execute(
        "INSERT INTO events (run, at, node, version, body) SELECT 'resolve', ?2, node, 1, ?3 FROM attempts WHERE id = ?1",
        (attempt.as_str(), at.0, body.to_string()),
    )?;
    Ok(changed > 0)
}
