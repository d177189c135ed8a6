//! The durable ledger: what was intended, submitted, finished and downloaded, in one SQLite file that several runs may share.
//!
//! Every event of a run is appended in order; in the same transaction the `attempts`, `artifacts` and `films` tables are brought up to date.
//! The file is in WAL mode with `synchronous=FULL`: when [`Ledger::append`] returns, the events survive a power cut. Events that become known
//! together are appended in one transaction, which is what makes durability affordable.
//!
//! Invariant: at most one attempt per key is live (intended, ambiguous, submitted or completed); a unique index holds it, across processes.
//! Invariant: nothing secret is stored: requests are kept as digests, and the API key never comes near.

mod append;
mod find;
mod history;
mod last_run;
mod lease;
mod reading;
mod recorded;
mod resolve;
mod salts;
mod schema;
mod spending;
mod states;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;
use scheduler::RunId;

pub use append::Kept;
pub(crate) use find::Questions;
pub use find::{AttemptRow, AttemptState};
pub use lease::Lease;
pub use reading::{OpenAttempt, Reading, RunRow};
pub use recorded::RecordedAttempt;
pub use resolve::Resolution;
pub use salts::Salts;

use crate::store::Store;

/// The ledger beside a workflow. Cheap to share: wrap it in an `Arc`.
#[derive(Debug)]
pub struct Ledger {
    connection: Mutex<Connection>,
    /// The folder that artifact paths are kept relative to, so that a project can be moved as a whole.
    base: PathBuf,
    /// The folder of the ledger file, where runs keep their lock files.
    folder: PathBuf,
    store: Store,
}

/// What can go wrong with the ledger. All of it is fatal for a run: without the ledger nothing may be submitted.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The folder or a lock file could not be made or opened.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// SQLite refused.
    #[error("the ledger {path} cannot be used: {source}")]
    Sqlite {
        /// The ledger file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The file was written by a later version of this program.
    #[error(
        "the ledger {path} has format {found}, and this program knows formats up to {known}; use the version that wrote it, or a later one"
    )]
    TooNew {
        /// The ledger file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The latest format that we know.
        known: i64,
    },
    /// The file was written by an earlier version of this program, and is only looked at.
    #[error(
        "the ledger {path} has format {found}, and this program looks at format {known} only; the next `runner run` or `runner plan` here brings it up to date"
    )]
    TooOld {
        /// The ledger file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The format that we know.
        known: i64,
    },
    /// An attempt was named that is not there or not ambiguous.
    #[error("{0}")]
    NotResolvable(String),
}

impl LedgerError {
    /// Whether another process was in the way for too long; looking again may do.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        match self {
            Self::Sqlite { source, .. } => {
                source.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
            }
            Self::Io(_) | Self::TooNew { .. } | Self::TooOld { .. } | Self::NotResolvable(_) => false,
        }
    }
}

impl Ledger {
    /// Opens the ledger at `file`, making it and its folder if need be. `base` is the folder that artifact paths are kept relative to.
    ///
    /// # Errors
    /// When the file cannot be opened, is not a ledger, or is of a later format.
    pub fn open(file: &Path, base: &Path) -> Result<Self, LedgerError> {
        Self::open_with(file, base, "full")
    }

    /// As [`Ledger::open`], but leaves it to the operating system when to write: survives the end of the process, not a power cut. For simulations of
    /// thousands of runs.
    ///
    /// # Errors
    /// As [`Ledger::open`].
    pub fn open_without_sync(file: &Path, base: &Path) -> Result<Self, LedgerError> {
        Self::open_with(file, base, "off")
    }

    fn open_with(file: &Path, base: &Path, synchronous: &str) -> Result<Self, LedgerError> {
        let folder = file.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        fs_err::create_dir_all(&folder)?;
        let wrap = |source| LedgerError::Sqlite { path: file.to_owned(), source };
        schema::refuse_later(file)?;
        let mut connection = Connection::open(file).map_err(wrap)?;
        schema::prepare(&mut connection, file, synchronous)?;
        let store = Store::new(folder.join("artifacts"));
        let ledger = Self { connection: Mutex::new(connection), base: base.to_owned(), folder, store };
        #[cfg(feature = "failpoints")]
        if let Some(pages) = crate::failpoint::pages() {
            ledger.bound_pages(pages)?;
        }
        Ok(ledger)
    }

    /// Opens the ledger at `file` if it is there, for looking only; `None` when there is none yet, and nothing is made.
    ///
    /// # Errors
    /// As [`Ledger::open`].
    pub fn open_existing(file: &Path, base: &Path) -> Result<Option<Self>, LedgerError> {
        if file.exists() { Self::open(file, base).map(Some) } else { Ok(None) }
    }

    /// Lets the file grow to so many pages and no further, for as long as it is open here: what a full disk is like, for tests.
    ///
    /// # Errors
    /// When SQLite refuses.
    #[cfg(feature = "failpoints")]
    pub fn bound_pages(&self, pages: u32) -> Result<(), LedgerError> {
        self.connection()
            .pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))
            .map_err(|error| self.sqlite(error))
    }

    /// Whether the process of `run` is alive now.
    #[must_use]
    pub fn is_alive(&self, run: &RunId) -> bool {
        lease::is_held(&self.folder, run)
    }

    /// Where videos are kept by their content, beside the ledger.
    #[must_use]
    pub fn store(&self) -> Store {
        self.store.clone()
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A panic while the lock was held leaves no half-made state behind: SQLite rolls an open transaction back.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sqlite(&self, source: rusqlite::Error) -> LedgerError {
        LedgerError::Sqlite { path: self.folder.clone(), source }
    }

    /// A path as it is stored: relative to the base where it is below it, with `/` between its parts.
    fn stored_path(&self, path: &Path) -> String {
        path.strip_prefix(&self.base).unwrap_or(path).to_string_lossy().into_owned()
    }

    fn real_path(&self, stored: &str) -> PathBuf {
        self.base.join(stored)
    }
}
