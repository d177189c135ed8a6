//! What killed processes have left in an output folder: films, proxies, pages and manifests of which only a part was written.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::{FileUse, UnneededFile};

/// A process that is at work writes more often than this. Reports and pages are written without a lock.
const MIN_AGE: Duration = Duration::from_mins(10);

/// Folders of an output folder in which files are written under temporary names.
const FOLDERS: [&str; 3] = ["", "posters", "proxies"];

/// The temporary files and folders in an output folder and in those of its posters and proxies, by name. `now` is the present time.
///
/// # Errors
/// When a folder cannot be read.
pub fn temporary_files(output_dir: &Path, now: SystemTime) -> io::Result<Vec<UnneededFile>> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        let entries = match std::fs::read_dir(output_dir.join(folder)) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => continue,
            entries => entries?,
        };
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if !(name.starts_with('.') && name.ends_with(".part")) {
                continue;
            }
            // It may be gone since.
            let Ok((bytes, modified)) = size_and_time(&path) else { continue };
            let is_old = now.duration_since(modified).is_ok_and(|age| age >= MIN_AGE);
            let need = if is_old { FileUse::Temporary } else { FileUse::Process };
            files.push(UnneededFile { path, bytes, attempt: None, need });
        }
    }
    files.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(files)
}

/// The bytes of a file, or of the files of a folder, and when the last of them was written.
fn size_and_time(path: &Path) -> io::Result<(u64, SystemTime)> {
    // A link is not followed.
    let metadata = std::fs::symlink_metadata(path)?;
    let (mut bytes, mut modified) = (metadata.len(), metadata.modified()?);
    if metadata.is_dir() {
        bytes = 0;
        for entry in std::fs::read_dir(path)? {
            let metadata = entry?.metadata()?;
            bytes += metadata.len();
            modified = modified.max(metadata.modified()?);
        }
    }
    Ok((bytes, modified))
}

/// Removes a temporary file, or a folder with its files.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    if std::fs::symlink_metadata(path)?.is_dir() {
        fs_err::remove_dir_all(path)
    } else {
        fs_err::remove_file(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_files_are_listed_and_removed_when_nobody_writes_them() {
        let output_dir = tempfile::tempdir().unwrap();
        let file = |name: &str| {
            let path = output_dir.path().join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(&path, "half").unwrap();
            path
        };
        for name in [".film-a1.part/film.mp4", "proxies/.film-b2.part", ".manifest.json.7.part"] {
            file(name);
        }
        let others = ["film.mp4", "proxies/0123.mp4", "a.part", ".hidden"].map(file);
        let now = SystemTime::now();
        let needs = |now| -> Vec<(String, u64, FileUse)> {
            let files = temporary_files(output_dir.path(), now).unwrap();
            let name =
                |path: &Path| path.strip_prefix(output_dir.path()).unwrap().to_string_lossy().into_owned();
            files.iter().map(|file| (name(&file.path), file.bytes, file.need)).collect()
        };
        let expected = [".film-a1.part", ".manifest.json.7.part", "proxies/.film-b2.part"];
        let all = |need: FileUse| expected.map(|name| (name.to_owned(), 4, need));
        assert_eq!(needs(now), all(FileUse::Process));
        assert_eq!(needs(now - MIN_AGE), all(FileUse::Process), "a clock that was ahead");
        assert_eq!(needs(now + 2 * MIN_AGE), all(FileUse::Temporary));
        for file in temporary_files(output_dir.path(), now + 2 * MIN_AGE).unwrap() {
            assert!(crate::clean::remove(&file).unwrap());
        }
        assert_eq!(needs(now), []);
        assert!(others.iter().all(|path| path.exists()));
        assert_eq!(temporary_files(&output_dir.path().join("nowhere"), now).unwrap(), []);
    }
}
