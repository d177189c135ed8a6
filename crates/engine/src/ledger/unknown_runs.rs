//! Lock files of runs that the ledger does not know: the ledger is older than what happened.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use rusqlite::Connection;
use scheduler::{AttemptId, RunId};

use super::adopted_keys::AdoptedKeys;
use super::attempt_state::holds_key;
use super::lock_note::{LockFileText, LockNote, NotedAttempt};
use super::run_lock::is_held;
use super::{Ledger, LedgerError};

/// Whether an attempt holds its key, or has had its video.
macro_rules! has_work {
    () => {
        concat!("(", holds_key!(), " OR EXISTS (SELECT 1 FROM artifacts WHERE attempt = attempts.id))")
    };
}
pub(super) use has_work;

/// A run whose lock file is there, and of which the ledger does not know everything: the ledger was replaced, an earlier state of it was
/// restored, or its log was lost. A run and its attempts are on record before its file names them, so that this holds for a run that is alive
/// as well: it still writes to the file that is gone.
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
    /// The identity of its service, unless an earlier version wrote the file.
    pub service: Option<String>,
    /// The attempts that the file names and that are not on record, nor was work with their keys adopted since the run began.
    pub attempts: Vec<NotedAttempt>,
    /// Whether it was killed before it began an attempt: nothing of it is lost, and the file shows only that the ledger is another one.
    pub submitted_nothing: bool,
}

impl Ledger {
    /// Runs that the ledger does not know, or not to their last attempt, killed or alive; and runs that have noticed that they lost it. Not those
    /// all of whose attempts are on record, or had work with their keys adopted since they began.
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
            let lock_file = entry.path();
            let text = LockFileText::read(&lock_file, &run);
            // Files of earlier versions do not say it, and were written to again.
            let noted_at = text.started_at.and_then(|time| u64::try_from(time.0).ok());
            let noted_at = noted_at.map(|time| SystemTime::UNIX_EPOCH + Duration::from_millis(time));
            let of_file = || entry.metadata().and_then(|file| file.created().or_else(|_| file.modified()));
            let started_at = noted_at.or_else(|| of_file().ok());
            let (service, attempts) = (text.service.clone(), Vec::new());
            let submitted_nothing = !is_alive && text.has_no_attempts();
            let run =
                UnknownRun { run, lock_file, started_at, is_alive, service, attempts, submitted_nothing };
            unknown.push((run, text));
        }
        if unknown.is_empty() {
            return Ok(Vec::new());
        }
        // Read after the files: a run is on record before it creates its file, and an attempt before the file names it.
        let connection = self.connection();
        let (mut runs, mut adopted) = (Vec::new(), None);
        for (run, text) in unknown {
            let unrecorded = unrecorded_attempts(&connection, &text, &mut adopted);
            let attempts = unrecorded.map_err(|error| self.sqlite(error))?;
            if !is_on_record(&connection, &run.run, &text, &attempts).map_err(|error| self.sqlite(error))? {
                runs.push(UnknownRun { attempts, ..run });
            }
        }
        runs.sort_by(|left, right| left.run.as_str().cmp(right.run.as_str()));
        Ok(runs)
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

    /// The first twelve digits of every key whose work is on record, as file names have them: an attempt holds it, or has had its video.
    /// A refusal or a failure alone is no record of a video: the ledger may be older than the attempt that followed.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn short_keys(&self) -> Result<HashSet<String>, LedgerError> {
        let connection = self.connection();
        let read = || {
            let mut statement = connection
                .prepare(concat!("SELECT DISTINCT substr(key, 1, 12) FROM attempts WHERE ", has_work!()))?;
            statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<HashSet<String>>>()
        };
        read().map_err(|error| self.sqlite(error))
    }

    /// Whether work with this key is on record, as [`Ledger::short_keys`] counts it.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub(crate) fn has_work(&self, key: &str) -> Result<bool, LedgerError> {
        let connection = self.connection();
        let read = || {
            connection
                .prepare_cached(concat!("SELECT 1 FROM attempts WHERE key = ?1 AND ", has_work!()))?
                .exists([key])
        };
        read().map_err(|error| self.sqlite(error))
    }
}

/// The attempts that a lock file names and that are not on record, nor was the work with their keys adopted since the run began.
fn unrecorded_attempts(
    connection: &Connection,
    text: &LockFileText,
    adopted: &mut Option<AdoptedKeys>,
) -> rusqlite::Result<Vec<NotedAttempt>> {
    let mut attempt = connection.prepare_cached("SELECT 1 FROM attempts WHERE id = ?1")?;
    let mut unrecorded = Vec::new();
    for noted in &text.attempts {
        if attempt.exists([noted.attempt.as_str()])? {
            continue;
        }
        let adopted = match adopted {
            Some(adopted) => adopted,
            None => adopted.insert(AdoptedKeys::read(connection)?),
        };
        if text.started_at.is_none_or(|started_at| !adopted.has_since(&noted.key, started_at)) {
            unrecorded.push(noted.clone());
        }
    }
    Ok(unrecorded)
}

/// Whether everything that a lock file names is on record, without the attempts in `unrecorded`.
fn is_on_record(
    connection: &Connection,
    run: &RunId,
    text: &LockFileText,
    unrecorded: &[NotedAttempt],
) -> rusqlite::Result<bool> {
    let exists = |sql: &str, id: &str| connection.prepare_cached(sql)?.exists([id]);
    let is_named = |attempt: &AttemptId| text.attempts.iter().any(|noted| noted.attempt == *attempt);
    Ok(unrecorded.is_empty()
        && match &text.note {
            LockNote::None => {
                !text.attempts.is_empty() || exists("SELECT 1 FROM runs WHERE id = ?1", run.as_str())?
            }
            // Without a list it is not known what was lost.
            LockNote::LedgerReplaced => !text.attempts.is_empty(),
            LockNote::Attempt(attempt) => {
                is_named(attempt) || exists("SELECT 1 FROM attempts WHERE id = ?1", attempt.as_str())?
            }
        })
}
