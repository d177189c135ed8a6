//! Opens a ledger.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rusqlite::Connection;

use super::{Ledger, LedgerError, schema};
use crate::artifact_store::ArtifactStore;
use crate::file_id::FileId;

impl Ledger {
    /// Opens the ledger at `file`, creating it and its folder if needed. `base` is the folder that stored paths are relative to.
    ///
    /// # Errors
    /// When the file cannot be opened, or is not a ledger of this version.
    pub fn open(file: &Path, base: &Path) -> Result<Self, LedgerError> {
        Self::open_with(file, base, "full")
    }

    pub(super) fn open_with(file: &Path, base: &Path, synchronous: &str) -> Result<Self, LedgerError> {
        let folder = file.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        fs_err::create_dir_all(&folder)?;
        let wrap = |source| LedgerError::Sqlite { path: file.to_owned(), source };
        schema::ensure_ledger(file)?;
        let mut connection = Connection::open(file).map_err(wrap)?;
        schema::configure(&mut connection, file, synchronous)?;
        let store = ArtifactStore::new(folder.join("artifacts"));
        let is_synced = synchronous == "full";
        let ledger = Self {
            connection: Mutex::new(connection),
            base: base.to_owned(),
            folder,
            store,
            file: file.to_owned(),
            file_id: FileId::new(&fs_err::metadata(file)?),
            is_synced,
        };
        #[cfg(feature = "failpoints")]
        if let Some(pages) = crate::failpoint::max_pages() {
            ledger.limit_pages(pages)?;
        }
        Ok(ledger)
    }

    /// Opens the ledger at `file` if it exists; `None` otherwise, and nothing is created.
    ///
    /// # Errors
    /// As [`Ledger::open`].
    pub fn open_existing(file: &Path, base: &Path) -> Result<Option<Self>, LedgerError> {
        if file.exists() { Self::open(file, base).map(Some) } else { Ok(None) }
    }
}
