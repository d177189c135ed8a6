//! [`AtomicFile`]: a file that appears under its name only when it is whole and on the disk.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use tempfile::{NamedTempFile, TempPath};

/// A file in the making, `.….part` in the folder of its future name. It is removed when it is dropped; that of a killed process is recognized by
/// its name.
#[derive(Debug)]
pub struct AtomicFile(NamedTempFile);

impl AtomicFile {
    /// Begins a file in the folder of `target`.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn beside(target: &Path) -> io::Result<Self> {
        Self::in_folder(folder_of(target))
    }

    /// Begins a file in a folder.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn in_folder(folder: &Path) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".").suffix(".part");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        builder.tempfile_in(folder).map(Self)
    }

    /// Takes over a file that another program has written, on the file system of its future name.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn from_written(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        Ok(Self(NamedTempFile::from_parts(file, TempPath::try_from_path(path)?)))
    }

    pub fn file(&self) -> &File {
        self.0.as_file()
    }

    /// Its temporary name.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Gives the file its name, in place of any other file of it, whose permissions it takes.
    ///
    /// # Errors
    /// When it cannot be synced or renamed; then what was there is untouched.
    pub fn replace(self, target: &Path) -> io::Result<()> {
        if let Ok(metadata) = std::fs::metadata(target) {
            self.file().set_permissions(metadata.permissions())?;
        }
        self.file().sync_all()?;
        self.0.persist(target).map_err(|error| error.error)?;
        Ok(())
    }

    /// Gives the file its name, which no other file has.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] where there is a file of that name, also one that another process has just created; when it cannot be
    /// synced or renamed.
    pub fn create(self, target: &Path) -> io::Result<()> {
        self.file().sync_all()?;
        self.0.persist_noclobber(target).map_err(|error| error.error)?;
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Writes contents in place of any file of this name.
///
/// # Errors
/// As [`AtomicFile::beside`] and [`AtomicFile::replace`].
pub fn replace_file(target: &Path, contents: &[u8]) -> io::Result<()> {
    let mut file = AtomicFile::beside(target)?;
    file.write_all(contents)?;
    file.replace(target)
}

/// Makes the name of a file durable, where folders can be synced.
pub fn sync_folder_of(file: &Path) {
    if let Ok(folder) = File::open(folder_of(file)) {
        let _unsupported = folder.sync_all();
    }
}

fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_appears_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a.txt");
        let mut dropped = AtomicFile::beside(&target).unwrap();
        dropped.write_all(b"half").unwrap();
        assert!(!target.exists());
        drop(dropped);
        assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), 0);

        AtomicFile::beside(&target).unwrap().create(&target).unwrap();
        let taken = AtomicFile::beside(&target).unwrap().create(&target).unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
        replace_file(&target, b"whole").unwrap();
        assert_eq!(fs_err::read(&target).unwrap(), b"whole");
        assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn replaced_file_keeps_its_permissions() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a.txt");
        fs_err::write(&target, b"").unwrap();
        fs_err::set_permissions(&target, std::fs::Permissions::from_mode(0o640)).unwrap();
        replace_file(&target, b"new").unwrap();
        assert_eq!(fs_err::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
    }
}
