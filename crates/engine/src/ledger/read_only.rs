//! Read-only access to a ledger, for `runner status`: creates and writes nothing, even while a run is writing.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row};

use super::schema::Content;
use super::sql::column;
use super::{LedgerError, PlanArguments, run_lock, schema, sql, totals};
use scheduler::RecordedEvent;
use scheduler::budget::Amount;
use scheduler::{AttemptId, RunId, Seq, Timestamp};

/// How long a read waits for a writer's lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// A read-only ledger. Everything read through one of them is from the same snapshot.
#[derive(Debug)]
pub struct LedgerReader {
    pub(super) connection: Connection,
    file: PathBuf,
    pub(super) folder: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    pub run: RunId,
    pub workflow: String,
    /// The arguments that determined its plan; `None` where they were not recorded.
    pub arguments: Option<PlanArguments>,
    /// The identity of its service.
    pub service: String,
    pub started_at: Timestamp,
    /// When it ended regularly.
    pub ended_at: Option<Timestamp>,
    /// Whether its process is alive.
    pub is_alive: bool,
}

impl LedgerReader {
    /// Opens the ledger at `file`; `None` where there is none.
    ///
    /// # Errors
    /// When it is not a ledger of this version.
    pub fn open(file: &Path) -> Result<Option<Self>, LedgerError> {
        if !file.exists() {
            return Ok(None);
        }
        schema::ensure_ledger(file)?;
        let wrap = |source| LedgerError::Sqlite { path: file.to_owned(), source };
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let log = file.with_extension("db-wal");
        let has_wal = std::fs::metadata(log).is_ok_and(|log| log.len() > 0);
        let connection = if has_wal {
            Connection::open_with_flags(file, flags)
        } else {
            // Without a WAL everything is in the main file. SQLite would create a WAL to read it, except with `immutable=1`. That is sound here:
            // a process that starts to write now writes to a new WAL first.
            Connection::open_with_flags(schema::immutable(file), flags | OpenFlags::SQLITE_OPEN_URI)
        }
        .map_err(wrap)?;
        connection.busy_timeout(BUSY_TIMEOUT).map_err(wrap)?;
        // A single read transaction: its snapshot is taken by the first query.
        connection.execute_batch("BEGIN").map_err(wrap)?;
        match schema::content(&connection).map_err(wrap)? {
            Content::Ledger => {}
            Content::Empty => return Ok(None),
            Content::Other => return Err(LedgerError::OtherFormat { path: file.to_owned() }),
        }
        let folder = file.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        Ok(Some(Self { connection, file: file.to_owned(), folder }))
    }

    /// All runs that are alive, and the latest `ended` others; the latest first.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn runs(&self, ended: u32) -> Result<Vec<RunRow>, LedgerError> {
        let all = self.rows(
            "SELECT id, workflow,
             COALESCE((SELECT group_concat(service, ', ') FROM run_services WHERE run = id), service), started_at, ended_at, arguments FROM runs ORDER BY started_at DESC, id DESC",
            [],
            |row| {
                Ok(RunRow {
                    run: RunId(row.get(0)?),
                    workflow: row.get(1)?,
                    arguments: column(row, 5)?,
                    service: row.get(2)?,
                    started_at: column(row, 3)?,
                    ended_at: column(row, 4)?,
                    is_alive: false,
                })
            },
        )?;
        let mut others = 0;
        let mut runs = Vec::new();
        for mut run in all {
            // A run that has ended holds no lock, so its file need not be opened.
            run.is_alive = run.ended_at.is_none() && run_lock::is_held(&self.folder, &run.run);
            if !run.is_alive {
                others += 1;
            }
            if run.is_alive || others <= ended {
                runs.push(run);
            }
        }
        Ok(runs)
    }

    /// Whether the process of `run` is alive.
    pub fn is_alive(&self, run: &RunId) -> bool {
        run_lock::is_held(&self.folder, run)
    }

    /// The events of a run after sequence number `after`, in order. Events of an unknown version are skipped.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn events(&self, run: &RunId, after: Seq) -> Result<Vec<RecordedEvent>, LedgerError> {
        let events = self.rows(
            "SELECT seq, time, node, body FROM events WHERE run = ?1 AND seq > ?2 ORDER BY seq",
            (run.as_str(), after.0),
            |row| {
                let body: String = row.get(3)?;
                let Ok(event) = serde_json::from_str(&body) else { return Ok(None) };
                let (seq, time) = (Seq(row.get(0)?), column(row, 1)?);
                Ok(Some(RecordedEvent { seq, time, shot: row.get(2)?, event }))
            },
        )?;
        Ok(events.into_iter().flatten().collect())
    }

    /// A service that was paid for videos of a workflow of this name: that of the latest task.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn paid_service_of(&self, workflow: &str) -> Result<Option<String>, LedgerError> {
        // Of free services there is no such key.
        let query = "SELECT a.service FROM attempts a JOIN runs r ON r.id = a.run
                     WHERE r.workflow = ?1 AND a.task IS NOT NULL AND a.service_independent_key IS NOT NULL
                     ORDER BY a.rowid DESC LIMIT 1";
        Ok(self.rows(query, [workflow], |row| row.get(0))?.pop())
    }

    /// The totals over all runs: reserved for tasks in flight, and spent.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn spending(&self) -> Result<(Amount, Amount), LedgerError> {
        totals::sums(&self.connection).map_err(|source| self.sqlite(source))
    }

    /// An attempt's model.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn model(&self, attempt: &AttemptId) -> Result<Option<String>, LedgerError> {
        self.connection
            .prepare_cached("SELECT model FROM attempts WHERE id = ?1")
            .and_then(|mut found| found.query_row([attempt.as_str()], |row| row.get(0)).optional())
            .map_err(|source| self.sqlite(source))
    }

    pub(super) fn rows<T>(
        &self,
        query: &str,
        parameters: impl rusqlite::Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, LedgerError> {
        sql::rows(&self.connection, query, parameters, read).map_err(|source| self.sqlite(source))
    }

    pub(super) fn sqlite(&self, source: rusqlite::Error) -> LedgerError {
        LedgerError::Sqlite { path: self.file.clone(), source }
    }
}
