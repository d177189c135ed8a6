//! The last run of a workflow with its last event per shot, for `run --failed`.

use std::collections::HashMap;

use rusqlite::OptionalExtension as _;

use super::{Ledger, LedgerError};
use scheduler::last_run::RunRecord;
use scheduler::{Event, RunId, Timestamp};

impl Ledger {
    /// The latest run of a workflow.
    ///
    /// # Errors
    /// When the ledger cannot be read or has an event of another version.
    pub fn last_run(&self, workflow: &str) -> Result<Option<RunRecord>, LedgerError> {
        let connection = self.connection();
        let read = || {
            let latest = connection
                .query_row(
                    "SELECT id, started_at FROM runs WHERE workflow = ?1 ORDER BY started_at DESC, rowid DESC LIMIT 1",
                    [workflow],
                    |row| Ok((RunId(row.get(0)?), Timestamp(row.get(1)?))),
                )
                .optional()?;
            let Some((run, started_at)) = latest else { return Ok(None) };
            let mut statement = connection.prepare(
                "SELECT node, body FROM events WHERE seq IN (SELECT MAX(seq) FROM events WHERE run = ?1 AND node IS NOT NULL GROUP BY node)",
            )?;
            let last = statement
                .query_map([run.as_str()], |row| Ok((row.get(0)?, event(&row.get::<_, String>(1)?)?)))?
                .collect::<rusqlite::Result<HashMap<String, Event>>>()?;
            // Always the first event of a run.
            let scoped = connection
                .query_row(
                    "SELECT body FROM events WHERE run = ?1 ORDER BY seq LIMIT 1",
                    [run.as_str()],
                    |row| event(&row.get::<_, String>(0)?),
                )
                .optional()?
                .filter(|event| matches!(event, Event::RunConfigured { .. }));
            Ok(Some(RunRecord { run, started_at, scoped, last }))
        };
        read().map_err(|error| self.sqlite(error))
    }
}

fn event(body: &str) -> rusqlite::Result<Event> {
    serde_json::from_str(body).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, error.into())
    })
}
