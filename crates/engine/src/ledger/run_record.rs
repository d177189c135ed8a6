//! Projections of recorded runs: of the last one, for `run --failed`, and the states of shots for those who ask outside of a run.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _};

use super::sql::column;
use super::{Ledger, LedgerError, PlanArguments};
use scheduler::last_run::RunRecord;
use scheduler::{AttemptId, Event, RecordedEvent, RunId, RunProjection, Seq, StateInRun};

impl Ledger {
    /// The names of the workflow files of runs of a workflow of this name, in the folder of the project.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn files_of_workflow(&self, workflow: &str) -> Result<BTreeSet<String>, LedgerError> {
        let connection = self.connection();
        let read = || {
            connection
                .prepare("SELECT DISTINCT arguments FROM runs WHERE workflow = ?1")?
                .query_map([workflow], |row| column(row, 0))?
                .collect::<rusqlite::Result<Vec<Option<PlanArguments>>>>()
        };
        let arguments = read().map_err(|error| self.sqlite(error))?;
        Ok(arguments.into_iter().flatten().map(|arguments| arguments.file).collect())
    }

    /// The latest run of the workflow of this name in `file`; in any file where none is recorded with that one, as after it was renamed.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn last_run(&self, workflow: &str, file: &Path) -> Result<Option<RunRecord>, LedgerError> {
        let connection = self.connection();
        let read = || {
            let latest = connection
                .query_row(
                    "SELECT id, started_at FROM runs WHERE workflow = ?1
                     ORDER BY json_extract(arguments, '$.file') IS ?2 DESC, started_at DESC, rowid DESC LIMIT 1",
                    [workflow, &PlanArguments::file_name(file)],
                    |row| Ok((RunId(row.get(0)?), column(row, 1)?)),
                )
                .optional()?;
            let Some((run, started_at)) = latest else { return Ok(None) };
            let projection = projection(&connection, &run)?;
            Ok(Some(RunRecord { run, started_at, projection }))
        };
        read().map_err(|error| self.sqlite(error))
    }

    /// The state that the runs that are alive, and `others`, give to the shots of their attempts, by the last attempt of each shot. A run that
    /// is alive goes before others: it may have adopted their tasks.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub(crate) fn states_in_runs(
        &self,
        others: &HashSet<RunId>,
    ) -> Result<HashMap<AttemptId, StateInRun>, LedgerError> {
        let connection = self.connection();
        let read = || {
            let mut unfinished = connection.prepare("SELECT id FROM runs WHERE ended_at IS NULL")?;
            let unfinished = unfinished.query_map([], |row| Ok(RunId(row.get(0)?)))?;
            let mut alive = unfinished.collect::<rusqlite::Result<HashSet<RunId>>>()?;
            alive.retain(|run| self.is_alive(run));
            let mut states = HashMap::new();
            let ended = others.difference(&alive).map(|run| (run, false));
            for (run, is_alive) in ended.chain(alive.iter().map(|run| (run, true))) {
                let mut projection = projection(&connection, run)?;
                if !is_alive {
                    projection.on_run_ended(projection.last_time());
                }
                let by_attempt = projection.states_by_attempt(is_alive);
                states.extend(by_attempt.map(|(attempt, state)| (attempt.clone(), state)));
            }
            Ok(states)
        };
        read().map_err(|error| self.sqlite(error))
    }
}

fn projection(connection: &Connection, run: &RunId) -> rusqlite::Result<RunProjection> {
    let mut projection = RunProjection::default();
    let mut statement =
        connection.prepare_cached("SELECT seq, time, node, body FROM events WHERE run = ?1 ORDER BY seq")?;
    let mut rows = statement.query([run.as_str()])?;
    while let Some(row) = rows.next()? {
        projection.on_event(RecordedEvent {
            seq: Seq(row.get(0)?),
            time: column(row, 1)?,
            shot: row.get(2)?,
            event: event(&row.get::<_, String>(3)?)?,
        });
    }
    Ok(projection)
}

fn event(body: &str) -> rusqlite::Result<Event> {
    serde_json::from_str(body).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, error.into())
    })
}
