//! Liveness of runs: each run locks a file of its own, and the operating system releases the lock when the process ends in any way.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rusqlite::TransactionBehavior;

use super::sql::Sql;
use super::{Ledger, LedgerError, PlanArguments, totals};
use crate::failpoint::{self, Boundary};
use crate::provider::{Account, Accounts};
use scheduler::budget::{Amount, BudgetCaps};
use scheduler::{AttemptId, RunId, Timestamp};

/// The services of a run, for the record.
#[derive(Debug, Clone, Copy)]
pub struct RecordedServices<'a> {
    /// The identity of the service of shots that name none.
    pub unnamed: &'a str,
    pub accounts: &'a Accounts,
}

/// The lock of a running run. Dropping it ends the run's liveness.
#[derive(Debug)]
pub struct RunLock {
    run: RunId,
    path: PathBuf,
    caps: BudgetCaps,
    /// The total spent by all runs before this one: its caps apply to what is spent afterwards.
    spent_before: Amount,
    /// Its own latest attempt, whose intent is on record unless an earlier state of the ledger was restored.
    last_intent: Mutex<Option<AttemptId>>,
    /// Held for its lock.
    _file: File,
}

impl RunLock {
    pub fn run(&self) -> &RunId {
        &self.run
    }

    pub(super) fn set_last_intent(&self, attempt: AttemptId) {
        *self.last_intent.lock().unwrap_or_else(PoisonError::into_inner) = Some(attempt);
    }

    pub(super) fn last_intent(&self) -> Option<AttemptId> {
        self.last_intent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn caps(&self) -> (BudgetCaps, Amount) {
        (self.caps, self.spent_before)
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // The lock is released with the file handle.
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Ledger {
    /// Records the start of `run` and locks it; `caps` apply to its intents from now on.
    ///
    /// # Errors
    /// When the run cannot be recorded, or a run with that id is alive.
    pub fn begin(
        &self,
        run: RunId,
        workflow: &str,
        service: &str,
        caps: BudgetCaps,
        now: Timestamp,
    ) -> Result<RunLock, LedgerError> {
        let accounts = Accounts::default().with(service, Account::default());
        let services = RecordedServices { unnamed: service, accounts: &accounts };
        self.begin_with(run, workflow, None, services, caps, now)
    }

    /// As [`Ledger::begin`], with the arguments that determine the plan of the run, and the account at each of its services.
    ///
    /// # Errors
    /// As [`Ledger::begin`].
    pub fn begin_with(
        &self,
        run: RunId,
        workflow: &str,
        arguments: Option<&PlanArguments>,
        services: RecordedServices<'_>,
        caps: BudgetCaps,
        now: Timestamp,
    ) -> Result<RunLock, LedgerError> {
        let path = lock_path(&self.folder, &run);
        if let Some(folder) = path.parent() {
            fs_err::create_dir_all(folder)?;
        }
        failpoint::hit(Boundary::Before, "begin");
        let mut connection = self.connection();
        let wrap = |error| self.sqlite(error);
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(wrap)?;
        transaction
            .execute(
                "INSERT INTO runs (id, workflow, service, started_at, arguments) VALUES (?1, ?2, ?3, ?4, ?5)",
                (run.as_str(), workflow, services.unnamed, Sql(now), arguments.map(Sql)),
            )
            .map_err(wrap)?;
        let accounts = services.accounts;
        for service in accounts.services() {
            transaction
                .execute(
                    "INSERT INTO run_services (run, service, account) VALUES (?1, ?2, ?3)",
                    (run.as_str(), service, accounts.digest(service)),
                )
                .map_err(wrap)?;
        }
        let (_, spent_before) = totals::sums(&transaction).map_err(wrap)?;
        transaction.commit().map_err(wrap)?;
        drop(connection);
        let file = File::options().write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(|error| at_path(&path, &error))?;
        // Nobody else holds it for long: who looks whether a run is alive locks its file for a moment.
        file.lock().map_err(|error| at_path(&path, &error))?;
        failpoint::hit(Boundary::After, "begin");
        Ok(RunLock { run, path, caps, spent_before, last_intent: Mutex::new(None), _file: file })
    }

    /// Records the regular end of a run.
    ///
    /// # Errors
    /// When it cannot be recorded, or the run is not on record any more.
    pub fn end(&self, run_lock: &RunLock, now: Timestamp) -> Result<(), LedgerError> {
        failpoint::hit(Boundary::Before, "end");
        let connection = self.connection();
        // A run whose end a power cut takes away counts as killed.
        self.sync_commits(&connection, false).map_err(|error| self.sqlite(error))?;
        let changed = connection
            .execute("UPDATE runs SET ended_at = ?2 WHERE id = ?1", (run_lock.run.as_str(), Sql(now)))
            .map_err(|error| self.sqlite(error))?;
        self.sync_commits(&connection, true).map_err(|error| self.sqlite(error))?;
        drop(connection);
        if changed != 1 {
            return Err(self.missing_records());
        }
        failpoint::hit(Boundary::After, "end");
        Ok(())
    }

    /// Whether the process of `run` is alive.
    pub fn is_alive(&self, run: &RunId) -> bool {
        is_held(&self.folder, run)
    }

    /// Whether any process that records a run here is alive.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub(crate) fn is_any_run_alive(&self) -> Result<bool, LedgerError> {
        let entries = match std::fs::read_dir(self.folder.join("runs")) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        for entry in entries {
            let name = entry?.file_name();
            let run = name.to_str().and_then(|name| name.strip_suffix(".lock")).map(RunId::from);
            if run.is_some_and(|run| is_held(&self.folder, &run)) {
                return Ok(true);
            }
        }
        Ok(false)
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
