//! Watches that the ledger is still the file that was opened. SQLite goes on writing to a file that was removed or replaced, and what is
//! written there is lost: the next run would pay for everything again.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::LedgerError;
use crate::file_id::FileId;

/// The identity and size of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileState {
    id: FileId,
    /// Names of the file, where the system counts them.
    links: u64,
    bytes: u64,
}

impl FileState {
    fn read(path: &Path) -> Option<Self> {
        std::fs::metadata(path).ok().map(|metadata| Self::new(&metadata))
    }

    #[cfg(unix)]
    fn new(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self { id: FileId::new(metadata), links: metadata.nlink(), bytes: metadata.len() }
    }

    #[cfg(not(unix))]
    fn new(metadata: &Metadata) -> Self {
        Self { id: FileId::new(metadata), links: 1, bytes: metadata.len() }
    }
}

/// The files of an open ledger: the database, and its write-ahead log and the index of that once there are any. The index (`-shm`) holds
/// nothing that is to be kept, but the locks of the log are on it: processes with two of them overwrite each other's writes.
#[derive(Debug)]
pub(super) struct FileWatch {
    file: PathBuf,
    log: PathBuf,
    index: PathBuf,
    states: Mutex<FileStates>,
}

#[derive(Debug, Clone, Copy)]
struct FileStates {
    file: Option<FileState>,
    log: Option<FileState>,
    index: Option<FileState>,
}

impl FileStates {
    fn read(file: &Path, log: &Path, index: &Path) -> Self {
        Self { file: FileState::read(file), log: FileState::read(log), index: FileState::read(index) }
    }
}

impl FileWatch {
    /// Watches the database at `file`, which is open.
    pub(super) fn new(file: &Path) -> Self {
        let (log, index) = (file.with_extension("db-wal"), file.with_extension("db-shm"));
        let states = Mutex::new(FileStates::read(file, &log, &index));
        Self { file: file.to_owned(), log, index, states }
    }

    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Checks that the files are those that were opened. The log exists from the first write on, where the file system has one, and so does its
    /// index: SQLite removes both after the last connection only.
    ///
    /// # Errors
    /// [`LedgerError::Replaced`] and [`LedgerError::Linked`].
    pub(super) fn check(&self) -> Result<(), LedgerError> {
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        let now = FileStates::read(&self.file, &self.log, &self.index);
        let replaced = |what: &'static str| Err(LedgerError::Replaced { path: self.file.clone(), what });
        match (states.file, now.file) {
            (_, None) => return replaced("was removed or moved"),
            (Some(before), Some(now)) if before.id != now.id => {
                return replaced("was replaced by another file");
            }
            (Some(before), Some(now)) if now.bytes < before.bytes => {
                return replaced("was truncated or overwritten");
            }
            (_, Some(now)) if now.links != 1 => {
                return Err(LedgerError::Linked { path: self.file.clone() });
            }
            _ => {}
        }
        match (states.log, now.log) {
            (Some(_), None) => return replaced("has lost its log (-wal)"),
            (Some(before), Some(now)) if before.id != now.id => return replaced("has another log (-wal)"),
            // It never shrinks while it is open: no checkpoint of this program truncates it.
            (Some(before), Some(now)) if now.bytes < before.bytes => {
                return replaced("has a log (-wal) that was truncated");
            }
            _ => {}
        }
        // SQLite changes its size.
        match (states.index, now.index) {
            (Some(_), None) => return replaced("has lost the index of its log (-shm)"),
            (Some(before), Some(now)) if before.id != now.id => {
                return replaced("has another index of its log (-shm)");
            }
            _ => {}
        }
        *states = now;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::FileWatch;

    fn open(folder: &std::path::Path) -> (Connection, FileWatch) {
        let file = folder.join("ledger.db");
        let connection = Connection::open(&file).unwrap();
        connection.pragma_update(None, "journal_mode", "wal").unwrap();
        connection.execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1)").unwrap();
        (connection, FileWatch::new(&file))
    }

    #[test]
    fn check_accepts_writes_and_checkpoints() {
        let folder = tempfile::tempdir().unwrap();
        let (connection, watch) = open(folder.path());
        for _ in 0..3 {
            watch.check().unwrap();
            connection.execute_batch("INSERT INTO t VALUES (2); PRAGMA wal_checkpoint(PASSIVE)").unwrap();
        }
        watch.check().unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn check_reports_every_way_to_lose_the_ledger() {
        type Damage = fn(&std::path::Path);
        let damages: [(Damage, &str); 9] = [
            (|file| std::fs::remove_file(file.with_extension("db-shm")).unwrap(), "lost the index"),
            (
                |file| {
                    std::fs::remove_file(file.with_extension("db-shm")).unwrap();
                    std::fs::write(file.with_extension("db-shm"), "").unwrap();
                },
                "another index",
            ),
            (|file| std::fs::remove_file(file).unwrap(), "removed"),
            (|file| std::fs::rename(file, file.with_extension("old")).unwrap(), "removed or moved"),
            (
                |file| {
                    std::fs::copy(file, file.with_extension("new")).unwrap();
                    std::fs::rename(file.with_extension("new"), file).unwrap();
                },
                "replaced",
            ),
            (|file| std::fs::write(file, "").unwrap(), "truncated"),
            (|file| std::fs::hard_link(file, file.with_extension("copy")).unwrap(), "hard link"),
            (|file| std::fs::remove_file(file.with_extension("db-wal")).unwrap(), "log"),
            (
                |file| std::fs::write(file.with_extension("db-wal"), "").unwrap(),
                "log (-wal) that was truncated",
            ),
        ];
        for (damage, words) in damages {
            let folder = tempfile::tempdir().unwrap();
            let (_connection, watch) = open(folder.path());
            watch.check().unwrap();
            damage(&folder.path().join("ledger.db"));
            let error = watch.check().unwrap_err().to_string();
            assert!(error.contains(words), "{words}: {error}");
        }
    }
}
