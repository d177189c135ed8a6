//! The durable store: tasks in `SQLite`, media and videos in files, in one data directory.

mod files;
mod schema;
mod task_rows;
mod writer;

use std::{
    collections::HashSet,
    fs::{File, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use rusqlite::Connection;

pub(crate) use self::{
    files::FileStore,
    schema::{corrupt, database, open_database, unsigned},
};
use self::{
    schema::{create_dir, open_reader},
    writer::Writer,
};
use crate::{
    config::Durability,
    digest::Digest,
    error::ServiceError,
    id::TaskId,
    keys::{Key, KeyId, active_key},
    limits::KeyLimits,
    render_spec::RenderSpec,
    task::{Failure, RenderedFiles, Task},
};

/// Timeout for the lock of the data directory: a service that was just dropped may not have released it yet.
const LOCK_TIMEOUT: Duration = Duration::from_secs(3);

/// A failed store operation.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum StoreError {
    /// After a failed commit it is unknown whether it was stored.
    #[error("the database failed: {0}")]
    Database(String),
    #[error("a file could not be written: {0}")]
    File(String),
    /// Nothing was stored.
    #[error("no space is left on the disk")]
    Full,
    /// The task has ended; its record stays as it is.
    #[error("task {0} has already ended")]
    Ended(i64),
    #[error("the store has stopped")]
    Stopped,
    #[error("{used_ms} ms of video are used of {quota_ms} ms")]
    Quota { used_ms: u64, quota_ms: u64 },
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            // A transaction that finds no room is rolled back as a whole.
            Some(rusqlite::ErrorCode::DiskFull) => Self::Full,
            _ => Self::Database(error.to_string()),
        }
    }
}

impl From<io::Error> for StoreError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full,
            _ => Self::File(error.to_string()),
        }
    }
}

/// A task to be accepted.
#[derive(Debug, Clone)]
pub(crate) struct NewTask {
    pub(crate) id: TaskId,
    pub(crate) key: KeyId,
    /// The digest of the canonical request body.
    pub(crate) request: Digest,
    pub(crate) spec: RenderSpec,
    pub(crate) created_at: i64,
    pub(crate) quota_ms: Option<u64>,
}

/// An open data directory. Other processes may open it only to manage keys.
#[derive(Debug)]
pub(crate) struct Store {
    writer: Writer,
    /// A connection of its own, so that reads never wait for a commit.
    reader: Mutex<Connection>,
    pub(crate) files: FileStore,
    /// Held while the store is open; the operating system releases it when the process dies.
    _lock: File,
}

impl Store {
    /// Opens or creates the directory. Blocking.
    pub(crate) fn open(data: &Path, durability: Durability) -> Result<Self, ServiceError> {
        let unusable = |source| ServiceError::DataDirectory { path: data.to_owned(), source };
        create_dir(data).map_err(unusable)?;
        let lock = lock(data)?;
        let connection = open_database(data, durability)?;
        let files = FileStore::open(data, durability).map_err(unusable)?;
        let reader = Mutex::new(open_reader(data).map_err(database)?);
        Ok(Self { writer: Writer::start(connection)?, reader, files, _lock: lock })
    }

    fn read<T>(&self, read: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        read(&self.reader.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Stores a task; when this returns, it is as durable as the store.
    pub(crate) async fn accept(&self, new: NewTask) -> Result<Task, StoreError> {
        self.writer.write(move |connection| task_rows::accept(connection, &new)).committed().await
    }

    pub(crate) fn started(&self, number: i64) -> Result<(), StoreError> {
        self.writer.write(move |connection| task_rows::started(connection, number)).committed_blocking()
    }

    pub(crate) fn completed(
        &self,
        number: i64,
        files: RenderedFiles,
        now: i64,
        expires_at: i64,
    ) -> Result<(), StoreError> {
        let work = move |connection: &_| task_rows::completed(connection, number, &files, now, expires_at);
        self.writer.write(work).committed_blocking()
    }

    pub(crate) fn failed(
        &self,
        task: Task,
        progress: u8,
        failure: Failure,
        expires_at: i64,
    ) -> Result<(), StoreError> {
        let work = move |connection: &_| task_rows::failed(connection, &task, progress, &failure, expires_at);
        self.writer.write(work).committed_blocking()
    }

    pub(crate) fn task(&self, id: &str) -> Result<Option<Task>, StoreError> {
        self.read(|connection| task_rows::by_id(connection, id))
    }

    pub(crate) fn task_of_file(&self, token: &str) -> Result<Option<Task>, StoreError> {
        self.read(|connection| task_rows::by_token(connection, token))
    }

    pub(crate) fn unfinished(&self) -> Result<Vec<Task>, StoreError> {
        self.read(task_rows::unfinished)
    }

    pub(crate) fn by_request(&self, request: &Digest) -> Result<Vec<TaskId>, StoreError> {
        self.read(|connection| task_rows::by_request(connection, request))
    }

    pub(crate) fn active_key(&self, digest: &Digest, default: &KeyLimits) -> Result<Option<Key>, StoreError> {
        self.read(|connection| Ok(active_key(connection, digest, default)?))
    }

    /// Deletes files of expired tasks, purges old task records, and deletes inputs without an unfinished task. Blocking.
    /// Failures to delete are logged and retried at the next sweep.
    pub(crate) fn sweep(&self, now: i64, record: Duration) -> Result<(), StoreError> {
        let expired = self.read(|connection| task_rows::expired(connection, now))?;
        let mut deleted = Vec::new();
        for task in &expired {
            match self.files.remove(&task.id) {
                Ok(()) => deleted.push(task.number),
                Err(error) => tracing::warn!(task = %task.id, %error, "an expired file cannot be deleted"),
            }
        }
        let limit = now.saturating_sub(i64::try_from(record.as_millis()).unwrap_or(i64::MAX));
        let work = move |connection: &_| {
            task_rows::files_gone(connection, &deleted)?;
            task_rows::purge(connection, limit)
        };
        self.writer.write(work).committed_blocking()?;
        let needed: HashSet<Digest> = self
            .unfinished()?
            .iter()
            .flat_map(|task| task.spec.inputs.iter().map(|input| input.digest))
            .collect();
        match self.files.sweep_inputs(&|digest| needed.contains(digest)) {
            Ok(0) => {}
            Ok(deleted) => tracing::debug!(deleted, "inputs of ended tasks deleted"),
            Err(error) => tracing::warn!(%error, "inputs of ended tasks cannot be deleted"),
        }
        Ok(())
    }
}

fn lock(data: &Path) -> Result<File, ServiceError> {
    let path: PathBuf = data.join("lock");
    let unusable = |source| ServiceError::DataDirectory { path: data.to_owned(), source };
    let file = File::options().create(true).append(true).open(path).map_err(unusable)?;
    let begin = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(source)) => return Err(unusable(source)),
            Err(TryLockError::WouldBlock) if begin.elapsed() > LOCK_TIMEOUT => {
                return Err(ServiceError::InUse { path: data.to_owned() });
            }
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(20)),
        }
    }
}

#[cfg(test)]
mod tests;
