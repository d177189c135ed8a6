//! Projections of recorded runs: of the last one, for `run --failed`, and the states of shots for those who ask outside of a run.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _};

use super::sql::{column, json_column, rows};
use super::{Ledger, LedgerError, PlanArguments};
use scheduler::last_run::RunRecord;
use scheduler::{AttemptId, RecordedEvent, RunId, RunProjection, Seq, StateInRun};

impl Ledger {
    /// The names of the workflow files of runs of a workflow of this name, in the folder of the project.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn files_of_workflow(&self, workflow: &str) -> Result<BTreeSet<String>, LedgerError> {
        let query = "SELECT DISTINCT arguments FROM runs WHERE workflow = ?1";
        let arguments: Vec<Option<PlanArguments>> = self.rows(query, [workflow], |row| column(row, 0))?;
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
            let unfinished = "SELECT id FROM runs WHERE ended_at IS NULL";
            let mut alive: HashSet<RunId> = rows(&connection, unfinished, [], |row| row.get(0).map(RunId))?;
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
    let query = "SELECT seq, time, node, body FROM events WHERE run = ?1 ORDER BY seq";
    let events: Vec<RecordedEvent> = rows(connection, query, [run.as_str()], |row| {
        let (seq, time) = (Seq(row.get(0)?), column(row, 1)?);
        Ok(RecordedEvent { seq, time, shot: row.get(2)?, event: json_column(row, 3)? })
    })?;
    let mut projection = RunProjection::default();
    for event in events {
        projection.on_event(event);
    }
    Ok(projection)
}
