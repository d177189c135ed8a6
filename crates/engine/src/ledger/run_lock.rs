//! Liveness of runs: each run locks a file of its own, and the operating system releases the lock when the process ends in any way.
//!
//! The file names the attempts of its run whose intent is on record, before their POSTs leave ([`super::lock_note`]): a run that is killed leaves
//! it, and a ledger without them has lost them. It is not synchronized: after a power cut it may name earlier attempts, or none.

use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rusqlite::TransactionBehavior;

use super::lock_note::{LockFileText, LockNote, NotedAttempt};
use super::sql::Sql;
use super::{Ledger, LedgerError, PlanArguments, totals};
use crate::failpoint::{self, Boundary};
use scheduler::budget::{Amount, BudgetCaps};
use scheduler::{AttemptId, RunId, Timestamp};

/// The service of a run, and the account there.
#[derive(Debug, Clone, Copy)]
pub struct ServiceAccount<'a> {
    /// The identity of the service.
    pub service: &'a str,
    /// A digest of the API key ([`crate::provider::account_digest`]); `None` for a service without keys.
    pub account: Option<&'a str>,
}

impl<'a> From<&'a str> for ServiceAccount<'a> {
    fn from(service: &'a str) -> Self {
        Self { service, account: None }
    }
}

/// The lock of a running run. Dropping it ends the run's liveness.
#[derive(Debug)]
pub struct RunLock {
    run: RunId,
    path: PathBuf,
    caps: BudgetCaps,
    /// The total spent by all runs before this one: its caps apply to what is spent afterwards.
    spent_before: Amount,
    /// The latest attempt before it, by the order in which attempts are recorded.
    last_attempt: i64,
    /// Whether the file stays when the run ends: the ledger that has the run on record is gone, and the file shows that there was one.
    stays: AtomicBool,
    file: Mutex<LockFile>,
}

/// The file of a run, held for its lock.
#[derive(Debug)]
struct LockFile {
    file: File,
    /// The length of the text that it began with, as long as all attempts are listed after it.
    header: Option<u64>,
    /// The latest attempt that was noted in it.
    noted: Option<AttemptId>,
}

impl RunLock {
    /// The run.
    #[must_use]
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// Leaves the file behind when the run ends, as a killed run does: the run has lost its ledger, and the next one asks a person, whatever
    /// is in its place.
    pub(crate) fn leave_behind(&self) {
        self.stays.store(true, Ordering::Relaxed);
        // Without it the file says what that of a killed run does.
        let _ = self.write_note(&LockNote::LedgerReplaced);
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        // Where it cannot be written, the run's own report is all that there is.
        if let Ok(Some(copy)) = recreate_lock_file(&file.file, &self.path) {
            file.file = copy;
        }
    }

    /// Notes attempts whose intents are on record.
    pub(super) fn note_attempts(&self, attempts: &[NotedAttempt]) -> std::io::Result<()> {
        let Some(last) = attempts.last() else { return Ok(()) };
        {
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(header) = file.header {
                let is_listed = LockFileText::append(&file.file, header, &self.run, attempts);
                if !is_listed.map_err(|error| at_path(&self.path, &error))? {
                    file.header = None;
                }
            }
        }
        self.write_note(&LockNote::Attempt(last.attempt.clone()))
    }

    /// The latest attempt that is on record in the ledger, unless an earlier state was restored into it.
    pub(super) fn noted_attempt(&self) -> Option<AttemptId> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner).noted.clone()
    }

    fn write_note(&self, note: &LockNote) -> std::io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let LockNote::Attempt(attempt) = note {
            file.noted = Some(attempt.clone());
        }
        note.write(&file.file).map_err(|error| at_path(&self.path, &error))
    }

    pub(super) fn last_attempt(&self) -> i64 {
        self.last_attempt
    }

    pub(super) fn caps(&self) -> (BudgetCaps, Amount) {
        (self.caps, self.spent_before)
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // The lock is released with the file handle; a file that stays behind is unlocked.
        if !self.stays.load(Ordering::Relaxed) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Ledger {
    /// Records the start of `run` and locks it; `caps` apply to its intents from now on.
    ///
    /// # Errors
    /// When the run cannot be recorded, or a run with that id is alive.
    pub fn begin<'a>(
        &self,
        run: RunId,
        workflow: &str,
        account: impl Into<ServiceAccount<'a>>,
        caps: BudgetCaps,
        now: Timestamp,
    ) -> Result<RunLock, LedgerError> {
        self.begin_with(run, workflow, None, account.into(), caps, now)
    }

    /// As [`Ledger::begin`], with the arguments that determine the plan of the run.
    ///
    /// # Errors
    /// As [`Ledger::begin`].
    pub fn begin_with(
        &self,
        run: RunId,
        workflow: &str,
        arguments: Option<&PlanArguments>,
        account: ServiceAccount<'_>,
        caps: BudgetCaps,
        now: Timestamp,
    ) -> Result<RunLock, LedgerError> {
        let ServiceAccount { service, account } = account;
        let path = lock_path(&self.folder, &run);
        if let Some(folder) = path.parent() {
            fs_err::create_dir_all(folder)?;
        }
        self.watch.check()?;
        // On record before its lock file exists: a lock file without a record shows that the ledger has lost it (`unknown_runs`).
        failpoint::hit(Boundary::Before, "begin");
        let mut connection = self.connection();
        let wrap = |error| self.sqlite(error);
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(wrap)?;
        transaction
            .execute(
                "INSERT INTO runs (id, workflow, service, account, started_at, arguments) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                (run.as_str(), workflow, service, account, Sql(now), arguments.map(Sql)),
            )
            .map_err(wrap)?;
        let (_, spent_before) = totals::sums(&transaction).map_err(wrap)?;
        let last_attempt = "SELECT COALESCE(MAX(rowid), 0) FROM attempts";
        let last_attempt = transaction.query_row(last_attempt, [], |row| row.get(0)).map_err(wrap)?;
        transaction.commit().map_err(wrap)?;
        drop(connection);
        // Read where it has to be written again.
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path);
        let file = file.map_err(|error| at_path(&path, &error))?;
        // Nobody else holds it for long: who looks whether a run is alive locks its file for a moment.
        file.lock().map_err(|error| at_path(&path, &error))?;
        let header = LockFileText::begin(&file, now, service).map_err(|error| at_path(&path, &error))?;
        failpoint::hit(Boundary::After, "begin");
        Ok(RunLock {
            run,
            path,
            caps,
            spent_before,
            last_attempt,
            stays: AtomicBool::new(false),
            file: Mutex::new(LockFile { file, header: Some(header), noted: None }),
        })
    }

    /// Records the regular end of a run.
    ///
    /// # Errors
    /// When it cannot be recorded, and as [`Ledger::append`] when the ledger is not the file that was opened.
    pub fn end(&self, run_lock: &RunLock, now: Timestamp) -> Result<(), LedgerError> {
        failpoint::hit(Boundary::Before, "end");
        self.watch.check()?;
        let changed = self
            .connection()
            .execute("UPDATE runs SET ended_at = ?2 WHERE id = ?1", (run_lock.run.as_str(), Sql(now)))
            .map_err(|error| self.sqlite(error))?;
        if changed != 1 {
            return Err(self.missing_records());
        }
        self.watch.check()?;
        failpoint::hit(Boundary::After, "end");
        Ok(())
    }
}

/// A copy of a lock file at its path, locked, where the file is no longer there: the folder of the ledger was removed or moved as a whole. `None`
/// where it is there.
fn recreate_lock_file(mut file: &File, path: &Path) -> std::io::Result<Option<File>> {
    // Not the project's folder, which was moved then.
    for folder in path.ancestors().skip(1).take(2).collect::<Vec<_>>().into_iter().rev() {
        match std::fs::create_dir(folder) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    let mut copy = match File::options().read(true).write(true).create_new(true).open(path) {
        Ok(copy) => copy,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(None),
        Err(error) => return Err(error),
    };
    copy.lock()?;
    let mut text = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut text)?;
    copy.write_all(&text)?;
    Ok(Some(copy))
}

/// Adds the path to an error.
fn at_path(path: &Path, error: &std::io::Error) -> std::io::Error {
    std::io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn lock_path(folder: &Path, run: &RunId) -> PathBuf {
    folder.join("runs").join(format!("{run}.lock"))
}

pub(super) fn is_held(folder: &Path, run: &RunId) -> bool {
    match File::open(lock_path(folder, run)) {
        Ok(file) => matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)),
        Err(_) => false,
    }
}
