//! Liveness of runs: each run locks a file of its own, and the operating system releases the lock when the process ends in any way.
//!
//! The file names the latest attempt of its run whose intent is on record, before its POST leaves: a run that is killed leaves it, and a ledger
//! without that attempt has lost it. It is not synchronized: after a power cut it may name an earlier attempt, or none.

use std::fs::{File, TryLockError};
use std::io::{Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rusqlite::TransactionBehavior;

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
    /// The latest attempt that was noted in it.
    noted: Option<AttemptId>,
}

/// What a run has written into its lock file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LockNote {
    /// Nothing: it has begun no attempt, or an earlier version wrote the file.
    None,
    /// The latest attempt whose intent was recorded.
    Attempt(AttemptId),
    /// It has noticed that the ledger is not the one that it has opened. Whatever is in its place cannot be relied on.
    LedgerReplaced,
}

impl LockNote {
    /// The text of [`LockNote::LedgerReplaced`]; no attempt id has spaces.
    const LEDGER_REPLACED: &str = "the ledger was replaced";

    /// Length of the text in a lock file, filled up with spaces. The file has it from the beginning, so that no later write needs space on the
    /// disk.
    const LEN: usize = 63;

    /// Reads the lock file of `run`. [`LockNote::None`] where it cannot be read, as on Windows while its run is alive, and where a power cut
    /// has left something else in it.
    pub(super) fn read(path: &Path, run: &RunId) -> Self {
        match std::fs::read_to_string(path).unwrap_or_default().trim() {
            Self::LEDGER_REPLACED => Self::LedgerReplaced,
            attempt if attempt.strip_prefix(run.as_str()).is_some_and(|number| number.starts_with('.')) => {
                Self::Attempt(AttemptId::from(attempt))
            }
            _ => Self::None,
        }
    }

    /// In one write, so that no reader gets a part of it.
    fn write(&self, mut file: &File) -> std::io::Result<()> {
        let text = match self {
            Self::None => "",
            Self::Attempt(attempt) => attempt.as_str(),
            Self::LedgerReplaced => Self::LEDGER_REPLACED,
        };
        file.rewind()?;
        file.write_all(format!("{text:<width$}\n", width = Self::LEN).as_bytes())
    }
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
    }

    /// Notes the latest attempt whose intent is on record.
    pub(super) fn note_attempt(&self, attempt: AttemptId) -> std::io::Result<()> {
        self.write_note(&LockNote::Attempt(attempt))
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
        let file = File::create(&path).map_err(|error| at_path(&path, &error))?;
        file.try_lock().map_err(|error| at_path(&path, &error.into()))?;
        LockNote::None.write(&file).map_err(|error| at_path(&path, &error))?;
        failpoint::hit(Boundary::After, "begin");
        Ok(RunLock {
            run,
            path,
            caps,
            spent_before,
            last_attempt,
            stays: AtomicBool::new(false),
            file: Mutex::new(LockFile { file, noted: None }),
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
