//! Videos by their content: each is kept once, under its SHA-256, and known to people by links with readable names.
//!
//! A download that is worth going on with grows in a `.part` file beside them, for a later try or a later run. Invariant: what stands under
//! a content's name was whole when it got that name; nothing under such a name is ever written to or removed by this program.

mod names;
mod part;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::artifact::{file_sha256, sha256};
use names::Names;
pub(crate) use part::{Origin, Part};
use scheduler::{Artifact, AttemptId};

/// How closely a file is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// Size and time of change; what differs in its time alone is hashed.
    Quick,
    /// The hash, always.
    Hash,
}

/// The folder of videos by content.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
    names: Arc<Names>,
}

impl Store {
    /// The store in `folder`, which is made when it is needed.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, names: Arc::default() }
    }

    /// Where the video with this hash is kept.
    #[must_use]
    pub fn path(&self, sha256: &str) -> PathBuf {
        self.folder.join(format!("{sha256}.mp4"))
    }

    /// Where an artifact's bytes are, whole: in the store, or under the name that it was given.
    ///
    /// # Errors
    /// When a file is there and cannot be read.
    pub fn find(&self, artifact: &Artifact, check: Check) -> io::Result<Option<PathBuf>> {
        for path in [self.path(&artifact.sha256), artifact.path.clone()] {
            if is_whole(&path, artifact, check)? {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    /// Makes sure that an artifact is in the store and under `target`, and says how it is known from now on; nothing when its bytes are nowhere.
    ///
    /// # Errors
    /// When a file cannot be read or linked.
    pub fn provide(&self, artifact: &Artifact, target: &Path, check: Check) -> io::Result<Option<Artifact>> {
        let Some(source) = self.find(artifact, check)? else { return Ok(None) };
        let kept = self.path(&artifact.sha256);
        if source != kept {
            fs_err::create_dir_all(&self.folder)?;
            link(&source, &kept)?;
            self.names.given();
            self.settle()?;
        }
        let known = Artifact { changed_at: changed_at(&kept)?, ..artifact.clone() };
        if !is_whole(target, &known, check)? {
            if let Some(folder) = target.parent() {
                fs_err::create_dir_all(folder)?;
            }
            link(&kept, target)?;
        }
        Ok(Some(Artifact { path: target.to_owned(), ..known }))
    }

    /// What there is of an attempt's video, for going on with it: nothing yet, mostly.
    ///
    /// # Errors
    /// When there is a file that cannot be used.
    pub(crate) fn part(&self, attempt: &AttemptId) -> io::Result<Part> {
        let name = sha256(attempt.as_str().as_bytes());
        Part::of(self.folder.join(format!("{}.part", &name[..24])))
    }

    /// Makes the names durable that videos were given by [`Self::keep`].
    ///
    /// # Errors
    /// When the folder cannot be synced.
    pub(crate) fn settle(&self) -> io::Result<()> {
        self.names.settle(&self.folder)
    }

    /// Gives a whole, verified part the name of its content and links it to `target`. The name is durable from the next
    /// [`Self::settle`] on, which comes before the ledger says that the video is there.
    pub(crate) fn keep(&self, part: Part, sha256: &str, target: &Path) -> io::Result<Option<i64>> {
        let kept = self.path(sha256);
        if kept.exists() && file_sha256(&kept)? == sha256 {
            // The same bytes from another task.
            part.discard();
        } else {
            part.rename(&kept)?;
            self.names.given();
        }
        link(&kept, target)?;
        changed_at(&kept)
    }
}

fn is_whole(path: &Path, artifact: &Artifact, check: Check) -> io::Result<bool> {
    match std::fs::metadata(path) {
        Ok(found) if found.is_file() && found.len() == artifact.bytes => {}
        Ok(_) => return Ok(false),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(false);
        }
        Err(error) => return Err(error),
    }
    if check == Check::Quick && artifact.changed_at.is_some() && changed_at(path)? == artifact.changed_at {
        return Ok(true);
    }
    Ok(file_sha256(path)? == artifact.sha256)
}

/// A file's time of change in nanoseconds since the epoch; nothing where the file system keeps none.
fn changed_at(path: &Path) -> io::Result<Option<i64>> {
    let changed = fs_err::metadata(path)?.modified().ok();
    Ok(changed
        .and_then(|at| at.duration_since(UNIX_EPOCH).ok())
        .and_then(|since| i64::try_from(since.as_nanos()).ok()))
}

/// Gives a file a second name, in place of whatever has that name; where the file system has no links, or another one is meant, a copy.
///
/// The new name is not synced: it is the one in the store that keeps a video, and any other is given again when it is missing.
fn link(from: &Path, to: &Path) -> io::Result<()> {
    if std::fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    let folder = to.parent().unwrap_or(Path::new("."));
    let beside = tempfile::Builder::new().prefix(".").suffix(".part").tempdir_in(folder)?;
    let new = beside.path().join("link");
    if std::fs::hard_link(from, &new).is_err() {
        fs_err::copy(from, &new)?;
        let copy = fs_err::OpenOptions::new().write(true).open(&new)?;
        // So that a copy, too, is known by its time of change.
        let changed: SystemTime = fs_err::metadata(from)?.modified()?;
        copy.file().set_modified(changed)?;
        copy.sync_all()?;
    }
    fs_err::rename(&new, to)
}
