//! Content-addressed store of downloaded videos. Each video is stored once under its SHA-256 and hard-linked to readable names.
//!
//! A partial download that is worth resuming is a `.part` file in the same folder, for a later attempt or a later run.
//! [`crate::clean`] removes those that nobody needs.
//! Beside a paid video is its sidecar ([`crate::sidecar`]).
//! Invariant: a file under a content name was complete when it got that name; this program never writes to or removes such a file.

mod dir_sync;
pub(crate) mod partial_download;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use media::AtomicFile;

use crate::artifact::{file_sha256, sha256};
use crate::failpoint::{self, Boundary, CommitPoint};
use crate::sidecar::{self, Sidecar};
use dir_sync::DirSync;
pub(crate) use partial_download::{DownloadOrigin, PartialDownload};
use scheduler::{Artifact, AttemptId, ModificationTime};
use workflow::plan::NodeKey;

/// How often a name is linked where other files appear under it meanwhile.
const MAX_LINK_TRIES: u32 = 16;

/// How a stored file is compared with its record.
#[derive(Debug, Clone)]
pub enum Verify {
    /// Size and modification time; the content is hashed only where the time differs.
    Metadata,
    /// The content is always hashed, and decoded as a whole where it is to be reused.
    Content(Arc<media::Ffmpeg>),
}

/// The folder of videos by content.
#[derive(Debug, Clone)]
pub struct ArtifactStore {
    folder: PathBuf,
    dir_sync: Arc<DirSync>,
}

impl ArtifactStore {
    /// The store in `folder`, which is created on first use.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, dir_sync: Arc::default() }
    }

    /// The path of the video with this hash.
    pub fn path(&self, sha256: &str) -> PathBuf {
        self.folder.join(format!("{sha256}.mp4"))
    }

    /// A complete copy of an artifact: in the store, or under its readable name.
    ///
    /// # Errors
    /// When a file exists and cannot be read.
    pub fn find(&self, artifact: &Artifact, verify: &Verify) -> io::Result<Option<PathBuf>> {
        for path in [self.path(&artifact.sha256), artifact.path.clone()] {
            if is_intact(&path, artifact, verify)? {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    /// The record of a video as it is on disk: of the file on record, or else of the one that was downloaded first for the same task, which may be
    /// back from a backup. `None` where neither is in the store, under its readable name, or at `target`.
    ///
    /// # Errors
    /// When a file exists and cannot be read.
    pub fn find_delivery(
        &self,
        artifact: &Artifact,
        target: Option<&Path>,
        verify: &Verify,
    ) -> io::Result<Option<Artifact>> {
        let first = artifact.first_sha256.as_ref().map(|first| Artifact {
            sha256: first.clone(),
            first_sha256: None,
            modified_at: None,
            ..artifact.clone()
        });
        for mut delivery in [Some(artifact.clone()), first].into_iter().flatten() {
            for path in
                [Some(&*self.path(&delivery.sha256)), Some(&artifact.path), target].into_iter().flatten()
            {
                if delivery.sha256 != artifact.sha256 && path.is_file() {
                    // Its size is not on record.
                    delivery.bytes = fs_err::metadata(path)?.len();
                }
                if is_intact(path, &delivery, verify)? {
                    return Ok(Some(delivery));
                }
            }
        }
        Ok(None)
    }

    /// Ensures that an artifact is in the store and linked to `target`, with the extension of its content, where it may be already, and returns
    /// its record with the new path and modification time; `None` when no complete copy exists.
    ///
    /// # Errors
    /// When a file cannot be read or linked.
    pub(crate) fn link_into(
        &self,
        artifact: &Artifact,
        target: &Path,
        verify: &Verify,
    ) -> io::Result<Option<Artifact>> {
        let source = match self.find(artifact, verify)? {
            Some(source) => source,
            // Where a run with another output folder was the one that recorded it.
            None if is_intact(target, artifact, verify)? => target.to_owned(),
            None => return Ok(None),
        };
        let target = target.with_extension(media::video_extension(&source)?);
        let stored = self.path(&artifact.sha256);
        if source != stored {
            fs_err::create_dir_all(&self.folder)?;
            link(&source, &stored)?;
            self.dir_sync.mark_dirty();
            self.sync_dir()?;
        }
        let current = Artifact { modified_at: modification_time(&stored)?, ..artifact.clone() };
        if !is_intact(&target, &current, verify)? {
            if let Some(folder) = target.parent() {
                fs_err::create_dir_all(folder)?;
            }
            link(&stored, &target)?;
        }
        Ok(Some(Artifact { path: target, ..current }))
    }

    /// Links a video that is not in the store yet into it, and returns its modification time.
    ///
    /// # Errors
    /// When it cannot be linked.
    pub(crate) fn adopt(&self, video: &Path, sha256: &str) -> io::Result<Option<ModificationTime>> {
        let stored = self.path(sha256);
        fs_err::create_dir_all(&self.folder)?;
        link(video, &stored)?;
        self.dir_sync.mark_dirty();
        self.sync_dir()?;
        modification_time(&stored)
    }

    /// Copies a video with this hash into the store, unless it is there, and returns its modification time. The copy is independent of the
    /// file: it is not a hard link.
    ///
    /// # Errors
    /// When it cannot be read or copied, or has another hash.
    pub(crate) fn import(&self, video: &Path, sha256: &str) -> io::Result<Option<ModificationTime>> {
        let stored = self.path(sha256);
        if !(stored.is_file() && file_sha256(&stored)? == sha256) {
            fs_err::create_dir_all(&self.folder)?;
            let mut part = AtomicFile::in_folder(&self.folder)?;
            io::copy(&mut fs_err::File::open(video)?, &mut part)?;
            if file_sha256(part.path())? != sha256 {
                return Err(io::Error::other(format!("{} has changed while it was copied", video.display())));
            }
            if std::fs::symlink_metadata(&stored).is_ok() {
                keep_aside(&stored)?;
            }
            part.replace(&stored)?;
            self.dir_sync.mark_dirty();
        }
        self.sync_dir()?;
        modification_time(&stored)
    }

    /// Writes the sidecar of a video in the store. It is durable after the next [`Self::sync_dir`], which happens before the ledger records
    /// the video.
    ///
    /// # Errors
    /// When it cannot be written; then nothing is under its name, or what was there before.
    pub(crate) fn write_sidecar(&self, sidecar: &Sidecar) -> io::Result<()> {
        let text = sidecar.to_json()?;
        failpoint::hit(Boundary::Before, CommitPoint::Sidecar.as_str());
        media::replace_file(&self.folder.join(sidecar.file_name()), &text)?;
        self.dir_sync.mark_dirty();
        failpoint::hit(Boundary::After, CommitPoint::Sidecar.as_str());
        Ok(())
    }

    /// Removes the sidecar of a video for a key under which it is not recorded after all.
    pub(crate) fn remove_sidecar(&self, sidecar: &Sidecar) -> io::Result<()> {
        fs_err::remove_file(self.folder.join(sidecar.file_name()))
    }

    /// Whether a video has a sidecar for a key.
    pub(crate) fn has_sidecar(&self, sha256: &str, key: &str) -> bool {
        self.folder.join(sidecar::file_name(sha256, key)).is_file()
    }

    /// The description of a video for a key, as a manifest lists it: its sidecar without the request.
    pub fn description(&self, sha256: &str, key: &NodeKey) -> Option<serde_json::Value> {
        let path = self.folder.join(sidecar::file_name(sha256, &key.to_string()));
        serde_json::to_value(Sidecar::read(&path).ok()?.without_request()).ok()
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The partial download of an attempt's video; empty where nothing was downloaded yet.
    ///
    /// # Errors
    /// When a file exists and cannot be used.
    pub(crate) fn partial_download(&self, attempt: &AttemptId) -> io::Result<PartialDownload> {
        PartialDownload::open(self.partial_path(attempt))
    }

    /// The file of the partial download of an attempt's video.
    pub(crate) fn partial_path(&self, attempt: &AttemptId) -> PathBuf {
        let name = sha256(attempt.as_str().as_bytes());
        self.folder.join(format!("{}.part", &name[..24]))
    }

    /// The files of all partial downloads, sorted.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub(crate) fn partial_paths(&self) -> io::Result<Vec<PathBuf>> {
        let entries = match std::fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut paths = Vec::new();
        for entry in entries {
            let entry = entry?;
            let path = entry.path();
            // A folder is that of a link in the making.
            if path.extension().is_some_and(|end| end == "part") && entry.file_type()?.is_file() {
                paths.push(path);
            }
        }
        paths.sort();
        Ok(paths)
    }

    /// Syncs the folder, which makes the names durable that [`Self::commit`] gave.
    ///
    /// # Errors
    /// When the folder cannot be synced.
    pub(crate) fn sync_dir(&self) -> io::Result<()> {
        self.dir_sync.sync(&self.folder)
    }

    /// Renames a complete, verified download to its content name and links it to `target`, with the extension of its content; returns that path
    /// and the modification time. The name is durable after the next [`Self::sync_dir`], which happens before the ledger records the video.
    pub(crate) fn commit(
        &self,
        download: PartialDownload,
        sha256: &str,
        target: &Path,
    ) -> io::Result<(PathBuf, Option<ModificationTime>)> {
        let stored = self.path(sha256);
        if stored.is_file() && file_sha256(&stored)? == sha256 {
            // Another task produced the same bytes.
            download.discard();
        } else {
            // Other content, or no file at all: a folder, a pipe.
            if std::fs::symlink_metadata(&stored).is_ok() {
                keep_aside(&stored)?;
            }
            download.rename(&stored)?;
            self.dir_sync.mark_dirty();
        }
        let target = target.with_extension(media::video_extension(&stored)?);
        link(&stored, &target)?;
        Ok((target, modification_time(&stored)?))
    }
}

fn is_intact(path: &Path, artifact: &Artifact, verify: &Verify) -> io::Result<bool> {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() && metadata.len() == artifact.bytes => {}
        Ok(_) => return Ok(false),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(false);
        }
        Err(error) => return Err(error),
    }
    if matches!(verify, Verify::Metadata)
        && artifact.modified_at.is_some()
        && modification_time(path)? == artifact.modified_at
    {
        return Ok(true);
    }
    Ok(file_sha256(path)? == artifact.sha256)
}

/// Renames a file to a name that is free, if it is still there: `lamp-0123.mp4` to `lamp-0123.replaced-1.mp4`.
fn keep_aside(path: &Path) -> io::Result<()> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let extension = path.extension().map(|extension| format!(".{}", extension.to_string_lossy()));
    for number in 1..u32::MAX {
        let name = format!("{stem}.replaced-{number}{}", extension.as_deref().unwrap_or_default());
        let free = path.with_file_name(name);
        // The name is taken before it is used, so that no other process renames to it as well: what is replaced may have been paid for.
        let is_folder = std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir());
        let taken = if is_folder { std::fs::create_dir(&free) } else { File::create_new(&free).map(drop) };
        match taken {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            taken => taken?,
        }
        #[cfg(test)]
        tests::after_name_is_taken();
        let renamed = std::fs::rename(path, &free);
        if renamed.is_err() {
            let _ = if is_folder { std::fs::remove_dir(&free) } else { std::fs::remove_file(&free) };
        }
        return match renamed {
            // Another process has kept it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            renamed => renamed,
        };
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{} cannot be kept", path.display())))
}

/// A file's modification time; `None` where the file system has none.
fn modification_time(path: &Path) -> io::Result<Option<ModificationTime>> {
    let modified = fs_err::metadata(path)?.modified().ok();
    Ok(modified
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
        .and_then(|since| i64::try_from(since.as_nanos()).ok())
        .map(ModificationTime))
}

/// Hard-links `from` to `to`. Copies where the file system has no hard links or the two are on different ones. A file of other content
/// under the name `to` is kept under another one: it may be a video that was paid for.
///
/// The link is not synced: the content name is the durable one, and readable names are linked again where they are missing.
fn link(from: &Path, to: &Path) -> io::Result<()> {
    for _ in 0..MAX_LINK_TRIES {
        if std::fs::hard_link(from, to).is_ok() {
            return Ok(());
        }
        if let Ok(metadata) = std::fs::symlink_metadata(to) {
            if metadata.is_dir() {
                return Err(io::Error::new(
                    io::ErrorKind::IsADirectory,
                    format!("{} is a directory; remove or rename it", to.display()),
                ));
            }
            if metadata.is_file() && file_sha256(to)? == file_sha256(from)? {
                return Ok(());
            }
            keep_aside(to)?;
        } else if copy_unless_there(from, to)? {
            return Ok(());
        }
    }
    Err(io::Error::new(
        io::ErrorKind::AlreadyExists,
        format!("other files appear under the name {} again and again", to.display()),
    ))
}

/// Copies a file, durably and with its modification time; false where there is a file under the name `to` by now.
fn copy_unless_there(from: &Path, to: &Path) -> io::Result<bool> {
    let copy = AtomicFile::beside(to)?;
    fs_err::copy(from, copy.path())?;
    // `Verify::Metadata` then accepts the copy too.
    let modified: SystemTime = fs_err::metadata(from)?.modified()?;
    copy.file().set_modified(modified)?;
    match copy.create(to) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    type Action = Box<dyn FnOnce()>;

    thread_local! {
        static AFTER_NAME_IS_TAKEN: RefCell<Option<Action>> = const { RefCell::new(None) };
    }

    /// What another process does between taking a name and renaming to it, once.
    pub(super) fn after_name_is_taken() {
        let action = AFTER_NAME_IS_TAKEN.with(|action| action.borrow_mut().take());
        if let Some(action) = action {
            action();
        }
    }

    /// The contents of the files of a folder, sorted.
    fn contents(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut contents: Vec<String> =
            entries.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap()).collect();
        contents.sort();
        contents
    }

    #[test]
    fn two_processes_keep_what_both_replace() {
        let folder = tempfile::tempdir().unwrap();
        let [first, second, to] =
            ["first.mp4", "second.mp4", "lamp.mp4"].map(|name| folder.path().join(name));
        for (file, text) in [(&first, "first"), (&second, "second"), (&to, "the user's")] {
            std::fs::write(file, text).unwrap();
        }
        let (from, name) = (second, to.clone());
        AFTER_NAME_IS_TAKEN
            .with(|action| *action.borrow_mut() = Some(Box::new(move || link(&from, &name).unwrap())));
        link(&first, &to).unwrap();
        assert_eq!(std::fs::read_to_string(&to).unwrap(), "first");
        assert_eq!(contents(folder.path()), ["first", "first", "second", "second", "the user's"]);
    }

    #[test]
    fn copy_does_not_replace_a_file_that_appears() {
        let folder = tempfile::tempdir().unwrap();
        let [from, to] = ["from.mp4", "to.mp4"].map(|name| folder.path().join(name));
        std::fs::write(&from, "video").unwrap();
        std::fs::write(&to, "another").unwrap();
        assert!(!copy_unless_there(&from, &to).unwrap());
        assert_eq!(contents(folder.path()), ["another", "video"]);
        std::fs::remove_file(&to).unwrap();
        assert!(copy_unless_there(&from, &to).unwrap());
        let modified = |path: &Path| std::fs::metadata(path).unwrap().modified().unwrap();
        assert_eq!(modified(&to), modified(&from));
    }
}
