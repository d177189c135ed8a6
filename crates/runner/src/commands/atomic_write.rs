//! Writes a file that a user may have written already: never over it unless they say so, and never half.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// A file's name as it is typed into a shell.
pub(crate) fn shell_quoted(file: &Path) -> String {
    let name = file.to_string_lossy();
    shlex::try_quote(&name).map_or_else(|_| name.to_string(), std::borrow::Cow::into_owned)
}

/// Writes `text` to `file`. The error says why not, for people.
pub(crate) fn atomic_write(file: &Path, text: &str, force: bool) -> Result<(), String> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut name = std::ffi::OsString::from(".");
    name.push(file.file_name().ok_or_else(|| format!("{} is not the name of a file", file.display()))?);
    name.push(format!(".{}.part", std::process::id()));
    let part = folder.join(name);
    let written = write_part(&part, text).and_then(|()| publish(&part, file, force));
    if written.is_err() {
        // It is ours alone; what is left of it says nothing.
        let _ = fs_err::remove_file(&part);
    }
    written
}

fn write_part(part: &PathBuf, text: &str) -> Result<(), String> {
    let mut open = fs_err::File::create_new(part).map_err(|error| format!("cannot write: {error}"))?;
    open.write_all(text.as_bytes())
        .and_then(|()| open.sync_all())
        .map_err(|error| format!("cannot write: {error}"))
}

/// Gives the whole file its name.
fn publish(part: &Path, file: &Path, force: bool) -> Result<(), String> {
    if force {
        return fs_err::rename(part, file).map_err(|error| format!("cannot write: {error}"));
    }
    // A second name fails where there is a file already, whoever has just put it there.
    match std::fs::hard_link(part, file) {
        Ok(()) => {
            let _ = fs_err::remove_file(part);
            Ok(())
        }
        Err(_) if file.exists() => Err(format!("{} is there already; --force overwrites it", file.display())),
        // Not every file system has second names.
        Err(_) => fs_err::rename(part, file).map_err(|error| format!("cannot write: {error}")),
    }
}
