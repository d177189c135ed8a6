//! Writes a draft: a folder that exists as a whole or not at all.

use std::io;
use std::path::Path;

use crate::commands::atomic_write::{cannot_write, existing_folder, exists};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::project_paths::display_path;

/// The file that only drafts have.
const MARK: &str = "draft_meta_info.json";

/// Writes the files of a draft as a folder. An existing draft is replaced on request only, and nothing else ever.
pub(super) fn write(draft: &Path, files: &[(&str, Vec<u8>)], overwrite: bool) -> Result<Exit, CommandError> {
    let folder = existing_folder(draft)?;
    let is_replaced = draft.symlink_metadata().is_ok();
    if is_replaced && !overwrite {
        return Err(exists(draft));
    }
    if is_replaced && !draft.join(MARK).is_file() {
        let message = format!("{} is no draft, and is not replaced by one", display_path(draft));
        return Err(CommandError::invalid(message).hint("choose another name with --output"));
    }
    replace(folder, draft, files, is_replaced).map_err(|error| cannot_write(&error))?;
    outln!("{}", display_path(draft));
    Ok(Exit::Done)
}

/// `runner clean` removes the temporary folder of a killed process.
fn replace(folder: &Path, draft: &Path, files: &[(&str, Vec<u8>)], is_replaced: bool) -> io::Result<()> {
    let scratch = tempfile::Builder::new().prefix(".film-").suffix(".part").tempdir_in(folder)?;
    let (new, old) = (scratch.path().join("new"), scratch.path().join("old"));
    fs_err::create_dir(&new)?;
    for (name, contents) in files {
        fs_err::write(new.join(name), contents)?;
    }
    if is_replaced {
        fs_err::rename(draft, &old)?;
    }
    fs_err::rename(&new, draft).inspect_err(|_| {
        if is_replaced {
            _ = fs_err::rename(&old, draft);
        }
    })
}
