//! The durable ledger: an event log with derived tables, in one SQLite file that several runs may share.
//!
//! Each transaction appends events and updates the tables derived from them ([`derived_tables`]): attempts, artifacts, films, renders, totals. The file is in WAL mode with
//! `synchronous=FULL`: when [`Ledger::append`] returns, intents, task ids and all that a payment depends on survive a power cut; downloads and
//! films do with the next of them, or at the end of the run (`append::needs_sync`). Events that arrive together share a transaction.
//!
//! Invariant: at most one attempt holds a key ([`AttemptState::holds_key`]); a unique index enforces it across processes.
//! Invariant: no secret is stored. A request is stored as a digest, and the API key is never passed to this module.

mod accounts;
mod append;
mod attempt_records;
mod attempt_row;
mod attempt_state;
mod derived_tables;
mod fetch_record;
mod keys;
mod observed_limits;
mod open;
mod open_attempts;
mod plan_arguments;
mod plan_keys;
mod queries;
mod read_only;
mod renders;
mod resolve;
mod run_lock;
mod run_record;
mod run_spending;
mod schema;
mod service_history;
mod sql;
#[cfg(feature = "failpoints")]
mod testing;
mod totals;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, Row};

pub use append::Persist;
pub use attempt_records::AttemptRecord;
pub use attempt_row::AttemptRow;
pub use open_attempts::{OpenAttempt, OpenTaskState, PresentAttempt};
pub use plan_arguments::PlanArguments;
pub use plan_keys::{PlanKeys, TaskOwnership};
pub(crate) use queries::LedgerSnapshot;
pub use queries::WorkAtServices;
pub use read_only::{LedgerReader, RunRow};
pub use renders::RecordedRender;
pub use run_lock::{RecordedServices, RunLock};
pub use totals::UnpricedInFlight;

use crate::artifact_store::ArtifactStore;
use crate::file_id::FileId;

/// The ledger of a project, open for reading and writing.
#[derive(Debug)]
pub struct Ledger {
    connection: Mutex<Connection>,
    /// The folder that stored paths are relative to, so that a project can be moved.
    base: PathBuf,
    /// The folder of the ledger file and of the lock files of runs.
    folder: PathBuf,
    store: ArtifactStore,
    /// The file that is open, by its name and its identity.
    file: PathBuf,
    file_id: FileId,
    /// Whether commits are synced at all.
    is_synced: bool,
}

/// An error of the ledger. Each is fatal for a run: without the ledger nothing may be submitted.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The folder or a lock file could not be created or opened.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// An error of SQLite.
    #[error("the ledger {path} cannot be used: {source}")]
    Sqlite {
        path: PathBuf,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
    /// The file is something else, or a ledger of another version of this program. Nothing was written to it.
    #[error(
        "{path} is not a ledger of this version of the program: move it away, and `runner ledger adopt` records the videos that are here in a new one"
    )]
    OtherFormat { path: PathBuf },
    /// The file is not the one that was opened any more: what is written to it is lost.
    #[error(
        "the ledger {path} {what} while it was in use: nothing more is submitted, and what was recorded since may be lost"
    )]
    Replaced {
        path: PathBuf,
        /// What happened to it.
        what: &'static str,
    },
    /// The attempt to resolve does not exist or needs no resolution.
    #[error("{0}")]
    NotResolvable(String),
    /// Records that are not in a ledger cannot be read.
    #[error(transparent)]
    OtherRecords(Box<dyn std::error::Error + Send + Sync>),
}

impl LedgerError {
    /// Whether another process held the database lock for too long; a retry may succeed.
    pub fn is_busy(&self) -> bool {
        match self {
            Self::Sqlite { source, .. } => {
                source.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
            }
            Self::Io(_)
            | Self::OtherFormat { .. }
            | Self::Replaced { .. }
            | Self::NotResolvable(_)
            | Self::OtherRecords(_) => false,
        }
    }

    /// Whether the file is not the one that was opened, or no database any more: what was recorded may be lost.
    pub(crate) fn is_ledger_gone(&self) -> bool {
        match self {
            Self::Replaced { .. } => true,
            Self::Sqlite { source, .. } => matches!(
                source.sqlite_error_code(),
                Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase)
            ),
            Self::Io(_) | Self::OtherFormat { .. } | Self::NotResolvable(_) | Self::OtherRecords(_) => false,
        }
    }

    /// Whether a stored value could not be decoded. The ledger as a whole can be read.
    pub(crate) fn is_malformed_record(&self) -> bool {
        use rusqlite::Error as E;
        match self {
            Self::Sqlite { source, .. } => matches!(
                source,
                E::FromSqlConversionFailure(..)
                    | E::IntegralValueOutOfRange(..)
                    | E::InvalidColumnType(..)
                    | E::Utf8Error(..)
            ),
            Self::Io(_)
            | Self::OtherFormat { .. }
            | Self::Replaced { .. }
            | Self::NotResolvable(_)
            | Self::OtherRecords(_) => false,
        }
    }
}

impl Ledger {
    /// Whether further commits are synced. In WAL mode those that are not are synced with the next one that is.
    fn sync_commits(&self, connection: &Connection, is_synced: bool) -> rusqlite::Result<()> {
        let level = if is_synced { "full" } else { "normal" };
        if self.is_synced { connection.pragma_update(None, "synchronous", level) } else { Ok(()) }
    }

    /// The artifact store beside the ledger.
    pub fn store(&self) -> ArtifactStore {
        self.store.clone()
    }

    /// The cause of an error that follows from the loss of the file, such as one about its log; otherwise the error itself.
    pub(crate) fn cause(&self, error: LedgerError) -> LedgerError {
        if error.is_ledger_gone() { error } else { self.check_file().err().unwrap_or(error) }
    }

    /// Checks that the file is the one that was opened. SQLite goes on writing to one that was removed or replaced, and what is written there is
    /// lost: the next run would pay for it again.
    fn check_file(&self) -> Result<(), LedgerError> {
        let what = match std::fs::metadata(&self.file) {
            Err(_) => "was removed or moved",
            Ok(now) if FileId::new(&now) != self.file_id => "was replaced by another file",
            Ok(now) if now.len() == 0 => "was emptied",
            Ok(_) => return Ok(()),
        };
        Err(LedgerError::Replaced { path: self.file.clone(), what })
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // After a panic the state is consistent: SQLite rolls an open transaction back.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What `read` makes of each row of a query.
    fn rows<T, R: FromIterator<T>>(
        &self,
        query: &str,
        parameters: impl rusqlite::Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<R, LedgerError> {
        sql::rows(&self.connection(), query, parameters, read).map_err(|error| self.sqlite(error))
    }

    fn sqlite(&self, source: rusqlite::Error) -> LedgerError {
        // See `sql::one_row`. What may be missing is read as an `Option`.
        if matches!(source, rusqlite::Error::StatementChangedRows(_) | rusqlite::Error::QueryReturnedNoRows) {
            return self.missing_records();
        }
        LedgerError::Sqlite { path: self.folder.clone(), source }
    }

    /// Records of a live run are missing in the file that it has opened.
    fn missing_records(&self) -> LedgerError {
        let what = "has lost records of a live run (an earlier state was restored into it)";
        LedgerError::Replaced { path: self.file.clone(), what }
    }

    /// The stored form of a path: relative to the base where it is below it.
    fn stored_path(&self, path: &Path) -> String {
        path.strip_prefix(&self.base).unwrap_or(path).to_string_lossy().into_owned()
    }
}
