//! What outlives the process: tasks in `SQLite`, media and videos in files, all below one data directory.

mod files;
mod readers;
mod schema;
mod tasks;
mod writer;

use std::{
    collections::HashSet,
    fs::{File, TryLockError},
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

pub(crate) use self::{
    files::Files,
    schema::{corrupt, database, open_database, unsigned},
};
use self::{readers::Readers, writer::Writer};
use crate::{
    digest::Digest,
    error::ServiceError,
    id::TaskId,
    keys::{Key, KeyId, good_keys},
    limits::KeyLimits,
    order::Order,
    task::{Failure, Product, Task},
};

/// How long the lock is waited for: a service that was just dropped may still be letting go of it.
const LOCK_PATIENCE: Duration = Duration::from_secs(3);

/// What went wrong with a stored thing.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum StoreError {
    #[error("the database fails: {0}")]
    Database(String),
    #[error("the store has stopped")]
    Stopped,
    #[error("{used_ms} ms of video are used of {quota_ms} ms")]
    Quota { used_ms: u64, quota_ms: u64 },
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error.to_string())
    }
}

/// A task about to be accepted.
#[derive(Debug, Clone)]
pub(crate) struct Acceptance {
    pub(crate) id: TaskId,
    pub(crate) key: KeyId,
    /// The canonical request body.
    pub(crate) request: Digest,
    pub(crate) order: Order,
    pub(crate) created_at: i64,
    pub(crate) quota_ms: Option<u64>,
}

/// The open data directory. No other process has it open, except to manage keys.
#[derive(Debug)]
pub(crate) struct Store {
    writer: Writer,
    readers: Readers,
    pub(crate) files: Arc<Files>,
    /// Held for as long as the store is open; the system lets go of it when the process dies.
    _lock: File,
}

impl Store {
    /// Opens the directory, making what is missing. Blocks: it reads and writes the disk.
    pub(crate) fn open(data: &Path) -> Result<Self, ServiceError> {
        let unusable = |source| ServiceError::DataDirectory { path: data.to_owned(), source };
        fs_err::create_dir_all(data).map_err(unusable)?;
        let lock = lock(data)?;
        let connection = open_database(data)?;
        let files = Arc::new(Files::open(data).map_err(unusable)?);
        Ok(Self { writer: Writer::start(connection)?, readers: Readers::new(data), files, _lock: lock })
    }

    /// Takes a task in; when this returns, it is on disk.
    pub(crate) async fn accept(&self, new: Acceptance) -> Result<Task, StoreError> {
        self.writer.write(move |connection| tasks::accept(connection, &new)).committed().await
    }

    pub(crate) fn started(&self, number: i64) -> Result<(), StoreError> {
        self.writer.write(move |connection| tasks::started(connection, number)).committed_blocking()
    }

    pub(crate) fn completed(
        &self,
        number: i64,
        product: Product,
        now: i64,
        expires_at: i64,
    ) -> Result<(), StoreError> {
        let work = move |connection: &_| tasks::completed(connection, number, &product, now, expires_at);
        self.writer.write(work).committed_blocking()
    }

    pub(crate) fn failed(
        &self,
        task: Task,
        progress: u8,
        failure: Failure,
        expires_at: i64,
    ) -> Result<(), StoreError> {
        let work = move |connection: &_| tasks::failed(connection, &task, progress, &failure, expires_at);
        self.writer.write(work).committed_blocking()
    }

    pub(crate) fn task(&self, id: &str) -> Result<Option<Task>, StoreError> {
        self.readers.read(|connection| tasks::by_id(connection, id))
    }

    pub(crate) fn task_of_file(&self, token: &str) -> Result<Option<Task>, StoreError> {
        self.readers.read(|connection| tasks::by_token(connection, token))
    }

    pub(crate) fn unfinished(&self) -> Result<Vec<Task>, StoreError> {
        self.readers.read(tasks::unfinished)
    }

    pub(crate) fn by_request(&self, request: &Digest) -> Result<Vec<TaskId>, StoreError> {
        self.readers.read(|connection| tasks::by_request(connection, request))
    }

    pub(crate) fn good_keys(&self, default: &KeyLimits) -> Result<Vec<(Digest, Arc<Key>)>, StoreError> {
        self.readers.read(|connection| Ok(good_keys(connection, default)?))
    }

    /// Removes what has had its time: files of expired tasks, then the tasks, and inputs that nothing needs.
    /// Blocks; a failure is logged and the rest is tried again at the next sweep.
    pub(crate) fn sweep(&self, now: i64, record: Duration) -> Result<(), StoreError> {
        let expired = self.readers.read(|connection| tasks::expired(connection, now))?;
        let mut gone = Vec::new();
        for task in &expired {
            match self.files.remove(&task.id) {
                Ok(()) => gone.push(task.number),
                Err(error) => tracing::warn!(task = %task.id, %error, "an expired file cannot be removed"),
            }
        }
        let limit = now.saturating_sub(i64::try_from(record.as_millis()).unwrap_or(i64::MAX));
        let work = move |connection: &_| {
            tasks::files_gone(connection, &gone)?;
            tasks::forget(connection, limit)
        };
        self.writer.write(work).committed_blocking()?;
        let needed: HashSet<Digest> = self
            .unfinished()?
            .iter()
            .flat_map(|task| task.order.inputs.iter().map(|input| input.digest))
            .collect();
        match self.files.sweep_inputs(&|digest| needed.contains(digest)) {
            Ok(0) => {}
            Ok(removed) => tracing::debug!(removed, "inputs of ended tasks removed"),
            Err(error) => tracing::warn!(%error, "inputs of ended tasks cannot be removed"),
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
            Err(TryLockError::WouldBlock) if begin.elapsed() > LOCK_PATIENCE => {
                return Err(ServiceError::InUse { path: data.to_owned() });
            }
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(20)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        order::{Input, Part},
        size::Size,
        task::{Status, StoredFile},
    };

    const DAY: Duration = Duration::from_hours(24);

    fn order(input: Option<Digest>) -> Order {
        let input = input.map(|digest| Input { part: Part::FirstFrame, digest, picture: None });
        Order {
            model: "m".to_owned(),
            prompt: "p".to_owned(),
            seconds: 5.0,
            size: Size { width: 854, height: 480 },
            fast: false,
            generate_audio: false,
            watermark: false,
            camera_fixed: false,
            return_last_frame: false,
            seed: 1,
            user: None,
            inputs: input.into_iter().collect(),
        }
    }

    fn accept(
        store: &Store,
        name: &str,
        input: Option<Digest>,
        quota_ms: Option<u64>,
    ) -> Result<Task, StoreError> {
        let new = Acceptance {
            id: TaskId::from_text(name),
            key: KeyId::from_text("key"),
            request: Digest::of(name.as_bytes()),
            order: order(input),
            created_at: 10,
            quota_ms,
        };
        let receipt = store.writer.write(move |connection| tasks::accept(connection, &new));
        receipt.committed_blocking()
    }

    fn product(store: &Store, task: &Task) -> Product {
        store.files.write(&store.files.video(&task.id), b"video").unwrap();
        let video = StoredFile { token: task.id.to_string(), bytes: 5, digest: Digest::of(b"video") };
        Product { video, last_frame: None }
    }

    #[test]
    fn what_was_written_is_read_and_ends_once() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let task = accept(&store, "one", None, None).unwrap();
        assert_eq!(store.task("one").unwrap().as_ref(), Some(&task));
        store.started(task.number).unwrap();
        let product = product(&store, &task);
        store.completed(task.number, product.clone(), 20, 30).unwrap();
        let ended = store.task_of_file("one").unwrap().unwrap();
        assert_eq!((ended.status, ended.progress, ended.starts), (Status::Completed, 100, 1));
        assert_eq!(ended.video, Some(product.video.clone()));
        assert!(store.completed(task.number, product, 21, 31).is_err());
        assert!(store.failed(ended, 5, Failure::new("x", "y"), 31).is_err());
        assert!(store.unfinished().unwrap().is_empty());
    }

    #[test]
    fn a_quota_holds_and_a_failure_gives_back() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let first = accept(&store, "one", None, Some(10_000)).unwrap();
        accept(&store, "two", None, Some(10_000)).unwrap();
        let refused = accept(&store, "three", None, Some(10_000)).unwrap_err();
        assert!(matches!(refused, StoreError::Quota { used_ms: 10_000, quota_ms: 10_000 }));
        assert_eq!(store.task("three").unwrap(), None);
        store.failed(first, 40, Failure::new("code", "message"), 99).unwrap();
        assert_eq!(store.task("one").unwrap().unwrap().progress, 40);
        accept(&store, "three", None, Some(10_000)).unwrap();
    }

    #[test]
    fn the_sweep_takes_files_first_and_rows_later() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let input = store.files.keep_input(b"picture").unwrap();
        let old = std::time::SystemTime::now() - 2 * DAY;
        let file = File::options().append(true).open(store.files.input(&input)).unwrap();
        file.set_modified(old).unwrap();
        let task = accept(&store, "one", Some(input), None).unwrap();
        let running = accept(&store, "two", None, None).unwrap();
        store.sweep(0, DAY).unwrap();
        assert!(store.files.input(&input).exists());
        store.started(task.number).unwrap();
        let product = product(&store, &task);
        store.completed(task.number, product, 20, 1_000).unwrap();
        store.sweep(999, DAY).unwrap();
        assert!(store.files.video(&task.id).exists());
        assert!(!store.files.input(&input).exists());
        store.sweep(1_000, DAY).unwrap();
        assert!(!store.files.video(&task.id).exists());
        assert!(store.task("one").unwrap().is_some());
        store.sweep(1_000 + 24 * 3_600_000, DAY).unwrap();
        assert_eq!(store.task("one").unwrap(), None);
        assert_eq!(store.unfinished().unwrap(), [running]);
    }

    #[test]
    fn a_newer_format_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        open_database(folder.path()).unwrap().pragma_update(None, "user_version", 99).unwrap();
        let error = Store::open(folder.path()).unwrap_err();
        assert!(matches!(error, ServiceError::Newer { found: 99, .. }), "{error}");
    }

    #[test]
    fn a_file_in_place_of_the_directory_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("taken");
        fs_err::write(&path, b"").unwrap();
        assert!(matches!(Store::open(&path), Err(ServiceError::DataDirectory { .. })));
    }
}
