//! The files that a workflow refers to, behind a trait, so that the compiler does no I/O.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::io::{Cursor, Read};
use std::path::{Component, Path, PathBuf};

use crate::media_gate::{MediaGate, ReadSeek};

/// Why a file could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileError {
    /// There is no such file.
    Missing,
    /// It is a directory or a device.
    NotAFile,
    /// It is larger than the limit of the call.
    TooLarge,
    /// It is outside the workflow's folder, possibly through a symbolic link.
    Outside,
    /// It cannot be read, with the system's message.
    Unreadable(String),
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("there is no such file"),
            Self::NotAFile => f.write_str("this is not a file"),
            Self::TooLarge => f.write_str("this file is too large"),
            Self::Outside => f.write_str("this file lies outside the workflow's folder"),
            Self::Unreadable(why) => write!(f, "this file cannot be read: {why}"),
        }
    }
}

/// Reads files relative to the workflow's folder.
pub trait Files {
    /// The content of a file of at most `max` bytes. The path is relative to the workflow's folder, and below it.
    fn read(&self, path: &Path, max: u64) -> Result<Vec<u8>, FileError>;

    /// A file of at most `max` bytes, to be read in parts. It may grow while it is read. The path is as for [`Files::read`].
    fn open(&self, path: &Path, max: u64) -> Result<Box<dyn ReadSeek>, FileError>;

    /// The entries of a directory, in any order, at most `max` + 1 of them. The path is as for [`Files::read`]; the empty one is the
    /// workflow's folder. Names that are not Unicode are skipped.
    fn list(&self, folder: &Path, max: usize) -> Result<Vec<DirEntry>, FileError>;

    /// The rules for files that are sent as media.
    fn media_gate(&self) -> MediaGate;
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirEntry {
    /// Its name, without a path.
    pub name: String,
    /// Whether it is a directory.
    pub folder: bool,
}

#[derive(Clone, Debug)]
pub struct DirFiles {
    root: PathBuf,
    media_gate: MediaGate,
}

impl DirFiles {
    /// Files below a directory; symbolic links that lead out of it are refused.
    pub fn new(root: impl Into<PathBuf>, media_gate: MediaGate) -> Self {
        Self { root: root.into(), media_gate }
    }

    /// The canonical path, with symbolic links followed.
    fn resolve(&self, path: &Path) -> Result<PathBuf, FileError> {
        let root = if self.root.as_os_str().is_empty() { Path::new(".") } else { &self.root };
        let full = root.join(path).canonicalize().map_err(file_error)?;
        if !full.starts_with(root.canonicalize().map_err(file_error)?) {
            return Err(FileError::Outside);
        }
        Ok(full)
    }

    fn open_file(&self, path: &Path, max: u64) -> Result<std::fs::File, FileError> {
        let full = self.resolve(path)?;
        // Looked at before it is opened: opening a pipe would wait for a writer.
        let facts = full.metadata().map_err(file_error)?;
        if !facts.is_file() {
            return Err(FileError::NotAFile);
        }
        if facts.len() > max {
            return Err(FileError::TooLarge);
        }
        std::fs::File::open(&full).map_err(file_error)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "made for `map_err`")]
pub(crate) fn file_error(error: std::io::Error) -> FileError {
    match error.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => FileError::Missing,
        _ => FileError::Unreadable(error.kind().to_string()),
    }
}

impl Files for DirFiles {
    fn read(&self, path: &Path, max: u64) -> Result<Vec<u8>, FileError> {
        let mut bytes = Vec::new();
        let file = self.open_file(path, max)?;
        file.take(max.saturating_add(1)).read_to_end(&mut bytes).map_err(file_error)?;
        if bytes.len() as u64 > max { Err(FileError::TooLarge) } else { Ok(bytes) }
    }

    fn open(&self, path: &Path, max: u64) -> Result<Box<dyn ReadSeek>, FileError> {
        Ok(Box::new(self.open_file(path, max)?))
    }

    fn list(&self, folder: &Path, max: usize) -> Result<Vec<DirEntry>, FileError> {
        let full = self.resolve(folder)?;
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(&full).map_err(file_error)?.take(max.saturating_add(1)) {
            let Ok(name) = entry.map_err(file_error)?.file_name().into_string() else { continue };
            // The target of a link counts; a file that cannot be inspected is unusable.
            let Ok(facts) = full.join(&name).metadata() else { continue };
            if facts.is_dir() || facts.is_file() {
                entries.push(DirEntry { name, folder: facts.is_dir() });
            }
        }
        Ok(entries)
    }

    fn media_gate(&self) -> MediaGate {
        self.media_gate
    }
}

/// Files in memory, for tests and editors. Without any, every path is missing.
#[derive(Clone, Debug)]
pub struct InMemory {
    files: HashMap<PathBuf, Vec<u8>>,
    media_gate: MediaGate,
}

impl Default for InMemory {
    fn default() -> Self {
        Self { files: HashMap::new(), media_gate: MediaGate::CLOSED }
    }
}

impl InMemory {
    /// The same files with a gate that lets media through.
    pub fn with_media_gate(self, media_gate: MediaGate) -> Self {
        Self { media_gate, ..self }
    }

    pub fn with(mut self, path: impl Into<PathBuf>, bytes: impl Into<Vec<u8>>) -> Self {
        self.files.insert(path.into(), bytes.into());
        self
    }
}

impl Files for InMemory {
    fn read(&self, path: &Path, max: u64) -> Result<Vec<u8>, FileError> {
        let bytes = self.files.get(path).ok_or(FileError::Missing)?;
        if bytes.len() as u64 > max { Err(FileError::TooLarge) } else { Ok(bytes.clone()) }
    }

    fn open(&self, path: &Path, max: u64) -> Result<Box<dyn ReadSeek>, FileError> {
        Ok(Box::new(Cursor::new(self.read(path, max)?)))
    }

    fn list(&self, folder: &Path, max: usize) -> Result<Vec<DirEntry>, FileError> {
        let entries: BTreeSet<DirEntry> = self
            .files
            .keys()
            .filter_map(|path| path.strip_prefix(folder).ok())
            .filter_map(|rest| {
                let mut parts = rest.components();
                let name = parts.next()?.as_os_str().to_str()?.to_owned();
                Some(DirEntry { name, folder: parts.next().is_some() })
            })
            .take(max.saturating_add(1))
            .collect();
        if entries.is_empty() && !folder.as_os_str().is_empty() {
            return Err(FileError::Missing);
        }
        Ok(entries.into_iter().collect())
    }

    fn media_gate(&self) -> MediaGate {
        self.media_gate
    }
}

/// The path without `.` and `..`; `None` if it leads out of its directory or is absolute.
pub(crate) fn normalize_relative(path: &str) -> Option<PathBuf> {
    let mut clean = PathBuf::new();
    for component in Path::new(path).components() {
        match component {
            Component::Normal(part) => clean.push(part),
            Component::CurDir => {}
            Component::ParentDir => {
                if !clean.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    let windows = path.contains('\\') || path.as_bytes().get(1) == Some(&b':');
    (!windows && !clean.as_os_str().is_empty()).then_some(clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalize_relative_rejects_paths_outside() {
        assert_eq!(normalize_relative("stills/../stills/./a.png"), Some(PathBuf::from("stills/a.png")));
        for path in ["../a.png", "/etc/passwd", "a/../../b", "", ".", "c:\\x.png", "..\\x.png"] {
            assert_eq!(normalize_relative(path), None, "{path}");
        }
    }
}
