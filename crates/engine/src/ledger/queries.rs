//! Queries: the attempt that holds a key, films, and attempts to resolve.

use std::collections::HashMap;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, Row};

use super::attempt_row::AttemptRow;
use super::attempt_state::{
    has_open_task, holds_key, is_in_flight, is_replaced, is_resolvable, suggested_task,
};
use super::sql::{artifact, artifact_columns, column, json_column};
use super::{Ledger, LedgerError, derived_tables};
use crate::artifact_store::Verify;
use crate::unknown_task::is_service_task;
use scheduler::budget::Reservation;
use scheduler::{Artifact, AttemptId, AttemptState, Event, Film, RunId, TaskId, Timestamp};

const COLUMNS: &str = concat!(
    "a.id, a.run, a.node, a.state, a.task, a.digest, a.intended_at, a.submitted_at, a.failure,
    a.service, a.model, a.video_ms, a.reserved_cost, s.account, r.workflow, a.key, ",
    suggested_task!(),
    ", a.ended_at, ",
    artifact_columns!()
);
/// An attempt of a key whose task was given up, where none of the key was accepted later.
const NOT_REPLACED: &str = concat!("key = ?1 AND state = 'expired' AND NOT ", is_replaced!());
const TABLES: &str = "attempts a JOIN runs r ON r.id = a.run LEFT JOIN run_services s ON s.run = a.run AND s.service = a.service
    LEFT JOIN artifacts f ON f.attempt = a.id";

/// Queries on one snapshot of the ledger.
pub(crate) struct LedgerSnapshot<'l> {
    ledger: &'l Ledger,
    connection: &'l Connection,
}

impl LedgerSnapshot<'_> {
    /// The attempt that holds a key, if there is one.
    pub(crate) fn attempt_holding(&self, key: &str) -> Result<Option<AttemptRow>, LedgerError> {
        self.attempt_where(concat!("key = ?1 AND ", holds_key!()), key)
    }

    /// The attempt with which a run goes on for a key: the one that holds it, or else one whose task a `retry` gave up without another being
    /// accepted since, because of a cap, an interrupt or a refusal: its task is paid for and may have a video after all.
    pub(crate) fn attempt_to_continue(&self, key: &str) -> Result<Option<AttemptRow>, LedgerError> {
        match self.attempt_holding(key)? {
            Some(row) => Ok(Some(row)),
            None => self.attempt_where(NOT_REPLACED, key),
        }
    }

    /// An attempt for the same work in flight at another service than `service`. `work` is the service-independent key.
    pub(crate) fn in_flight_at_other_service(
        &self,
        work: &str,
        service: &str,
    ) -> Result<Option<AttemptRow>, LedgerError> {
        let row = self.attempt_where(concat!("service_independent_key = ?1 AND ", is_in_flight!()), work)?;
        Ok(row.filter(|row| row.service != service))
    }

    fn attempt_where(&self, condition: &str, parameter: &str) -> Result<Option<AttemptRow>, LedgerError> {
        let read = || {
            self.connection
                .prepare_cached(&format!("SELECT {COLUMNS} FROM {TABLES} WHERE {condition}"))?
                .query_row([parameter], |row| self.ledger.row(row))
                .optional()
        };
        read().map_err(|error| self.ledger.sqlite(error))
    }
}

/// By service-independent key: the services with work, and whether it is in flight. What is in flight comes last.
pub type WorkAtServices = HashMap<String, Vec<(String, bool)>>;

impl Ledger {
    /// The attempt that owns a task of `service`, and the name of its node.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub(crate) fn owner_of_task(
        &self,
        service: &str,
        task: &TaskId,
    ) -> Result<Option<(AttemptId, String)>, LedgerError> {
        derived_tables::owner_at(&self.connection(), service, task).map_err(|error| self.sqlite(error))
    }

    /// Work that is in flight, missing or completed, by its service-independent key: the names of its services, and whether the work is or may be
    /// in flight there. Work at free services has no such key.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub(crate) fn work_at_services(&self) -> Result<WorkAtServices, LedgerError> {
        // What is in flight last: it decides.
        let query = concat!(
            "SELECT service_independent_key, service, ",
            is_in_flight!(),
            " AS in_flight FROM attempts
             WHERE service_independent_key IS NOT NULL AND ",
            holds_key!(),
            " ORDER BY in_flight"
        );
        let rows: Vec<(String, (String, bool))> =
            self.rows(query, [], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
        let mut works = WorkAtServices::new();
        for (key, work) in rows {
            works.entry(key).or_default().push(work);
        }
        Ok(works)
    }

    /// Runs several queries on one snapshot: a run of 100,000 nodes has as many when it starts.
    pub(crate) fn with_snapshot<T>(&self, questions: impl FnOnce(&LedgerSnapshot<'_>) -> T) -> T {
        let connection = self.connection();
        // Saves a transaction per query; without it the queries work just as well.
        let _snapshot = connection.unchecked_transaction().ok();
        questions(&LedgerSnapshot { ledger: self, connection: &connection })
    }

    /// The attempt that holds a key, if there is one.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn attempt_holding(&self, key: &str) -> Result<Option<AttemptRow>, LedgerError> {
        self.with_snapshot(|ledger| ledger.attempt_holding(key))
    }

    /// An attempt by its id.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn attempt(&self, attempt: &AttemptId) -> Result<Option<AttemptRow>, LedgerError> {
        self.with_snapshot(|ledger| ledger.attempt_where("a.id = ?1", attempt.as_str()))
    }

    /// The attempt that owns a task, of whatever service.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn attempt_of_task(&self, task: &TaskId) -> Result<Option<AttemptRow>, LedgerError> {
        self.with_snapshot(|ledger| ledger.attempt_where("a.task = ?1", task.as_str()))
    }

    /// Every attempt with the name of its node and its state.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub(crate) fn attempt_states(&self) -> Result<Vec<(AttemptId, String, AttemptState)>, LedgerError> {
        self.rows("SELECT id, node, state FROM attempts", [], |row| {
            Ok((AttemptId(row.get(0)?), row.get(1)?, column(row, 2)?))
        })
    }

    /// Attempts whose task is paid for and not downloaded: in flight, missing, or given up by a `retry`. Oldest first.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn open_tasks(&self) -> Result<Vec<AttemptRow>, LedgerError> {
        self.attempts_where(has_open_task!())
    }

    /// Attempts whose video was downloaded and is not on disk any more, oldest first: a run or a fetch downloads it again. Each with whether it is
    /// the latest video of its shot. Only those of the tasks in `named`, where it is given: each file is looked at.
    ///
    /// # Errors
    /// When the ledger or a video cannot be read.
    pub fn tasks_without_file(
        &self,
        named: Option<&[TaskId]>,
    ) -> Result<Vec<(AttemptRow, bool)>, LedgerError> {
        let completed = self.attempts_where("a.state = 'completed'")?;
        let shot = |row: &AttemptRow| (row.workflow.clone(), row.node.clone());
        let latest: HashMap<(String, String), AttemptId> =
            completed.iter().map(|row| (shot(row), row.attempt.clone())).collect();
        let mut lost = Vec::new();
        let is_asked =
            |task: &TaskId| is_service_task(task) && named.is_none_or(|named| named.contains(task));
        for row in completed {
            let Some(artifact) = row.artifact.as_ref().filter(|_| row.task.as_ref().is_some_and(is_asked))
            else {
                continue;
            };
            if self.store.find_delivery(artifact, None, &Verify::Metadata)?.is_none() {
                let is_latest = latest.get(&shot(&row)) == Some(&row.attempt);
                lost.push((row, is_latest));
            }
        }
        Ok(lost)
    }

    /// Attempts that `runner resolve` can resolve, the abandoned ones included, oldest first.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn resolvable_attempts(&self) -> Result<Vec<AttemptRow>, LedgerError> {
        self.attempts_where(is_resolvable!())
    }

    /// The film at `path`, if the file has the size that was recorded.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn film(&self, path: &Path) -> Result<Option<Film>, LedgerError> {
        let recorded = self
            .connection()
            .query_row(
                "SELECT clips_digest, bytes, seconds, width, height, audio FROM films WHERE path = ?1",
                [self.stored_path(path)],
                |row| {
                    let bytes: u64 = column(row, 1)?;
                    let film = Film {
                        path: path.to_owned(),
                        clips_digest: row.get(0)?,
                        duration: column(row, 2)?,
                        width: row.get(3)?,
                        height: row.get(4)?,
                        audio: row.get(5)?,
                        reused: true,
                        loudness: None,
                        frames: None,
                        unmatched: Vec::new(),
                    };
                    Ok((film, bytes))
                },
            )
            .optional()
            .map_err(|error| self.sqlite(error))?;
        Ok(recorded.and_then(|(film, bytes)| {
            let on_disk = std::fs::metadata(path).ok()?.len();
            (on_disk == bytes).then_some(film)
        }))
    }

    /// The stored events of a run with their times, in order.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn events(&self, run: &RunId) -> Result<Vec<(Timestamp, Event)>, LedgerError> {
        let query = "SELECT time, body FROM events WHERE run = ?1 ORDER BY seq";
        self.rows(query, [run.as_str()], |row| Ok((column(row, 0)?, json_column(row, 1)?)))
    }

    /// Attempts, oldest first.
    fn attempts_where(&self, condition: &str) -> Result<Vec<AttemptRow>, LedgerError> {
        let query =
            format!("SELECT {COLUMNS} FROM {TABLES} WHERE {condition} ORDER BY a.intended_at, a.rowid");
        self.rows(&query, [], |row| self.row(row))
    }

    fn row(&self, row: &Row<'_>) -> rusqlite::Result<AttemptRow> {
        let artifact =
            artifact(row, 18)?.map(|artifact| Artifact { path: self.base.join(&artifact.path), ..artifact });
        Ok(AttemptRow {
            attempt: AttemptId(row.get(0)?),
            run: RunId(row.get(1)?),
            workflow: row.get(14)?,
            node: row.get(2)?,
            key: row.get(15)?,
            state: column(row, 3)?,
            service: row.get(9)?,
            account: row.get(13)?,
            model: row.get(10)?,
            reservation: Reservation { duration: column(row, 11)?, cost: column(row, 12)? },
            task: row.get::<_, Option<String>>(4)?.map(TaskId),
            suggested_task: row.get::<_, Option<String>>(16)?.map(TaskId),
            digest: row.get(5)?,
            intended_at: column(row, 6)?,
            submitted_at: column(row, 7)?,
            ended_at: column(row, 17)?,
            failure: row.get(8)?,
            artifact,
        })
    }
}
