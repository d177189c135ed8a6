//! Writes a file atomically, with messages for people. An existing file is overwritten only on request.

use std::io::{ErrorKind, Write as _};
use std::path::Path;

use media::AtomicFile;

use crate::error::CommandError;
use crate::project_paths::display_path;
use crate::shell;

/// Writes a text or other contents to `file`.
///
/// # Errors
/// The file exists and `overwrite` is false, or it cannot be written.
pub(crate) fn atomic_write(
    file: &Path,
    contents: impl AsRef<[u8]>,
    overwrite: bool,
) -> Result<(), CommandError> {
    existing_folder(file)?;
    let mut part = AtomicFile::beside(file).map_err(|error| cannot_write(&error))?;
    part.write_all(contents.as_ref()).map_err(|error| cannot_write(&error))?;
    publish(part, file, overwrite)
}

/// The folder in which a file or folder is to be written.
pub(super) fn existing_folder(file: &Path) -> Result<&Path, CommandError> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        let message =
            format!("cannot write {}: there is no folder {}", display_path(file), display_path(folder));
        return Err(
            CommandError::invalid(message).hint(format!("create it: mkdir -p {}", shell::path(folder)))
        );
    }
    Ok(folder)
}

/// Gives a file that is whole its name.
pub(super) fn publish(part: AtomicFile, file: &Path, overwrite: bool) -> Result<(), CommandError> {
    let written = if overwrite { part.replace(file) } else { part.create(file) };
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => exists(file),
        _ => cannot_write(&error),
    })
}

pub(super) fn cannot_write(error: &std::io::Error) -> CommandError {
    CommandError::invalid(format!("cannot write: {error}"))
}

/// There is a file of this name, and it is not to be overwritten.
pub(super) fn exists(file: &Path) -> CommandError {
    CommandError::invalid(format!("{} already exists", display_path(file)))
        .hint("use --overwrite to replace it")
}
