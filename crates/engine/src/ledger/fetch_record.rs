//! `runner ledger fetch`: the end of a task that is recorded outside of a run.

use rusqlite::TransactionBehavior;
use scheduler::{AttemptState, Event, RunId, Timestamp};

use super::append::as_delivered_again;
use super::attempt_row::AttemptRow;
use super::derived_tables::{FETCH_RUN, Writer};
use super::renders::key_of_video;
use super::sql::column;
use super::{Ledger, LedgerError};
use crate::failpoint::{self, Boundary};

impl Ledger {
    /// Appends an event about the task of `row`: that its video was downloaded, or that it failed. Returns whether it was appended: not where
    /// its video is to be recorded under another key than that of `row` by now, or has been recorded.
    ///
    /// # Errors
    /// When it could not be made durable.
    pub(crate) fn append_fetched(
        &self,
        row: &AttemptRow,
        event: &Event,
        time: Timestamp,
    ) -> Result<bool, LedgerError> {
        failpoint::hit(Boundary::Before, event.kind().as_str());
        if matches!(event, Event::Downloaded { .. }) {
            // The video's name has to be durable before the event that records it.
            self.store.sync_dir()?;
        }
        let mut connection = self.connection();
        let wrap = |error| self.sqlite(error);
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(wrap)?;
        // Another process may have fetched it in the meantime, or have replaced its task.
        let (state, key): (AttemptState, _) = transaction
            .query_row("SELECT state FROM attempts WHERE id = ?1", [row.attempt.as_str()], |columns| {
                column(columns, 0)
            })
            .and_then(|state| Ok((state, key_of_video(&transaction, &row.attempt)?)))
            .map_err(wrap)?;
        let was_completed = row.state == AttemptState::Completed;
        if (state == AttemptState::Completed && !was_completed)
            || key.is_none_or(|key| key.to_string() != row.key)
        {
            return Ok(false);
        }
        let event = match event {
            Event::Downloaded { node, attempt, artifact, cost } => {
                let artifact = as_delivered_again(&transaction, attempt, artifact.clone()).map_err(wrap)?;
                &Event::Downloaded { node: *node, attempt: attempt.clone(), artifact, cost: *cost }
            }
            event => event,
        };
        let run = RunId::from(FETCH_RUN);
        let mut writer = Writer::new(self, &transaction, &run, time);
        writer.update_tables(event, None).map_err(wrap)?;
        writer.store(Some(&row.node), event, time).map_err(wrap)?;
        writer.finish().map_err(wrap)?;
        transaction.commit().map_err(wrap)?;
        failpoint::hit(Boundary::After, event.kind().as_str());
        Ok(true)
    }
}
