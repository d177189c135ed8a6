//! Looking at a ledger from outside: nothing is written, brought up to date or made, whatever is going on in it.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row};
use scheduler::budget::Amount;
use scheduler::history::Recorded;
use scheduler::polling::{Book, Class};
use scheduler::{AttemptId, Millis, RunId, TaskId};

use super::{LedgerError, history, lease, schema, spending};

/// How long a look waits for a writer that is in its way.
const PATIENCE: Duration = Duration::from_secs(5);

/// A ledger that is only looked at. All that one of them tells is of the same instant.
#[derive(Debug)]
pub struct Reading {
    connection: Connection,
    file: PathBuf,
    folder: PathBuf,
}

/// A run as it is on record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    /// The run.
    pub run: RunId,
    /// The workflow's name.
    pub workflow: String,
    /// The service, as it stands in every key.
    pub service: String,
    /// When it began.
    pub started_at: Millis,
    /// When it ended in good order.
    pub ended_at: Option<Millis>,
    /// Whether its process is alive now.
    pub is_alive: bool,
}

/// An attempt that is not accounted for, or whose task is out.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenAttempt {
    /// The attempt.
    pub attempt: AttemptId,
    /// The run that made it.
    pub run: RunId,
    /// The name that its node had then.
    pub node: String,
    /// The workflow of that run.
    pub workflow: String,
    /// The service that it went to.
    pub service: String,
    /// The tasks that are expected to take about as long.
    pub class: Class,
    /// Its task; nothing where it is not known whether it was accepted.
    pub task: Option<TaskId>,
    /// When it was accepted, or else when the intent was written.
    pub since: Millis,
    /// The most that it can cost, in millionths, as far as a price was known.
    pub held: Option<i64>,
    /// What is known of the trouble with it.
    pub trouble: Option<String>,
}

impl Reading {
    /// Opens the ledger at `file` for looking; `None` where there is none.
    ///
    /// # Errors
    /// When it is not a ledger, or of another format than this program's: a later one is for a later program, an earlier one is brought up to date
    /// by the next run.
    pub fn open(file: &Path) -> Result<Option<Self>, LedgerError> {
        if !file.exists() {
            return Ok(None);
        }
        schema::refuse_later(file)?;
        let wrap = |source| LedgerError::Sqlite { path: file.to_owned(), source };
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let log = file.with_extension("db-wal");
        let is_at_work = std::fs::metadata(log).is_ok_and(|log| log.len() > 0);
        let connection = if is_at_work {
            Connection::open_with_flags(file, flags)
        } else {
            // Without a log everything is in the file itself. SQLite would make one to look at it, unless it is told that nobody writes; whoever
            // begins to now writes to a log first.
            Connection::open_with_flags(immutable(file), flags | OpenFlags::SQLITE_OPEN_URI)
        }
        .map_err(wrap)?;
        connection.busy_timeout(PATIENCE).map_err(wrap)?;
        // One transaction from here to the end: everything is seen as of its first question.
        connection.execute_batch("BEGIN").map_err(wrap)?;
        let found = schema::format_of(&connection).map_err(wrap)?;
        if found < schema::FORMAT {
            return Err(LedgerError::TooOld { path: file.to_owned(), found, known: schema::FORMAT });
        }
        let folder = file.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        Ok(Some(Self { connection, file: file.to_owned(), folder }))
    }

    /// The runs that have not ended in good order and may be alive, and the `ended` latest others; the latest first.
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
                    started_at: Millis(row.get(3)?),
                    ended_at: row.get::<_, Option<i64>>(4)?.map(Millis),
                    is_alive: false,
                })
            },
        )?;
        let mut others = 0;
        let mut runs = Vec::new();
        for mut run in all {
            // One that has ended in good order has let go of its lock, so most need no look at a file.
            run.is_alive = run.ended_at.is_none() && lease::is_held(&self.folder, &run.run);
            if !run.is_alive {
                others += 1;
            }
            if run.is_alive || others <= ended {
                runs.push(run);
            }
        }
        Ok(runs)
    }

    /// The events of a run behind `after`, in order. What this program does not know (an event of another version) is left out.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn events(&self, run: &RunId, after: i64) -> Result<Vec<Recorded>, LedgerError> {
        let found = self.rows(
            "SELECT seq, at, node, body FROM events WHERE run = ?1 AND seq > ?2 ORDER BY seq",
            (run.as_str(), after),
            |row| {
                let body: String = row.get(3)?;
                let Ok(event) = serde_json::from_str(&body) else { return Ok(None) };
                Ok(Some(Recorded { seq: row.get(0)?, at: Millis(row.get(1)?), node: row.get(2)?, event }))
            },
        )?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Attempts that hold something: their tasks are out, or nobody has said what became of them. The oldest first.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn open_attempts(&self) -> Result<Vec<OpenAttempt>, LedgerError> {
        self.rows(
            "SELECT a.id, a.run, a.node, r.workflow, r.service, a.task, COALESCE(a.submitted_at, a.intended_at), a.held, a.failure,
                a.model, a.seconds, a.parts
             FROM attempts a JOIN runs r ON r.id = a.run
             WHERE a.state IN ('intended', 'ambiguous', 'submitted') ORDER BY a.intended_at, a.id",
            [],
            |row| {
                Ok(OpenAttempt {
                    attempt: AttemptId(row.get(0)?),
                    run: RunId(row.get(1)?),
                    node: row.get(2)?,
                    workflow: row.get(3)?,
                    service: row.get(4)?,
                    class: history::class(row, 9)?,
                    task: row.get::<_, Option<String>>(5)?.map(TaskId),
                    since: Millis(row.get(6)?),
                    held: row.get(7)?,
                    trouble: row.get(8)?,
                })
            },
        )
    }

    /// How long the tasks of these attempts take as a rule, by attempt: what tasks of their class took at their service, as polls expect it too
    /// ([`crate::Ledger::durations`]). Nothing about those of which none has ended.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn typical(&self, open: &[OpenAttempt]) -> Result<HashMap<AttemptId, Duration>, LedgerError> {
        let mut known: HashMap<&str, Book> = HashMap::new();
        for service in open.iter().map(|open| open.service.as_str()) {
            if !known.contains_key(service) {
                let took =
                    history::durations(&self.connection, service).map_err(|source| self.sqlite(source))?;
                let book = known.entry(service).or_default();
                for (class, took) in took {
                    book.of(class).note(took);
                }
            }
        }
        let typical = open.iter().filter_map(|open| {
            let seconds = known.get(open.service.as_str())?.known(&open.class)?.typical()?;
            Some((open.attempt.clone(), Duration::try_from_secs_f64(seconds).ok()?))
        });
        Ok(typical.collect())
    }

    /// What is held now for tasks that have not ended, and what was ever spent, over all runs.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn spending(&self) -> Result<(Amount, Amount), LedgerError> {
        spending::sums(&self.connection).map_err(|source| self.sqlite(source))
    }

    /// The model of an attempt.
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

    fn sqlite(&self, source: rusqlite::Error) -> LedgerError {
        LedgerError::Sqlite { path: self.file.clone(), source }
    }
}

/// A file's name as SQLite takes it for one that nobody writes.
fn immutable(file: &Path) -> String {
    let mut uri = "file:".to_owned();
    for byte in file.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(*byte));
            }
            other => {
                let _ = write!(uri, "%{other:02x}");
            }
        }
    }
    uri.push_str("?immutable=1");
    uri
}
