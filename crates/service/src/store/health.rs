//! Whether the data directory can be written: a full disk, a directory that was removed or moved, a failing device.
//!
//! Invariant: once a write has failed, the storage counts as unavailable until a write of the same size has succeeded.

use std::{
    fs::File,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// Bytes of a trial write, at least: room for some rows and their log.
const MIN_TRIAL: usize = 256 << 10;

/// Bytes of a trial write, at most.
const MAX_TRIAL: usize = 64 << 20;

/// How often a waiting thread looks whether it has to stop.
const STOP_INTERVAL: Duration = Duration::from_millis(50);

/// Why nothing can be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StorageProblem {
    /// No space is left, or a disk quota is used up.
    Full,
    /// The directory is not the one that was opened: it was removed, moved or replaced.
    Replaced,
    /// Any other error of the file system or the database.
    Failing,
}

impl StorageProblem {
    /// In `/healthz` and the log.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Full => "storage_full",
            Self::Replaced => "storage_replaced",
            Self::Failing => "storage_failing",
        }
    }

    /// What it means, for the log.
    fn advice(self) -> &'static str {
        match self {
            Self::Full => "free space on its disk",
            Self::Replaced => "move the data directory back, or restart the service",
            Self::Failing => "check the disk and the permissions",
        }
    }

    pub(super) fn from_error(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full,
            _ => Self::Failing,
        }
    }
}

/// Watches a data directory.
#[derive(Debug)]
pub(crate) struct StorageHealth {
    folder: PathBuf,
    database: PathBuf,
    /// Of the database, where the system has one.
    identity: Option<(u64, u64)>,
    state: Mutex<HealthState>,
    recovered: Condvar,
    /// Held during a trial write: workers check at the same time, and the file has one name.
    trial: Mutex<()>,
}

#[derive(Debug, Default)]
struct HealthState {
    problem: Option<StorageProblem>,
    /// Bytes that could not be written.
    needed: usize,
}

impl StorageHealth {
    /// Watches the directory of an open database.
    pub(super) fn new(database: PathBuf) -> Self {
        let folder = database.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        let identity = identity(&database);
        Self {
            folder,
            database,
            identity,
            state: Mutex::default(),
            recovered: Condvar::new(),
            trial: Mutex::default(),
        }
    }

    /// What keeps the service from storing anything.
    pub(crate) fn problem(&self) -> Option<StorageProblem> {
        self.state().problem
    }

    /// Notes a failed write of so many bytes.
    pub(super) fn degrade(&self, problem: StorageProblem, needed: usize) {
        let mut state = self.state();
        state.needed = state.needed.max(needed);
        if state.problem != Some(problem) {
            tracing::error!(
                reason = problem.as_str(),
                folder = %self.folder.display(),
                "nothing can be stored; submissions are refused and tasks wait: {}",
                problem.advice()
            );
        }
        state.problem = Some(problem);
    }

    /// Whether the directory is still the one that was opened.
    pub(super) fn check_identity(&self) -> Result<(), StorageProblem> {
        let now = identity(&self.database);
        let is_same = if self.identity.is_some() { now == self.identity } else { self.database.exists() };
        if is_same { Ok(()) } else { Err(StorageProblem::Replaced) }
    }

    /// Looks at the directory, and while it is unavailable tries to write; `commit` writes to the database. With `suspect`,
    /// tries to write so many bytes in any case. Blocking.
    pub(super) fn check(
        &self,
        suspect: Option<usize>,
        commit: impl FnOnce() -> Result<(), StorageProblem>,
    ) -> Result<(), StorageProblem> {
        let (problem, needed_before) = {
            let state = self.state();
            (state.problem, state.needed)
        };
        let needed = suspect.or(problem.map(|_| 0)).map(|bytes| bytes.max(needed_before));
        let checked = self.check_identity().and_then(|()| match needed {
            None => Ok(()),
            Some(needed) => self.try_write(needed).and_then(|()| commit()),
        });
        match checked {
            Err(problem) => self.degrade(problem, needed.unwrap_or(0)),
            Ok(()) if problem.is_some() => {
                *self.state() = HealthState::default();
                tracing::info!("the storage is available again");
                self.recovered.notify_all();
            }
            Ok(()) => {}
        }
        checked
    }

    /// Waits until the storage is available; `false` if the thread has to stop.
    pub(crate) fn wait(&self, stop: &AtomicBool) -> bool {
        let mut state = self.state();
        while state.problem.is_some() {
            if stop.load(Ordering::Acquire) {
                return false;
            }
            let waited = self.recovered.wait_timeout(state, STOP_INTERVAL);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        !stop.load(Ordering::Acquire)
    }

    fn try_write(&self, needed: usize) -> Result<(), StorageProblem> {
        let _trial = self.trial.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.folder.join("trial.part");
        let tried = (|| {
            let mut file = File::create(&path)?;
            let chunk = [0; 8 << 10];
            for _ in 0..needed.clamp(MIN_TRIAL, MAX_TRIAL).div_ceil(chunk.len()) {
                file.write_all(&chunk)?;
            }
            file.sync_all()
        })();
        let removed = std::fs::remove_file(&path);
        tried.and(removed).map_err(|error| StorageProblem::from_error(&error))
    }

    fn state(&self) -> MutexGuard<'_, HealthState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Device and inode.
#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// Unknown on this system.
#[cfg(not(unix))]
fn identity(_path: &Path) -> Option<(u64, u64)> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(folder: &Path) -> StorageHealth {
        let database = folder.join("service.db");
        std::fs::write(&database, "").unwrap();
        StorageHealth::new(database)
    }

    #[test]
    fn degraded_storage_recovers_after_a_successful_write() {
        let folder = tempfile::tempdir().unwrap();
        let health = opened(folder.path());
        health.check(None, || panic!("nothing is tried while all is well")).unwrap();
        health.check(Some(10), || Ok(())).unwrap();
        assert_eq!(health.check(Some(10), || Err(StorageProblem::Full)), Err(StorageProblem::Full));
        assert_eq!(health.problem(), Some(StorageProblem::Full));
        assert!(!health.wait(&AtomicBool::new(true)));
        assert_eq!(health.check(None, || Err(StorageProblem::Full)), Err(StorageProblem::Full));
        assert_eq!(health.problem(), Some(StorageProblem::Full));
        health.check(None, || Ok(())).unwrap();
        assert_eq!(health.problem(), None);
        assert!(health.wait(&AtomicBool::new(false)));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn concurrent_checks_do_not_degrade_the_storage() {
        let folder = tempfile::tempdir().unwrap();
        let health = opened(folder.path());
        let checks = || (0..20).try_for_each(|_| health.check(Some(1 << 20), || Ok(())));
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(checks)).collect();
            for thread in threads {
                assert_eq!(thread.join().unwrap(), Ok(()));
            }
        });
        assert_eq!(health.problem(), None);
    }

    #[test]
    fn moved_directory_is_noticed_and_recognized_when_it_is_back() {
        let parent = tempfile::tempdir().unwrap();
        let (data, moved) = (parent.path().join("data"), parent.path().join("away"));
        std::fs::create_dir(&data).unwrap();
        let health = opened(&data);
        std::fs::rename(&data, &moved).unwrap();
        assert_eq!(health.check(None, || Ok(())), Err(StorageProblem::Replaced));
        std::fs::create_dir(&data).unwrap();
        std::fs::write(data.join("service.db"), "another").unwrap();
        #[cfg(unix)]
        assert_eq!(health.check(None, || Ok(())), Err(StorageProblem::Replaced));
        std::fs::remove_dir_all(&data).unwrap();
        std::fs::rename(&moved, &data).unwrap();
        health.check(None, || Ok(())).unwrap();
    }
}
