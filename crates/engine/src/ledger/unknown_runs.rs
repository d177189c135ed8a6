//! Lock files of runs that the ledger does not know: the ledger is older than what happened.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::SystemTime;

use scheduler::RunId;

use super::run_lock::is_held;
use super::{Ledger, LedgerError};

/// A run whose lock file is there, and that the ledger does not know: the ledger was replaced, or its log was lost. A run is on record before
/// it creates its file, so that this holds for a run that is alive as well: it still writes to the file that is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownRun {
    /// The run.
    pub run: RunId,
    /// Its lock file.
    pub lock_file: PathBuf,
    /// When it began, as far as the file tells.
    pub started_at: Option<SystemTime>,
    /// Whether its process is alive.
    pub is_alive: bool,
}

impl Ledger {
    /// Runs that the ledger does not know, killed or alive.
    ///
    /// # Errors
    /// When the ledger or its folder cannot be read.
    pub fn unknown_runs(&self) -> Result<Vec<UnknownRun>, LedgerError> {
        let entries = match std::fs::read_dir(self.folder.join("runs")) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let mut unknown = Vec::new();
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            let Some(run) = name.to_str().and_then(|name| name.strip_suffix(".lock")) else { continue };
            let run = RunId::from(run);
            let is_alive = is_held(&self.folder, &run);
            let started_at = entry.metadata().and_then(|metadata| metadata.modified()).ok();
            unknown.push(UnknownRun { run, lock_file: entry.path(), started_at, is_alive });
        }
        if unknown.is_empty() {
            return Ok(unknown);
        }
        // Read after the folder: a run is on record before it creates its file.
        let connection = self.connection();
        let read = || {
            let mut statement = connection.prepare("SELECT id FROM runs")?;
            statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<HashSet<String>>>()
        };
        let known = read().map_err(|error| self.sqlite(error))?;
        unknown.retain(|unknown| !known.contains(unknown.run.as_str()));
        unknown.sort_by(|one, other| one.run.as_str().cmp(other.run.as_str()));
        Ok(unknown)
    }

    /// Whether any process that records a run here is alive.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub(crate) fn is_any_run_alive(&self) -> Result<bool, LedgerError> {
        let entries = match std::fs::read_dir(self.folder.join("runs")) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
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

    /// The first twelve digits of every recorded key, as file names have them.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn short_keys(&self) -> Result<HashSet<String>, LedgerError> {
        let connection = self.connection();
        let read = || {
            let mut statement = connection.prepare("SELECT DISTINCT substr(key, 1, 12) FROM attempts")?;
            statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<HashSet<String>>>()
        };
        read().map_err(|error| self.sqlite(error))
    }
}
