//! The files of the data directory: inputs under the names of their contents, videos and last frames under
//! their task's id.
//!
//! Invariant: a file under its final name is whole. It is written under a temporary name, synced, renamed, and
//! the directory is synced, before any row speaks of it.

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

use crate::{digest::Digest, id::TaskId};

/// How a file that is being written ends.
const PART: &str = "part";

/// An input that nothing refers to is kept this long: its request may be about to be accepted.
const INPUT_GRACE: Duration = Duration::from_hours(1);

/// The folders below the data directory.
#[derive(Debug)]
pub(crate) struct Files {
    inputs: PathBuf,
    videos: PathBuf,
    frames: PathBuf,
    /// Sets files being written apart from each other.
    writes: AtomicU64,
    /// Held while an input is found or removed, so that one that is being found is not removed.
    input_care: Mutex<()>,
}

impl Files {
    /// Makes the folders and clears away what an earlier life left half written.
    pub(super) fn open(data: &Path) -> io::Result<Self> {
        let files = Self {
            inputs: data.join("inputs"),
            videos: data.join("videos"),
            frames: data.join("frames"),
            writes: AtomicU64::new(0),
            input_care: Mutex::new(()),
        };
        for folder in [&files.inputs, &files.videos, &files.frames] {
            fs::create_dir_all(folder)?;
            for entry in fs::read_dir(folder)? {
                let path = entry?.path();
                if path.extension().is_some_and(|extension| extension == PART) {
                    fs::remove_file(path)?;
                }
            }
        }
        // What programs that rendered were working on when the service died.
        match fs::remove_dir_all(data.join(renderer::WORKING_FOLDER)) {
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

    /// Keeps an input; equal bytes are kept once.
    pub(crate) fn keep_input(&self, bytes: &[u8]) -> io::Result<Digest> {
        let digest = Digest::of(bytes);
        let path = self.input(&digest);
        {
            let _care = self.input_care.lock().unwrap_or_else(PoisonError::into_inner);
            if let Ok(file) = std::fs::File::options().append(true).open(&path) {
                // Young again, so that the sweeper leaves it to the request that is on its way.
                file.set_modified(SystemTime::now())?;
                return Ok(digest);
            }
        }
        self.write(&path, bytes)?;
        Ok(digest)
    }

    /// Puts a whole file in place, durably; an older one of that name is replaced.
    pub(crate) fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let number = self.writes.fetch_add(1, Ordering::Relaxed);
        let part = path.with_extension(format!("{number}.{PART}"));
        let written = (|| {
            let mut file = fs::File::create(&part)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            drop(file);
            fs::rename(&part, path)?;
            sync_folder(path)
        })();
        if written.is_err() {
            // The first error is the one to tell; what is left is cleared away at the next start.
            drop(fs::remove_file(&part));
        }
        written
    }

    /// Removes a task's files, as far as they are there.
    pub(super) fn remove(&self, id: &TaskId) -> io::Result<()> {
        for path in [self.video(id), self.last_frame(id)] {
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Removes inputs that no unfinished task needs; returns how many.
    pub(super) fn sweep_inputs(&self, needed: &dyn Fn(&Digest) -> bool) -> io::Result<usize> {
        let mut removed = 0;
        for entry in fs::read_dir(&self.inputs)? {
            let entry = entry?;
            let Some(digest) = entry.file_name().to_str().and_then(Digest::from_hex) else { continue };
            if needed(&digest) {
                continue;
            }
            let _care = self.input_care.lock().unwrap_or_else(PoisonError::into_inner);
            let age = entry.metadata()?.modified()?.elapsed().unwrap_or_default();
            if age > INPUT_GRACE {
                fs::remove_file(entry.path())?;
                removed += 1;
            }
        }
        Ok(removed)
    }
}

/// Makes a rename in a folder durable, where the system lets folders be synced.
fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) if cfg!(unix) => fs::File::open(folder)?.sync_all(),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_inputs_are_one_file_and_halves_are_cleared_away() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::open(folder.path()).unwrap();
        let one = files.keep_input(b"picture").unwrap();
        assert_eq!(files.keep_input(b"picture").unwrap(), one);
        assert_eq!(fs::read(files.input(&one)).unwrap(), b"picture");
        fs::write(folder.path().join("videos/task_x.7.part"), b"half").unwrap();
        let files = Files::open(folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path().join("videos")).unwrap().count(), 0);
        // Fresh inputs stay even when nothing needs them yet.
        assert_eq!(files.sweep_inputs(&|_| false).unwrap(), 0);
        let long_ago = SystemTime::now() - 2 * INPUT_GRACE;
        let input = std::fs::File::options().append(true).open(files.input(&one)).unwrap();
        input.set_modified(long_ago).unwrap();
        assert_eq!(files.sweep_inputs(&|_| true).unwrap(), 0);
        assert_eq!(files.sweep_inputs(&|_| false).unwrap(), 1);
    }

    #[test]
    fn a_write_that_fails_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::open(folder.path()).unwrap();
        let path = folder.path().join("videos/taken.mp4");
        fs::create_dir(&path).unwrap();
        fs::write(path.join("inside"), b"").unwrap();
        assert!(files.write(&path, b"new").is_err());
        assert!(path.join("inside").exists());
        assert_eq!(fs::read_dir(folder.path().join("videos")).unwrap().count(), 1);
    }
}
