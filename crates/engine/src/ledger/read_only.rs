//! Read-only access to a ledger, for `runner status`: creates, writes and migrates nothing, even while a run is writing.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row};

use super::attempt_state::{has_open_task, holds_key, is_in_flight, is_replaced};
use super::sql::column;
use super::{LedgerError, PlanArguments, run_lock, schema, service_stats, totals};
use scheduler::RecordedEvent;
use scheduler::budget::Amount;
use scheduler::polling::{Class, DurationStats};
use scheduler::{AttemptId, AttemptState, RunId, Seq, TaskId, Timestamp};
use workflow::units::Money;

/// How long a read waits for a writer's lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// A read-only ledger. Everything read through one of them is from the same snapshot.
#[derive(Debug)]
pub struct LedgerReader {
    pub(super) connection: Connection,
    file: PathBuf,
    folder: PathBuf,
}

/// A row of `runs`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    /// The run.
    pub run: RunId,
    /// The workflow's name.
    pub workflow: String,
    /// The identity of its service.
    pub service: String,
    /// When it started.
    pub started_at: Timestamp,
    /// When it ended regularly.
    pub ended_at: Option<Timestamp>,
    /// Whether its process is alive.
    pub is_alive: bool,
}

/// What is known of the task of an attempt that has no video.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenTaskState {
    /// It is in flight, or may be.
    InFlight,
    /// The service did not know it when it was last asked, or had no intact video. The next run asks again.
    Missing,
    /// A `retry` gave it up, and another one was accepted in its place. No run asks for it.
    Replaced,
}

/// An attempt whose task is in flight, or may be: intended, indeterminate or submitted; or whose task is paid for and has no video.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenAttempt {
    /// The attempt.
    pub attempt: AttemptId,
    /// The run that created it.
    pub run: RunId,
    /// The name of its node at that time.
    pub node: String,
    /// Its key, as lower-case hex.
    pub key: String,
    /// What is known of its task.
    pub state: OpenTaskState,
    /// The workflow of that run.
    pub workflow: String,
    /// The arguments that determined the plan of that run; `None` where they were not recorded.
    pub arguments: Option<PlanArguments>,
    /// The service that it was submitted to.
    pub service: String,
    /// The class of tasks with similar durations.
    pub class: Class,
    /// Its task; `None` where it is not known to be accepted.
    pub task: Option<TaskId>,
    /// The id that the response to an indeterminate submission named.
    pub suggested_task: Option<TaskId>,
    /// When it was accepted, or when its intent was recorded.
    pub since: Timestamp,
    /// The reserved cost, where a price was known.
    pub reserved_cost: Option<Money>,
    /// The last error, for people.
    pub trouble: Option<String>,
}

impl LedgerReader {
    /// Opens the ledger at `file`; `None` where there is none.
    ///
    /// # Errors
    /// When it is not a ledger or has another format. An older one is migrated by the next run.
    pub fn open(file: &Path) -> Result<Option<Self>, LedgerError> {
        if !file.exists() {
            return Ok(None);
        }
        schema::ensure_supported_format(file)?;
        let wrap = |source| LedgerError::Sqlite { path: file.to_owned(), source };
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let log = file.with_extension("db-wal");
        let has_wal = std::fs::metadata(log).is_ok_and(|log| log.len() > 0);
        let connection = if has_wal {
            Connection::open_with_flags(file, flags)
        } else {
            // Without a WAL everything is in the main file. SQLite would create a WAL to read it, except with `immutable=1`. That is sound here:
            // a process that starts to write now writes to a new WAL first.
            Connection::open_with_flags(immutable(file), flags | OpenFlags::SQLITE_OPEN_URI)
        }
        .map_err(wrap)?;
        connection.busy_timeout(BUSY_TIMEOUT).map_err(wrap)?;
        // A single read transaction: its snapshot is taken by the first query.
        connection.execute_batch("BEGIN").map_err(wrap)?;
        let found = schema::format_of(&connection).map_err(wrap)?;
        if found < schema::FORMAT {
            return Err(LedgerError::TooOld {
                path: file.to_owned(),
                format: found,
                supported: schema::FORMAT,
            });
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
            "SELECT id, workflow, service, started_at, ended_at FROM runs ORDER BY started_at DESC, id DESC",
            [],
            |row| {
                Ok(RunRow {
                    run: RunId(row.get(0)?),
                    workflow: row.get(1)?,
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
    #[must_use]
    pub fn is_alive(&self, run: &RunId) -> bool {
        run_lock::is_held(&self.folder, run)
    }

    /// The events of a run after sequence number `after`, in order. Events of an unknown version are skipped.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn events(&self, run: &RunId, after: Seq) -> Result<Vec<RecordedEvent>, LedgerError> {
        let found = self.rows(
            "SELECT seq, time, node, body FROM events WHERE run = ?1 AND seq > ?2 ORDER BY seq",
            (run.as_str(), after.0),
            |row| {
                let body: String = row.get(3)?;
                let Ok(event) = serde_json::from_str(&body) else { return Ok(None) };
                let (seq, time) = (Seq(row.get(0)?), column(row, 1)?);
                Ok(Some(RecordedEvent { seq, time, shot: row.get(2)?, event }))
            },
        )?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Attempts whose task is in flight, or may be, or is paid for and has no video; the oldest first.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn open_attempts(&self) -> Result<Vec<OpenAttempt>, LedgerError> {
        self.rows(
            concat!(
                "SELECT a.id, a.run, a.node, r.workflow, r.service, a.task, COALESCE(a.submitted_at, a.intended_at), a.reserved_cost, a.failure,
                a.model, a.video_ms, a.key_parts, a.key, a.state, a.suggested_task, r.arguments, ",
                is_replaced!(),
                "
             FROM attempts a JOIN runs r ON r.id = a.run
             WHERE (",
                is_in_flight!(),
                " OR ",
                has_open_task!(),
                ") ORDER BY a.intended_at, a.rowid"
            ),
            [],
            |row| {
                Ok(OpenAttempt {
                    attempt: AttemptId(row.get(0)?),
                    run: RunId(row.get(1)?),
                    node: row.get(2)?,
                    workflow: row.get(3)?,
                    arguments: column(row, 15)?,
                    service: row.get(4)?,
                    class: service_stats::class(row, 9)?,
                    task: row.get::<_, Option<String>>(5)?.map(TaskId),
                    suggested_task: row.get::<_, Option<String>>(14)?.map(TaskId),
                    since: column(row, 6)?,
                    reserved_cost: column(row, 7)?,
                    trouble: row.get(8)?,
                    key: row.get(12)?,
                    state: match column(row, 13)? {
                        AttemptState::Expired if row.get(16)? => OpenTaskState::Replaced,
                        AttemptState::Missing | AttemptState::Expired => OpenTaskState::Missing,
                        _ => OpenTaskState::InFlight,
                    },
                })
            },
        )
    }

    /// The typical duration of these attempts' tasks, by attempt, from finished tasks of the same class and service, as the poll schedule uses
    /// it ([`crate::Ledger::task_durations`]). Attempts without such a task are left out.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn typical_durations(
        &self,
        open: &[OpenAttempt],
    ) -> Result<HashMap<AttemptId, Duration>, LedgerError> {
        let mut known: HashMap<&str, DurationStats> = HashMap::new();
        for service in open.iter().map(|open| open.service.as_str()) {
            if !known.contains_key(service) {
                let took = service_stats::task_durations(&self.connection, service)
                    .map_err(|source| self.sqlite(source))?;
                let stats = known.entry(service).or_default();
                for (class, took) in took {
                    stats.entry(class).record(took);
                }
            }
        }
        let typical = open.iter().filter_map(|open| {
            let median = known.get(open.service.as_str())?.get(&open.class)?.median()?;
            Some((open.attempt.clone(), median))
        });
        Ok(typical.collect())
    }

    /// The totals over all runs: reserved for tasks in flight, and spent.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn spending(&self) -> Result<(Amount, Amount), LedgerError> {
        totals::sums(&self.connection).map_err(|source| self.sqlite(source))
    }

    /// The states of these attempts; those that are not on record are left out.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn attempt_states(
        &self,
        attempts: &[AttemptId],
    ) -> Result<HashMap<AttemptId, AttemptState>, LedgerError> {
        let mut states = HashMap::with_capacity(attempts.len());
        for attempt in attempts {
            let found = self
                .rows("SELECT state FROM attempts WHERE id = ?1", [attempt.as_str()], |row| column(row, 0))?;
            states.extend(found.into_iter().map(|state| (attempt.clone(), state)));
        }
        Ok(states)
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

    fn rows<T>(
        &self,
        query: &str,
        parameters: impl rusqlite::Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, LedgerError> {
        let rows = || {
            let mut statement = self.connection.prepare_cached(query)?;
            statement.query_map(parameters, read)?.collect::<rusqlite::Result<Vec<T>>>()
        };
        rows().map_err(|source| self.sqlite(source))
    }

    pub(super) fn sqlite(&self, source: rusqlite::Error) -> LedgerError {
        LedgerError::Sqlite { path: self.file.clone(), source }
    }
}

/// Everything that is not unreserved in a URI path (RFC 3986, section 2.3), except `/`.
const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// The URI under which SQLite opens a file without locks or a WAL.
fn immutable(file: &Path) -> String {
    format!("file:{}?immutable=1", percent_encode(file.as_os_str().as_encoded_bytes(), PATH))
}
