//! The files of the data directory: inputs named by the digest of their content, videos and last frames named by task id.
//!
//! Invariant: a file under its final name is complete. It is written under a temporary name and renamed before any row refers to it; where
//! the store survives a power cut ([`Durability`]), the file and its directory are synced.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use fs_err as fs;

use super::schema::create_dir;
use crate::{config::Durability, digest::Digest, id::TaskId};

/// The extension of files being written.
const PARTIAL_EXTENSION: &str = "part";

/// Minimum age at which an unreferenced input is deleted: the request that it belongs to may not be accepted yet.
const MIN_UNREFERENCED_AGE: Duration = Duration::from_hours(1);

/// The file directories below the data directory.
#[derive(Debug)]
pub(crate) struct FileStore {
    inputs: PathBuf,
    videos: PathBuf,
    frames: PathBuf,
    /// Makes temporary file names unique.
    writes: AtomicU64,
    /// Held while an input is reused or deleted, so that these do not race.
    input_lock: Mutex<()>,
    durability: Durability,
}

impl FileStore {
    /// Creates the directories and deletes files left partially written by a crash.
    pub(super) fn open(data: &Path, durability: Durability) -> io::Result<Self> {
        let files = Self {
            inputs: data.join("inputs"),
            videos: data.join("videos"),
            frames: data.join("frames"),
            writes: AtomicU64::new(0),
            input_lock: Mutex::new(()),
            durability,
        };
        for folder in [&files.inputs, &files.videos, &files.frames] {
            create_dir(folder)?;
            for entry in fs::read_dir(folder)? {
                let path = entry?.path();
                if path.extension().is_some_and(|extension| extension == PARTIAL_EXTENSION) {
                    fs::remove_file(path)?;
                }
            }
        }
        // Working directories of external renderers, left by a crash.
        match fs::remove_dir_all(data.join(renderer::WORKING_DIR)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(files),
        }
    }

    pub(crate) fn input(&self, digest: &Digest) -> PathBuf {
        self.inputs.join(digest.to_string())
    }

    pub(crate) fn video(&self, id: &TaskId) -> PathBuf {
        self.videos.join(format!("{id}.mp4"))
    }

    pub(crate) fn last_frame(&self, id: &TaskId) -> PathBuf {
        self.frames.join(format!("{id}.png"))
    }

    /// Stores an input; equal content is stored once.
    pub(crate) fn store_input(&self, bytes: &[u8]) -> io::Result<Digest> {
        let digest = Digest::sha256(bytes);
        let path = self.input(&digest);
        {
            let _guard = self.input_lock.lock().unwrap_or_else(PoisonError::into_inner);
            if let Ok(file) = std::fs::File::options().append(true).open(&path) {
                // Renews its age, so that a sweep does not delete it before the request is accepted.
                file.set_modified(SystemTime::now())?;
                return Ok(digest);
            }
        }
        self.write(&path, bytes)?;
        Ok(digest)
    }

    /// Writes a file atomically, and as durably as the store is, replacing an older one.
    pub(crate) fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let number = self.writes.fetch_add(1, Ordering::Relaxed);
        let partial = path.with_extension(format!("{number}.{PARTIAL_EXTENSION}"));
        let written = (|| {
            let mut file = fs::File::create(&partial)?;
            file.write_all(bytes)?;
            let is_synced = self.durability == Durability::PowerCut;
            if is_synced {
                file.sync_all()?;
            }
            drop(file);
            fs::rename(&partial, path)?;
            if is_synced { sync_parent_dir(path) } else { Ok(()) }
        })();
        if written.is_err() {
            // Report the first error; the next start deletes the leftover.
            drop(fs::remove_file(&partial));
        }
        written
    }

    /// Deletes the files of a task, if present.
    pub(super) fn remove(&self, id: &TaskId) -> io::Result<()> {
        for path in [self.video(id), self.last_frame(id)] {
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Deletes inputs that no unfinished task needs; returns how many.
    pub(super) fn sweep_inputs(&self, needed: &dyn Fn(&Digest) -> bool) -> io::Result<usize> {
        let mut deleted = 0;
        for entry in fs::read_dir(&self.inputs)? {
            let entry = entry?;
            let Some(digest) = entry.file_name().to_str().and_then(Digest::from_hex) else { continue };
            if needed(&digest) {
                continue;
            }
            let _guard = self.input_lock.lock().unwrap_or_else(PoisonError::into_inner);
            let age = entry.metadata()?.modified()?.elapsed().unwrap_or_default();
            if age > MIN_UNREFERENCED_AGE {
                fs::remove_file(entry.path())?;
                deleted += 1;
            }
        }
        Ok(deleted)
    }
}

/// Makes a rename durable by syncing its directory, where the system supports that.
fn sync_parent_dir(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) if cfg!(unix) => fs::File::open(folder)?.sync_all(),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_inputs_share_a_file_and_partial_files_are_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let files = FileStore::open(folder.path(), Durability::PowerCut).unwrap();
        let hash = files.store_input(b"image").unwrap();
        assert_eq!(files.store_input(b"image").unwrap(), hash);
        assert_eq!(fs::read(files.input(&hash)).unwrap(), b"image");
        fs::write(folder.path().join("videos/task_x.7.part"), b"half").unwrap();
        let files = FileStore::open(folder.path(), Durability::PowerCut).unwrap();
        assert_eq!(fs::read_dir(folder.path().join("videos")).unwrap().count(), 0);
        // New inputs stay even if unreferenced.
        assert_eq!(files.sweep_inputs(&|_| false).unwrap(), 0);
        let long_ago = SystemTime::now() - 2 * MIN_UNREFERENCED_AGE;
        let input = std::fs::File::options().append(true).open(files.input(&hash)).unwrap();
        input.set_modified(long_ago).unwrap();
        assert_eq!(files.sweep_inputs(&|_| true).unwrap(), 0);
        assert_eq!(files.sweep_inputs(&|_| false).unwrap(), 1);
    }

    #[test]
    fn failed_write_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let files = FileStore::open(folder.path(), Durability::PowerCut).unwrap();
        let path = folder.path().join("videos/taken.mp4");
        fs::create_dir(&path).unwrap();
        fs::write(path.join("inside"), b"").unwrap();
        assert!(files.write(&path, b"new").is_err());
        assert!(path.join("inside").exists());
        assert_eq!(fs::read_dir(folder.path().join("videos")).unwrap().count(), 1);
    }
}
