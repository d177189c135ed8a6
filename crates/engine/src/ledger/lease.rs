//! Who is alive: every run holds a lock on a file of its own, which the operating system lets go of when the process ends in any way.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use super::{Ledger, LedgerError};
use crate::ids::RunId;
use crate::time::Millis;

/// A run that is under way. Dropping it says that the run is no longer alive.
#[derive(Debug)]
pub struct Lease {
    run: RunId,
    path: PathBuf,
    // Held for its lock.
    _file: File,
}

impl Lease {
    /// The run.
    #[must_use]
    pub fn run(&self) -> &RunId {
        &self.run
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // The lock goes with the file handle; a file that stays behind does no harm.
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Ledger {
    /// Records that `run` begins and marks it alive for as long as the lease lives.
    ///
    /// # Errors
    /// When the run cannot be recorded.
    pub fn begin(
        &self,
        run: RunId,
        workflow: &str,
        service: &str,
        now: Millis,
    ) -> Result<Lease, LedgerError> {
        let path = lock_path(&self.folder, &run);
        if let Some(folder) = path.parent() {
            fs_err::create_dir_all(folder)?;
        }
        let file = File::create(&path)?;
        file.lock()?;
        self.connection()
            .execute(
                "INSERT INTO runs (id, workflow, service, started_at) VALUES (?1, ?2, ?3, ?4)",
                (run.as_str(), workflow, service, now.0),
            )
            .map_err(|error| self.sqlite(error))?;
        Ok(Lease { run, path, _file: file })
    }

    /// Records that a run has ended in good order.
    ///
    /// # Errors
    /// When that cannot be recorded.
    pub fn end(&self, lease: &Lease, now: Millis) -> Result<(), LedgerError> {
        self.connection()
            .execute("UPDATE runs SET ended_at = ?2 WHERE id = ?1", (lease.run.as_str(), now.0))
            .map_err(|error| self.sqlite(error))?;
        Ok(())
    }
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
