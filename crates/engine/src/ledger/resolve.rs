//! `runner resolve`: a person resolves an attempt whose submission is indeterminate, or closes one whose task has no video any more.

use rusqlite::{OptionalExtension as _, TransactionBehavior};
use scheduler::{AttemptId, AttemptState, Event, EventKind, Resolution, RunId, TaskId, Timestamp};

use super::derived_tables::{Writer, owner};
use super::sql::column;
use super::{Ledger, LedgerError};
use crate::failpoint::{self, Boundary};

/// The run id of events that a person causes outside of a run.
const RESOLVE_RUN: &str = "resolve";

/// The state of an attempt, its run, its node and its task.
type AttemptRow = (AttemptState, RunId, String, Option<TaskId>);

fn is_adoption_of(resolution: &Resolution, accepted: &TaskId) -> bool {
    matches!(resolution, Resolution::Accepted { task } if task == accepted)
}

impl Ledger {
    /// Appends [`Event::Resolved`] for an attempt that is intended, indeterminate or abandoned. [`Resolution::Abandoned`] is also for one
    /// whose task is in flight or missing: what is reserved for it counts as spent.
    ///
    /// # Errors
    /// [`LedgerError::NotResolvable`] when there is no such attempt, it needs no resolution, a run is alive that may still hear of it,
    /// another attempt owns the task, or it is known to be accepted as another one. Otherwise as [`Ledger::append`].
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
        let row: Option<AttemptRow> = transaction
            .query_row(
                "SELECT state, run, node, task FROM attempts WHERE id = ?1",
                [attempt.as_str()],
                |row| {
                    let task: Option<String> = row.get(3)?;
                    Ok((column(row, 0)?, RunId(row.get(1)?), row.get(2)?, task.map(TaskId)))
                },
            )
            .optional()
            .map_err(wrap)?;
        let is_abandoned = *resolution == Resolution::Abandoned;
        let row = row.filter(|(state, ..)| state.is_resolvable() || (is_abandoned && state.has_open_task()));
        let Some((state, run, node, known_task)) = row else {
            return Err(LedgerError::NotResolvable(format!(
                "attempt {attempt} does not exist or needs no resolution"
            )));
        };
        if state == AttemptState::Intended && self.is_alive(&run) {
            return Err(LedgerError::NotResolvable(format!(
                "run {run} is alive and still waits for the response to attempt {attempt}; it resolves it itself"
            )));
        }
        if state.has_open_task() && self.is_any_run_alive()? {
            return Err(LedgerError::NotResolvable(format!(
                "a run in this folder is alive and may poll the task of attempt {attempt}: wait for its end, or interrupt it"
            )));
        }
        if state == AttemptState::Abandoned && !is_abandoned && self.is_any_run_alive()? {
            // The caps of a run count what was spent since its beginning.
            return Err(LedgerError::NotResolvable(format!(
                "a run in this folder is alive, and its caps count what attempt {attempt} may have cost: wait for its end, or interrupt it"
            )));
        }
        if let Some(task) = known_task.filter(|task| !is_abandoned && !is_adoption_of(resolution, task)) {
            return Err(LedgerError::NotResolvable(format!(
                "attempt {attempt} was accepted as task {task}, which is paid for: it can only be adopted as that task again"
            )));
        }
        if let Resolution::Accepted { task } = resolution
            && let Some(owner) = owner(&transaction, attempt, task).map_err(wrap)?
            && owner != *attempt
        {
            return Err(LedgerError::NotResolvable(format!(
                "task {task} is in the ledger already, for attempt {owner}"
            )));
        }
        let event = Event::Resolved { attempt: attempt.clone(), resolution: resolution.clone() };
        let run = RunId::from(RESOLVE_RUN);
        let mut writer = Writer::new(self, &transaction, &run, time);
        writer.update_tables(&event, None).map_err(wrap)?;
        writer.store(Some(&node), &event, time).map_err(wrap)?;
        writer.finish().map_err(wrap)?;
        transaction.commit().map_err(wrap)?;
        failpoint::hit(Boundary::After, EventKind::Resolved.as_str());
        Ok(())
    }
}
