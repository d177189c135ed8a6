//! `runner resolve`: a person resolves an attempt whose submission is indeterminate.

use rusqlite::{OptionalExtension as _, TransactionBehavior};
use scheduler::{AttemptId, AttemptState, Event, EventKind, Resolution, RunId, Timestamp};

use super::fold::{Writer, owner};
use super::sql::column;
use super::{Ledger, LedgerError};
use crate::failpoint::{self, Boundary};

/// The run id of events that a person causes outside of a run.
const RESOLVE_RUN: &str = "resolve";

impl Ledger {
    /// Appends [`Event::Resolved`] for an attempt that is intended, indeterminate or abandoned.
    ///
    /// # Errors
    /// [`LedgerError::NotResolvable`] when there is no such attempt, it needs no resolution, its run is alive and still waits for the
    /// response, or another attempt owns the task.
    pub fn resolve(
        &self,
        attempt: &AttemptId,
        resolution: &Resolution,
        time: Timestamp,
    ) -> Result<(), LedgerError> {
        failpoint::hit(Boundary::Before, EventKind::Resolved.as_str());
        let mut connection = self.connection();
        let wrap = |error| self.sqlite(error);
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(wrap)?;
        let row: Option<(AttemptState, RunId, String)> = transaction
            .query_row("SELECT state, run, node FROM attempts WHERE id = ?1", [attempt.as_str()], |row| {
                Ok((column(row, 0)?, RunId(row.get(1)?), row.get(2)?))
            })
            .optional()
            .map_err(wrap)?;
        let Some((state, run, node)) = row.filter(|(state, ..)| state.is_resolvable()) else {
            return Err(LedgerError::NotResolvable(format!(
                "attempt {attempt} does not exist or needs no resolution"
            )));
        };
        if state == AttemptState::Intended && self.is_alive(&run) {
            return Err(LedgerError::NotResolvable(format!(
                "run {run} is alive and still waits for the response to attempt {attempt}; it resolves it itself"
            )));
        }
        if let Resolution::Accepted { task } = resolution
            && let Some(owner) = owner(&transaction, attempt, task).map_err(wrap)?
        {
            return Err(LedgerError::NotResolvable(format!(
                "task {task} is in the ledger already, for attempt {owner}"
            )));
        }
        let event = Event::Resolved { attempt: attempt.clone(), resolution: resolution.clone() };
        let run = RunId::from(RESOLVE_RUN);
        let mut writer = Writer::new(self, &transaction, &run, time);
        writer.fold(&event, None).map_err(wrap)?;
        writer.store(Some(&node), &event).map_err(wrap)?;
        writer.finish().map_err(wrap)?;
        transaction.commit().map_err(wrap)?;
        failpoint::hit(Boundary::After, EventKind::Resolved.as_str());
        Ok(())
    }
}
