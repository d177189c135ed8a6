//! Videos by their content: each is kept once, under its SHA-256, and known to people by links with readable names.
//!
//! A download grows in a `.part` file beside them, so that a later try, or a later run, goes on where it broke off. Invariant: what stands under
//! a content's name was whole when it got that name; nothing under such a name is ever written to or removed by this program.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::artifact::{Artifact, file_sha256, sha256};
use crate::ids::AttemptId;
use crate::names::Names;

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
            self.names.sync(&self.folder)?;
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

    /// Opens the part of an attempt's video that is on disk, for going on with it. Another process that fetches the same video has it
    /// locked: then a file of our own is used, and nothing of it is kept.
    ///
    /// # Errors
    /// When no file can be made.
    pub(crate) fn part(&self, attempt: &AttemptId) -> io::Result<Part> {
        let name = sha256(attempt.as_str().as_bytes());
        let path = self.folder.join(format!("{}.part", &name[..24]));
        let open = || OpenOptions::new().create(true).read(true).append(true).open(&path);
        let file = match open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs_err::create_dir_all(&self.folder)?;
                open()?
            }
            opened => opened?,
        };
        if file.try_lock().is_ok() {
            return Part::shared(file, path);
        }
        let own = tempfile::Builder::new().prefix(".").suffix(".part").tempfile_in(&self.folder)?;
        let (file, path) = own.keep().map_err(|error| error.error)?;
        Ok(Part { file, path, from: None, length: 0, is_own: true, is_noted: false })
    }

    /// Gives a whole, verified part the name of its content and links it to `target`.
    pub(crate) fn keep(&self, mut part: Part, sha256: &str, target: &Path) -> io::Result<Option<i64>> {
        let kept = self.path(sha256);
        part.file.sync_all()?;
        if kept.exists() && file_sha256(&kept)? == sha256 {
            // The same bytes from another task.
            std::fs::remove_file(&part.path)?;
        } else {
            fs_err::rename(&part.path, &kept)?;
            self.names.sync(&self.folder)?;
        }
        part.forget_origin();
        link(&kept, target)?;
        changed_at(&kept)
    }
}

/// Where the bytes of a part come from, to go on from there and from nowhere else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Origin {
    /// A digest of the address, or `content`.
    pub(crate) source: String,
    /// `ETag` or `Last-Modified`: what says that it is still the same file.
    pub(crate) validator: String,
}

/// What is shorter is fetched anew when a process was killed over it: to note where its bytes come from costs a file.
const WORTH_RESUMING: u64 = 1 << 20;

/// A download that is under way.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) file: File,
    pub(crate) path: PathBuf,
    /// Where the bytes so far come from, if that is known well enough to go on.
    pub(crate) from: Option<Origin>,
    /// Bytes so far.
    pub(crate) length: u64,
    is_own: bool,
    /// Whether the origin is on disk beside it.
    is_noted: bool,
}

impl Part {
    fn shared(file: File, path: PathBuf) -> io::Result<Self> {
        let length = file.metadata()?.len();
        let mut part = Self { length, file, path, from: None, is_own: false, is_noted: false };
        if let Ok(text) = std::fs::read(part.origin_path()) {
            part.is_noted = true;
            part.from = serde_json::from_slice(&text).ok();
        }
        if part.from.is_none() || part.length == 0 {
            part.restart(None)?;
        }
        Ok(part)
    }

    fn origin_path(&self) -> PathBuf {
        self.path.with_extension("part.json")
    }

    /// Throws away what is there and begins anew, from an origin that can be gone on from, or from one that cannot.
    pub(crate) fn restart(&mut self, from: Option<Origin>) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        self.length = 0;
        self.forget_origin();
        self.from = from;
        Ok(())
    }

    /// Takes note of bytes that were written. From some length on a process that is killed leaves something to go on from.
    pub(crate) fn grown(&mut self, by: usize) -> io::Result<()> {
        self.length += by as u64;
        if self.length < WORTH_RESUMING || self.is_noted { Ok(()) } else { self.note_origin() }
    }

    fn note_origin(&mut self) -> io::Result<()> {
        if let Some(from) = &self.from
            && !self.is_own
        {
            std::fs::write(self.origin_path(), serde_json::to_vec(from)?)?;
            self.is_noted = true;
        }
        Ok(())
    }

    /// How much is kept for the next try.
    pub(crate) fn leave(mut self) -> u64 {
        if self.is_own || self.from.is_none() || self.note_origin().is_err() {
            self.discard();
            return 0;
        }
        self.length
    }

    /// What is whole and no video is kept for people to look at, one of it for each attempt, in place of what an earlier try left.
    pub(crate) fn set_aside(mut self) -> Option<PathBuf> {
        if self.is_own || self.length == 0 {
            self.discard();
            return None;
        }
        self.forget_origin();
        let aside = self.path.with_extension("broken");
        std::fs::rename(&self.path, &aside).ok()?;
        Some(aside)
    }

    /// Nothing of it is of use.
    pub(crate) fn discard(mut self) {
        self.forget_origin();
        // A file that stays behind is begun anew next time.
        let _ = std::fs::remove_file(&self.path);
    }

    fn forget_origin(&mut self) {
        if std::mem::take(&mut self.is_noted) {
            let _ = std::fs::remove_file(self.origin_path());
        }
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
