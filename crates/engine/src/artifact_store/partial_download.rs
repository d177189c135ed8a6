//! A download in progress: buffered in memory while it is short, then in a `.part` file that a later attempt or run resumes.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::artifact::{file_sha256, sha256};
use crate::file_id::FileId;

/// Where the bytes of a partial download come from. It is resumed from the same origin only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DownloadOrigin {
    /// A digest of the address, or `content` for the content endpoint.
    pub(crate) source: String,
    /// A strong `ETag` or `Last-Modified`, for `If-Range`.
    pub(crate) validator: String,
    /// The length of the whole file, where the service stated it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) total: Option<u64>,
}

impl DownloadOrigin {
    /// Whether a response with the same origin continues the same bytes. A time of modification alone does not say so: two versions may
    /// have been written within a second.
    pub(crate) fn identifies_bytes(&self) -> bool {
        self.validator.starts_with('"') || self.total.is_some()
    }
}

/// A shorter download stays in memory and starts again after a crash: writing its origin would cost more than it saves.
const MIN_RESUMABLE_BYTES: usize = 1 << 20;

/// A download in progress.
#[derive(Debug)]
pub(crate) struct PartialDownload {
    /// Where its file is, or will be.
    path: PathBuf,
    /// All bytes, while there is no file.
    buffer: Vec<u8>,
    /// All bytes, in a locked file.
    file: Option<File>,
    /// Whether the file has a private name, because another process downloads the same video. It is not resumed.
    is_private: bool,
    origin: Option<DownloadOrigin>,
    length: u64,
    /// Whether the origin is on disk beside the file.
    is_origin_written: bool,
}

impl PartialDownload {
    /// Resumes the file at `path` if it is unlocked and its origin is known; starts an empty download otherwise.
    pub(super) fn open(path: PathBuf) -> io::Result<Self> {
        let mut download = Self {
            path,
            buffer: Vec::new(),
            file: None,
            is_private: false,
            origin: None,
            length: 0,
            is_origin_written: false,
        };
        // A folder or a pipe has no bytes to resume from.
        if std::fs::symlink_metadata(&download.path).is_ok_and(|metadata| !metadata.is_file()) {
            super::keep_aside(&download.path)?;
        }
        let file = match lock(&download.path, OpenOptions::new().read(true).append(true)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(download),
            locked => locked?,
        };
        let Some(file) = file else { return Ok(download) };
        download.length = file.metadata()?.len();
        download.file = Some(file);
        if let Some(text) = read_origin(&download.path) {
            download.is_origin_written = true;
            download.origin = serde_json::from_slice(&text).ok();
        }
        if download.origin.is_none() || download.length == 0 {
            download.restart(None)?;
        }
        Ok(download)
    }

    /// Bytes received so far.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// The origin of the bytes so far; `None` where there are none or they cannot be resumed.
    pub(crate) fn origin(&self) -> Option<&DownloadOrigin> {
        self.origin.as_ref().filter(|_| self.length > 0)
    }

    /// Drops all bytes and starts again from `origin`; `None` where the download cannot be resumed later.
    pub(crate) fn restart(&mut self, origin: Option<DownloadOrigin>) -> io::Result<()> {
        self.buffer.clear();
        if let Some(file) = &mut self.file {
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
        }
        self.length = 0;
        self.remove_origin();
        self.origin = origin;
        Ok(())
    }

    /// Appends received bytes. From [`MIN_RESUMABLE_BYTES`] on they are in a file that survives a crash.
    pub(crate) fn push(&mut self, piece: &[u8]) -> io::Result<()> {
        if self.file.is_none() && self.buffer.len() + piece.len() < MIN_RESUMABLE_BYTES {
            self.buffer.extend_from_slice(piece);
        } else {
            self.file()?.write_all(piece)?;
        }
        self.length += piece.len() as u64;
        if self.length < MIN_RESUMABLE_BYTES as u64 || self.is_origin_written {
            Ok(())
        } else {
            self.write_origin()
        }
    }

    /// Writes and syncs all bytes and returns their SHA-256.
    pub(crate) fn finish(&mut self) -> io::Result<String> {
        let digest = if self.file.is_none() { sha256(&self.buffer) } else { file_sha256(&self.path)? };
        self.file()?.sync_all()?;
        Ok(digest)
    }

    /// The file's path, valid after [`Self::finish`].
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Renames the finished file.
    pub(super) fn rename(mut self, to: &Path) -> io::Result<()> {
        // Before the rename: after a crash in between, no origin stays behind for bytes of a later file.
        self.remove_origin();
        fs_err::rename(&self.path, to)
    }

    /// Keeps the bytes on disk for the next attempt where they can be resumed; returns how many.
    pub(crate) fn keep_for_resume(mut self) -> u64 {
        let is_resumable =
            self.origin().is_some() && self.file().is_ok() && !self.is_private && self.write_origin().is_ok();
        if is_resumable {
            return self.length;
        }
        self.discard();
        0
    }

    /// Keeps a complete file that is not a valid video for inspection, one per attempt; returns its path.
    pub(crate) fn quarantine(mut self) -> Option<PathBuf> {
        if self.length == 0 || self.file().is_err() || self.is_private {
            self.discard();
            return None;
        }
        let quarantined = self.path.with_extension("broken");
        self.rename(&quarantined).ok()?;
        Some(quarantined)
    }

    pub(crate) fn discard(mut self) {
        self.remove_origin();
        if self.file.is_some() {
            // A file that stays behind has no origin: the next attempt truncates it.
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// The file with all bytes so far, created when there is none.
    fn file(&mut self) -> io::Result<&mut File> {
        match &mut self.file {
            Some(file) => Ok(file),
            none => {
                let (file, path, is_private) = create(&self.path)?;
                (self.path, self.is_private) = (path, is_private);
                let file = none.insert(file);
                file.write_all(&std::mem::take(&mut self.buffer))?;
                Ok(file)
            }
        }
    }

    fn origin_path(&self) -> PathBuf {
        origin_path(&self.path)
    }

    fn write_origin(&mut self) -> io::Result<()> {
        if let Some(origin) = &self.origin
            && !self.is_private
        {
            std::fs::write(self.origin_path(), serde_json::to_vec(origin)?)?;
            self.is_origin_written = true;
        }
        Ok(())
    }

    fn remove_origin(&mut self) {
        if std::mem::take(&mut self.is_origin_written) {
            let _ = std::fs::remove_file(self.origin_path());
        }
    }
}

/// Creates an empty, locked file at `path`, or under a private name where another process has `path` locked; the last value says which.
fn create(path: &Path) -> io::Result<(File, PathBuf, bool)> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let lock = || lock(path, OpenOptions::new().create(true).read(true).append(true));
    let locked = match lock() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs_err::create_dir_all(folder)?;
            lock()?
        }
        locked => locked?,
    };
    if let Some(file) = locked {
        // Left by a process that downloaded the same video until a moment ago.
        if file.metadata()?.len() > 0 {
            file.set_len(0)?;
        }
        return Ok((file, path.to_owned(), false));
    }
    let private = tempfile::Builder::new().prefix(".").suffix(".part").tempfile_in(folder)?;
    let (file, path) = private.keep().map_err(|error| error.error)?;
    // Nobody else knows its name; the lock shows that it is in use.
    let _ = file.try_lock();
    Ok((file, path, true))
}

/// Opens and locks the file at `path`; `None` where another process has it locked.
///
/// Another process that has finished the download renames the file, which is a video that was paid for then, before it gives up its lock. So the
/// file that was opened may be at that name when it is locked: it is left alone, and `path` is opened again.
fn lock(path: &Path, options: &OpenOptions) -> io::Result<Option<File>> {
    loop {
        let file = options.open(path)?;
        #[cfg(test)]
        tests::after_open();
        if file.try_lock().is_err() {
            return Ok(None);
        }
        match std::fs::metadata(path) {
            Ok(metadata) if FileId::new(&metadata) == FileId::new(&file.metadata()?) => {
                return Ok(Some(file));
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
}

/// The file that says where the bytes of a partial download come from.
fn origin_path(path: &Path) -> PathBuf {
    path.with_extension("part.json")
}

/// The text of [`origin_path`], if it is a file: opening a pipe would wait for a writer.
fn read_origin(path: &Path) -> Option<Vec<u8>> {
    let file = origin_path(path);
    file.is_file().then(|| std::fs::read(file).ok()).flatten()
}

/// Whether a file is that of one process alone, because another one had the file of its attempt open.
pub(crate) fn is_private(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with('.'))
}

/// Whether a file has the whole length that the service stated.
pub(crate) fn is_complete(path: &Path) -> bool {
    let origin: Option<DownloadOrigin> =
        read_origin(path).and_then(|text| serde_json::from_slice(&text).ok());
    let total = origin.and_then(|origin| origin.total);
    total.is_some() && std::fs::metadata(path).ok().map(|metadata| metadata.len()) == total
}

/// Whether another process has a file open.
pub(crate) fn is_locked(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| file.try_lock().is_err())
}

/// Removes a file with its origin, unless another process has it open; returns whether it is gone.
pub(crate) fn remove(path: &Path) -> io::Result<bool> {
    // Held until the file is gone, so that no download begins with it.
    let _locked = match lock(path, OpenOptions::new().read(true)) {
        Ok(Some(file)) => file,
        Ok(None) => return Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(error),
    };
    match std::fs::remove_file(origin_path(path)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs_err::remove_file(path).map(|()| true)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    type Action = Box<dyn FnOnce()>;

    thread_local! {
        static AFTER_OPEN: RefCell<Option<Action>> = const { RefCell::new(None) };
    }

    /// What another process does between opening a file and locking it, once.
    pub(super) fn after_open() {
        let action = AFTER_OPEN.with(|action| action.borrow_mut().take());
        if let Some(action) = action {
            action();
        }
    }

    /// A folder with a finished download, which another process gives the name of its content once this one has opened it.
    fn renamed_meanwhile() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let (part, stored) = (folder.path().join("a.part"), folder.path().join("stored.mp4"));
        std::fs::write(&part, "a video").unwrap();
        let (from, to) = (part.clone(), stored.clone());
        let rename: Action = Box::new(move || std::fs::rename(from, to).unwrap());
        AFTER_OPEN.with(|action| *action.borrow_mut() = Some(rename));
        (folder, part, stored)
    }

    #[test]
    fn opening_leaves_a_video_alone_that_was_stored_meanwhile() {
        let (_folder, part, stored) = renamed_meanwhile();
        let mut download = PartialDownload::open(part.clone()).unwrap();
        assert_eq!(download.length(), 0);
        download.push(&vec![1; MIN_RESUMABLE_BYTES]).unwrap();
        assert_eq!(std::fs::read(&stored).unwrap(), b"a video");
        assert_eq!(std::fs::metadata(&part).unwrap().len(), MIN_RESUMABLE_BYTES as u64);
    }

    #[test]
    fn creating_leaves_a_video_alone_that_was_stored_meanwhile() {
        let (_folder, part, stored) = renamed_meanwhile();
        let (_file, path, is_private) = create(&part).unwrap();
        assert_eq!((path, is_private), (part.clone(), false));
        assert_eq!(std::fs::read(&stored).unwrap(), b"a video");
        assert_eq!(std::fs::metadata(&part).unwrap().len(), 0);
    }

    #[test]
    fn removing_leaves_a_download_alone_that_began_meanwhile() {
        let (_folder, part, stored) = renamed_meanwhile();
        assert!(remove(&part).unwrap(), "it is gone: it has another name");
        assert_eq!(std::fs::read(&stored).unwrap(), b"a video");
        // A download that began after it, under the same name.
        std::fs::write(&part, "old").unwrap();
        let first = part.clone();
        let replace: Action = Box::new(move || {
            std::fs::remove_file(&first).unwrap();
            let file = File::create(&first).unwrap();
            file.lock().unwrap();
            std::mem::forget(file);
        });
        AFTER_OPEN.with(|action| *action.borrow_mut() = Some(replace));
        assert!(!remove(&part).unwrap(), "another process downloads");
        assert!(part.exists());
    }
}
