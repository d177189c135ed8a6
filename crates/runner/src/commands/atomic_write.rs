//! Writes a file atomically. An existing file is overwritten only on request, and never left half-written.

use std::io::Write as _;
use std::path::{Path, PathBuf};

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
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        let message =
            format!("cannot write {}: there is no folder {}", display_path(file), display_path(folder));
        return Err(
            CommandError::invalid(message).hint(format!("create it: mkdir -p {}", shell::path(folder)))
        );
    }
    let mut name = std::ffi::OsString::from(".");
    name.push(
        file.file_name()
            .ok_or_else(|| CommandError::invalid(format!("{} is not a file name", display_path(file))))?,
    );
    name.push(format!(".{}.part", std::process::id()));
    let part = folder.join(name);
    let written = write_part(&part, contents.as_ref(), file).and_then(|()| publish(&part, file, overwrite));
    if written.is_err() {
        // Clean up our own temporary file.
        let _ = fs_err::remove_file(&part);
    }
    written
}

pub(super) fn cannot_write(error: &std::io::Error) -> CommandError {
    CommandError::invalid(format!("cannot write: {error}"))
}

/// Writes the temporary file, with the permissions of the one that it replaces.
fn write_part(part: &PathBuf, contents: &[u8], replaced: &Path) -> Result<(), CommandError> {
    let mut file = fs_err::File::create_new(part).map_err(|error| cannot_write(&error))?;
    if let Ok(metadata) = std::fs::metadata(replaced) {
        file.set_permissions(metadata.permissions()).map_err(|error| cannot_write(&error))?;
    }
    file.write_all(contents).and_then(|()| file.sync_all()).map_err(|error| cannot_write(&error))
}

/// There is a file of this name, and it is not to be overwritten.
pub(super) fn exists(file: &Path) -> CommandError {
    CommandError::invalid(format!("{} already exists", display_path(file)))
        .hint("use --overwrite to replace it")
}

/// Renames the complete temporary file.
pub(super) fn publish(part: &Path, file: &Path, overwrite: bool) -> Result<(), CommandError> {
    if overwrite {
        return fs_err::rename(part, file).map_err(|error| cannot_write(&error));
    }
    // A hard link fails if the name exists, even if another process has just created it.
    match std::fs::hard_link(part, file) {
        Ok(()) => {
            let _ = fs_err::remove_file(part);
            Ok(())
        }
        Err(_) if file.exists() => Err(exists(file)),
        // Not every file system supports hard links.
        Err(_) => fs_err::rename(part, file).map_err(|error| cannot_write(&error)),
    }
}
