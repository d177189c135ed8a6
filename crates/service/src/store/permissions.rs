//! Permissions of the data directory: prompts, and the tokens that give access to videos, are for its owner only.

use std::{
    fs::{File, OpenOptions},
    io,
    path::Path,
};

/// Creates a data directory. One that exists is closed to others only if it is a data directory already: `--data` may
/// name a folder with other things in it.
pub(super) fn create_private_dir(data: &Path) -> io::Result<()> {
    let existed = data.exists();
    fs_err::create_dir_all(data)?;
    if !existed || super::database_file(data).exists() { restrict_dir(data) } else { Ok(()) }
}

/// New files are for their owner only.
#[cfg(unix)]
pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;
    options.mode(0o600)
}

/// Closes a file to others that was there before.
#[cfg(unix)]
pub(super) fn restrict(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(std::fs::Permissions::from_mode(0o600))
}

#[cfg(unix)]
fn restrict_dir(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs_err::set_permissions(folder, std::fs::Permissions::from_mode(0o700))
}

/// Access is inherited on this system.
#[cfg(not(unix))]
pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Access is inherited on this system.
#[cfg(not(unix))]
pub(super) fn restrict(_file: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(not(unix))]
fn restrict_dir(_folder: &Path) -> io::Result<()> {
    Ok(())
}
