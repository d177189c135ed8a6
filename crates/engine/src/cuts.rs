//! Cuts of a film: `NAME.mp4` is the current one, earlier ones stay as `NAME.1.mp4`, `NAME.2.mp4` and so on. Its subtitles likewise.
//!
//! Invariant: at every instant each cut has a complete file. The current one gets its second name before the new one takes its first.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use media::{AtomicFile, sync_folder_of};

use crate::artifact::file_sha256;
use crate::failpoint::{self, Boundary, CommitPoint};

/// The earlier cuts of a film, oldest first.
///
/// # Errors
/// When the film's folder cannot be read.
pub fn earlier_cuts(film: &Path) -> io::Result<Vec<PathBuf>> {
    Ok(numbered_cuts(film)?.into_iter().map(|(_, path)| path).collect())
}

/// Puts a new cut, a file on the same file system, in the place of the current one. The current one is kept under the next number, unless
/// an earlier cut is equal to it. `is_reserved` names files that are no cuts of this film.
///
/// # Errors
/// When a file cannot be read, linked or renamed. The current cut is in its place then.
pub fn replace(new: &Path, film: &Path, is_reserved: &dyn Fn(&str) -> bool) -> io::Result<()> {
    match std::fs::symlink_metadata(film) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
        Ok(_) if is_equal(new, film)? => return fs_err::remove_file(new),
        Ok(_) => {
            failpoint::hit(Boundary::Before, CommitPoint::EarlierCut.as_str());
            keep(film, is_reserved)?;
            sync_folder_of(film);
            failpoint::hit(Boundary::After, CommitPoint::EarlierCut.as_str());
        }
    }
    failpoint::hit(Boundary::Before, CommitPoint::Cut.as_str());
    // Without a sync of the folder: a cut that a power cut takes away is joined again.
    fs_err::rename(new, film)?;
    failpoint::hit(Boundary::After, CommitPoint::Cut.as_str());
    Ok(())
}

/// Gives the current cut a number too.
fn keep(film: &Path, is_reserved: &dyn Fn(&str) -> bool) -> io::Result<()> {
    let mut cuts = numbered_cuts(film)?;
    cuts.retain(|(_, cut)| !cut.file_name().is_some_and(|name| is_reserved(&name.to_string_lossy())));
    for (_, cut) in &cuts {
        if is_equal(cut, film)? {
            return Ok(());
        }
    }
    let stem = film.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut number = cuts.last().map_or(0, |(number, _)| *number);
    loop {
        number += 1;
        let name = format!("{stem}.{number}.{}", extension(film));
        if is_reserved(&name) {
            continue;
        }
        let cut = film.with_file_name(name);
        match std::fs::hard_link(film, &cut) {
            Ok(()) => return Ok(()),
            // Another process, or a file of the user's.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(_) if std::fs::symlink_metadata(&cut).is_ok() => {}
            // A file system without hard links.
            Err(_) => return copy(film, &cut),
        }
    }
}

fn extension(file: &Path) -> std::borrow::Cow<'_, str> {
    file.extension().unwrap_or_default().to_string_lossy()
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let part = AtomicFile::beside(to)?;
    fs_err::copy(from, part.path())?;
    part.create(to)
}

/// The numbered cuts of a film, in order.
fn numbered_cuts(film: &Path) -> io::Result<Vec<(u32, PathBuf)>> {
    let (Some(folder), Some(stem)) = (film.parent(), film.file_stem().and_then(|stem| stem.to_str())) else {
        return Ok(Vec::new());
    };
    let suffix = format!(".{}", extension(film));
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut cuts = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let number = name
            .to_str()
            .and_then(|name| name.strip_prefix(stem)?.strip_prefix('.')?.strip_suffix(suffix.as_str()))
            .filter(|number| !number.starts_with(['0', '+']))
            .and_then(|number| number.parse().ok());
        if let Some(number) = number
            && entry.file_type()?.is_file()
        {
            cuts.push((number, entry.path()));
        }
    }
    cuts.sort_unstable();
    Ok(cuts)
}

fn is_equal(left: &Path, right: &Path) -> io::Result<bool> {
    let len = |path: &Path| Ok::<u64, io::Error>(fs_err::metadata(path)?.len());
    Ok(len(left)? == len(right)? && file_sha256(left)? == file_sha256(right)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replace_film(folder: &Path, content: &str, is_reserved: &dyn Fn(&str) -> bool) {
        let new = folder.join("new");
        std::fs::write(&new, content).unwrap();
        replace(&new, &folder.join("film.mp4"), is_reserved).unwrap();
        assert!(!new.exists());
    }

    fn files(folder: &Path) -> Vec<(String, String)> {
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| {
                let path = entry.unwrap().path();
                (
                    path.file_name().unwrap().to_string_lossy().into_owned(),
                    std::fs::read_to_string(path).unwrap(),
                )
            })
            .collect();
        files.sort();
        files
    }

    #[test]
    fn earlier_cuts_stay_under_numbers_and_equal_ones_once() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let text = |list: &[(&str, &str)]| -> Vec<(String, String)> {
            list.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
        };
        replace_film(folder, "a", &|_| false);
        assert_eq!(files(folder), text(&[("film.mp4", "a")]));
        replace_film(folder, "a", &|_| false);
        assert_eq!(files(folder), text(&[("film.mp4", "a")]));
        replace_film(folder, "b", &|_| false);
        assert_eq!(files(folder), text(&[("film.1.mp4", "a"), ("film.mp4", "b")]));
        replace_film(folder, "a", &|_| false);
        replace_film(folder, "b", &|_| false);
        let both = text(&[("film.1.mp4", "a"), ("film.2.mp4", "b"), ("film.mp4", "b")]);
        assert_eq!(files(folder), both, "a cut that is kept already gets no second number");
        // What a kill between the two steps leaves is that state: the current cut under both names.
        replace_film(folder, "c", &|_| false);
        let expected = text(&[("film.1.mp4", "a"), ("film.2.mp4", "b"), ("film.mp4", "c")]);
        assert_eq!(files(folder), expected);
        assert_eq!(
            earlier_cuts(&folder.join("film.mp4")).unwrap(),
            [folder.join("film.1.mp4"), folder.join("film.2.mp4")]
        );
    }

    #[test]
    fn numbers_go_on_after_a_removed_cut_and_skip_other_files() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        std::fs::write(folder.join("film.2.mp4"), "old").unwrap();
        std::fs::write(folder.join("film.x.mp4"), "x").unwrap();
        std::fs::create_dir(folder.join("film.3.mp4")).unwrap();
        for content in ["a", "b"] {
            replace_film(folder, content, &|name| name == "film.4.mp4");
        }
        assert_eq!(std::fs::read_to_string(folder.join("film.5.mp4")).unwrap(), "a");
        assert_eq!(std::fs::read_to_string(folder.join("film.2.mp4")).unwrap(), "old");
    }
}
