//! Whether videos can be stored. A video that cannot be is paid for and lost once it expires at the service, so it is not ordered.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use scheduler::{Failure, FailureKind};

/// A failed operation on a video's file. What no other video would escape either halts the run ([`FailureKind::Storage`]).
pub(crate) fn failure(problem: &str, error: &io::Error) -> Failure {
    use io::ErrorKind as E;
    let kind = match error.kind() {
        E::StorageFull | E::QuotaExceeded | E::ReadOnlyFilesystem | E::PermissionDenied => {
            FailureKind::Storage
        }
        _ => FailureKind::Local,
    };
    Failure::new(kind, format!("{problem}: {error}"))
}

/// The folders that the videos of a run are written to.
#[derive(Debug)]
pub(crate) struct Storage {
    store: PathBuf,
    output: PathBuf,
    state: Mutex<StorageState>,
}

#[derive(Debug, Default)]
struct StorageState {
    has_been_written: bool,
    /// Videos of this run, and their bytes.
    videos: u64,
    bytes: u64,
}

impl Storage {
    pub(crate) fn new(store: &Path, output: &Path) -> Self {
        Self { store: store.to_owned(), output: output.to_owned(), state: Mutex::default() }
    }

    /// A video of this run was stored.
    pub(crate) fn stored(&self, bytes: u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.videos += 1;
        state.bytes += bytes;
    }

    /// Checks, before a submission, that the folders can be written to, and that there is room for `unfinished` more videos of the mean size of
    /// this run's.
    ///
    /// # Errors
    /// When the next video would probably not be stored.
    pub(crate) fn check(&self, unfinished: usize) -> Result<(), Failure> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.has_been_written {
            for folder in [&self.store, &self.output] {
                let problem = || format!("{} cannot be written to", folder.display());
                write_to(folder).map_err(|error| failure(&problem(), &error))?;
            }
            write_all(tempfile::tempfile())
                .map_err(|error| failure("the temporary folder cannot be written to", &error))?;
            state.has_been_written = true;
        }
        let Some(mean) = state.bytes.checked_div(state.videos) else { return Ok(()) };
        // Where the system does not tell, a full disk shows itself when it is.
        let free = fs4::available_space(&self.store).unwrap_or(u64::MAX);
        room(free, mean, unfinished as u64)
    }
}

fn write_to(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    write_all(tempfile::tempfile_in(folder))
}

fn write_all(file: io::Result<std::fs::File>) -> io::Result<()> {
    file?.write_all(&[0; 4096])
}

/// Whether `free` bytes are enough for `count` videos of `mean` bytes.
fn room(free: u64, mean: u64, count: u64) -> Result<(), Failure> {
    if free >= mean.saturating_mul(count) {
        return Ok(());
    }
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    let message = format!(
        "the disk has {:.1} MB left, room for {} more videos of {:.1} MB on average, and {count} are to come",
        megabytes(free),
        free / mean.max(1),
        megabytes(mean),
    );
    Err(Failure::new(FailureKind::Storage, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_fails_where_the_next_video_does_not_fit() {
        assert_eq!(room(10_000_000, 1_000_000, 10), Ok(()));
        let failure = room(9_999_999, 1_000_000, 10).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Storage);
        assert_eq!(
            failure.message,
            "the disk has 10.0 MB left, room for 9 more videos of 1.0 MB on average, and 10 are to come"
        );
    }

    #[test]
    fn folder_that_cannot_be_created_is_reported_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (file, output) = (folder.path().join("file"), folder.path().join("out"));
        std::fs::write(&file, "").unwrap();
        let failure = Storage::new(&file.join("artifacts"), &output).check(1).unwrap_err();
        assert!(failure.message.contains("artifacts cannot be written to"), "{}", failure.message);
        assert!(!output.exists());
        Storage::new(&folder.path().join("artifacts"), &output).check(1).unwrap();
        assert_eq!(std::fs::read_dir(&output).unwrap().count(), 0, "nothing is left");
    }

    #[test]
    fn failure_of_the_disk_is_told_from_that_of_one_file() {
        let kind = |kind: io::ErrorKind| failure("", &kind.into()).kind;
        assert_eq!(kind(io::ErrorKind::StorageFull), FailureKind::Storage);
        assert_eq!(kind(io::ErrorKind::ReadOnlyFilesystem), FailureKind::Storage);
        assert_eq!(kind(io::ErrorKind::PermissionDenied), FailureKind::Storage);
        assert_eq!(kind(io::ErrorKind::IsADirectory), FailureKind::Local);
    }
}
