//! Who is alive: every run holds a lock on a file of its own, which the operating system lets go of when the process ends in any way.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use rusqlite::TransactionBehavior;
use scheduler::budget::{Amount, Caps};
use scheduler::{Millis, RunId};

use super::{Ledger, LedgerError, spending};
use crate::failpoint::{self, Boundary};

/// A run that is under way. Dropping it says that the run is no longer alive.
#[derive(Debug)]
pub struct Lease {
    run: RunId,
    path: PathBuf,
    caps: Caps,
    /// What all runs had spent when this one began: its caps are about what comes after.
    spent_before: Amount,
    // Held for its lock.
    _file: File,
}

impl Lease {
    /// The run.
    #[must_use]
    pub fn run(&self) -> &RunId {
        &self.run
    }

    pub(super) fn caps(&self) -> (Caps, Amount) {
        (self.caps, self.spent_before)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // The lock goes with the file handle; a file that stays behind does no harm.
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Ledger {
    /// Records that `run` begins, marks it alive for as long as the lease lives, and holds it to `caps` from now on.
    ///
    /// # Errors
    /// When the run cannot be recorded, or one of that name is alive already.
    pub fn begin(
        &self,
        run: RunId,
        workflow: &str,
        service: &str,
        caps: Caps,
        now: Millis,
    ) -> Result<Lease, LedgerError> {
        let path = lock_path(&self.folder, &run);
        if let Some(folder) = path.parent() {
            fs_err::create_dir_all(folder)?;
        }
        let file = File::create(&path).map_err(|error| at_path(&path, &error))?;
        file.try_lock().map_err(|error| at_path(&path, &error.into()))?;
        failpoint::reach(Boundary::Before, "begin");
        let mut connection = self.connection();
        let wrap = |error| self.sqlite(error);
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(wrap)?;
        transaction
            .execute(
                "INSERT INTO runs (id, workflow, service, started_at) VALUES (?1, ?2, ?3, ?4)",
                (run.as_str(), workflow, service, now.0),
            )
            .map_err(wrap)?;
        let (_, spent_before) = spending::sums(&transaction).map_err(wrap)?;
        transaction.commit().map_err(wrap)?;
        failpoint::reach(Boundary::After, "begin");
        Ok(Lease { run, path, caps, spent_before, _file: file })
    }

    /// Records that a run has ended in good order.
    ///
    /// # Errors
    /// When that cannot be recorded.
    pub fn end(&self, lease: &Lease, now: Millis) -> Result<(), LedgerError> {
        failpoint::reach(Boundary::Before, "end");
        self.connection()
            .execute("UPDATE runs SET ended_at = ?2 WHERE id = ?1", (lease.run.as_str(), now.0))
            .map_err(|error| self.sqlite(error))?;
        failpoint::reach(Boundary::After, "end");
        Ok(())
    }
}

/// The same error, with the file that it is about.
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
