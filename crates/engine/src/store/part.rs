//! A video on its way: in memory while there is little of it, then in a file, so that a later try, or a later run, goes on where it broke off.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::artifact::{file_sha256, sha256};

/// Where the bytes of a part come from, to go on from there and from nowhere else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Origin {
    /// A digest of the address, or `content`.
    pub(crate) source: String,
    /// `ETag` or `Last-Modified`: what says that it is still the same file.
    pub(crate) validator: String,
}

/// What is shorter stays in memory, and is fetched anew when the process is killed over it: to note where its bytes come from costs more.
const WORTH_RESUMING: usize = 1 << 20;

/// A download that is under way.
#[derive(Debug)]
pub(crate) struct Part {
    /// Where its file is, or will be.
    path: PathBuf,
    /// All of it while there is no file.
    memory: Vec<u8>,
    /// All of it, locked.
    file: Option<File>,
    /// Whether no later try finds the file, because another process fetches the same video.
    is_own: bool,
    from: Option<Origin>,
    length: u64,
    /// Whether the origin is on disk beside the file.
    is_noted: bool,
}

impl Part {
    /// Goes on with the file at `path`, if there is one that nobody else has locked and whose bytes are known well enough; otherwise anew.
    pub(super) fn of(path: PathBuf) -> io::Result<Self> {
        let (memory, file) = (Vec::new(), None);
        let mut part = Self { path, memory, file, is_own: false, from: None, length: 0, is_noted: false };
        let file = match OpenOptions::new().read(true).append(true).open(&part.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(part),
            opened => opened?,
        };
        if file.try_lock().is_err() {
            return Ok(part);
        }
        part.length = file.metadata()?.len();
        part.file = Some(file);
        if let Ok(text) = std::fs::read(part.origin_path()) {
            part.is_noted = true;
            part.from = serde_json::from_slice(&text).ok();
        }
        if part.from.is_none() || part.length == 0 {
            part.restart(None)?;
        }
        Ok(part)
    }

    /// Bytes so far.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Where the bytes so far come from, if there are any and that is known well enough to go on.
    pub(crate) fn from(&self) -> Option<&Origin> {
        self.from.as_ref().filter(|_| self.length > 0)
    }

    /// Throws away what is there and begins anew, from an origin that can be gone on from, or from one that cannot.
    pub(crate) fn restart(&mut self, from: Option<Origin>) -> io::Result<()> {
        self.memory.clear();
        if let Some(file) = &mut self.file {
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
        }
        self.length = 0;
        self.forget_origin();
        self.from = from;
        Ok(())
    }

    /// Takes what has come. From some length on a process that is killed leaves something to go on from.
    pub(crate) fn push(&mut self, piece: &[u8]) -> io::Result<()> {
        if self.file.is_none() && self.memory.len() + piece.len() < WORTH_RESUMING {
            self.memory.extend_from_slice(piece);
        } else {
            self.file()?.write_all(piece)?;
        }
        self.length += piece.len() as u64;
        if self.length < WORTH_RESUMING as u64 || self.is_noted { Ok(()) } else { self.note_origin() }
    }

    /// Puts all of it on disk, durably, and answers with its SHA-256.
    pub(crate) fn settle(&mut self) -> io::Result<String> {
        let digest = if self.file.is_none() { sha256(&self.memory) } else { file_sha256(&self.path)? };
        self.file()?.sync_all()?;
        Ok(digest)
    }

    /// Where it is, once it is settled.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives what is settled another name.
    pub(super) fn rename(mut self, to: &Path) -> io::Result<()> {
        // First, so that a process that is killed here never leaves an origin for bytes to come.
        self.forget_origin();
        fs_err::rename(&self.path, to)
    }

    /// How much is kept for the next try.
    pub(crate) fn leave(mut self) -> u64 {
        let is_kept =
            self.from().is_some() && self.file().is_ok() && !self.is_own && self.note_origin().is_ok();
        if is_kept {
            return self.length;
        }
        self.discard();
        0
    }

    /// What is whole and no video is kept for people to look at, one of it for each attempt, in place of what an earlier try left.
    pub(crate) fn set_aside(mut self) -> Option<PathBuf> {
        if self.length == 0 || self.file().is_err() || self.is_own {
            self.discard();
            return None;
        }
        let aside = self.path.with_extension("broken");
        self.rename(&aside).ok()?;
        Some(aside)
    }

    /// Nothing of it is of use.
    pub(crate) fn discard(mut self) {
        self.forget_origin();
        if self.file.is_some() {
            // A file that stays behind is begun anew next time.
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// The file, made when there is none, with all that has come.
    fn file(&mut self) -> io::Result<&mut File> {
        match &mut self.file {
            Some(file) => Ok(file),
            none => {
                let (file, path, is_own) = make(&self.path)?;
                (self.path, self.is_own) = (path, is_own);
                let file = none.insert(file);
                file.write_all(&std::mem::take(&mut self.memory))?;
                Ok(file)
            }
        }
    }

    fn origin_path(&self) -> PathBuf {
        self.path.with_extension("part.json")
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

    fn forget_origin(&mut self) {
        if std::mem::take(&mut self.is_noted) {
            let _ = std::fs::remove_file(self.origin_path());
        }
    }
}

/// An empty file at `path`, locked; another one, and that it is one, where another process has that one locked.
fn make(path: &Path) -> io::Result<(File, PathBuf, bool)> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let open = || OpenOptions::new().create(true).read(true).append(true).open(path);
    let file = match open() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs_err::create_dir_all(folder)?;
            open()?
        }
        opened => opened?,
    };
    if file.try_lock().is_ok() {
        // Left by a process that fetched the same until a moment ago.
        if file.metadata()?.len() > 0 {
            file.set_len(0)?;
        }
        return Ok((file, path.to_owned(), false));
    }
    let own = tempfile::Builder::new().prefix(".").suffix(".part").tempfile_in(folder)?;
    let (file, path) = own.keep().map_err(|error| error.error)?;
    Ok((file, path, true))
}
