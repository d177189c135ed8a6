//! Files on disk, with a record of those that a workflow has asked for: a change of one of them changes the workflow.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use workflow::{DirEntry, DirFiles, FileError, Files, MediaGate, ReadSeek};

/// The maximum number of files that are tracked.
const MAX_TRACKED_FILES: usize = 2_000;

/// Files below a folder.
pub(crate) struct TrackedFiles {
    folder: PathBuf,
    files: DirFiles,
    tracked: RefCell<BTreeSet<PathBuf>>,
}

impl TrackedFiles {
    pub(crate) fn new(folder: &Path, media_gate: MediaGate) -> Self {
        let files = DirFiles::new(folder, media_gate);
        Self { folder: folder.to_owned(), files, tracked: RefCell::default() }
    }

    /// The files and folders that were asked for, whether they exist or not.
    pub(crate) fn into_paths(self) -> Vec<PathBuf> {
        self.tracked.into_inner().into_iter().collect()
    }

    fn track(&self, path: &Path) {
        let mut tracked = self.tracked.borrow_mut();
        if tracked.len() < MAX_TRACKED_FILES {
            tracked.insert(self.folder.join(path));
        }
    }
}

impl Files for TrackedFiles {
    fn read(&self, path: &Path, max: u64) -> Result<Vec<u8>, FileError> {
        self.track(path);
        self.files.read(path, max)
    }

    fn open(&self, path: &Path, max: u64) -> Result<Box<dyn ReadSeek>, FileError> {
        self.track(path);
        self.files.open(path, max)
    }

    fn list(&self, folder: &Path, max: usize) -> Result<Vec<DirEntry>, FileError> {
        self.track(folder);
        self.files.list(folder, max)
    }

    fn media_gate(&self) -> MediaGate {
        self.files.media_gate()
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use crate::args::OverrideArgs;
    use crate::load;

    #[test]
    fn files_that_a_workflow_depends_on_are_noted() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs_err::write(folder.path().join(name), text).unwrap();
        write("model.yaml", "defaults: {model: modelb-video-480p}\n");
        write("looks.csv", "name\nnoir\n");
        write(
            "film.yaml",
            "version: 1\nname: film\ninclude: [model.yaml, later.yaml]\nshots:\n  - id: pier\n    prompt: \"a pier, {{ look.name }}\"\n    \
             matrix: {look: {csv: looks.csv}}\n",
        );
        let (checked, files) =
            load::check_with_files(&folder.path().join("film.yaml"), &OverrideArgs::default());
        assert!(checked.unwrap().plan.is_none(), "one of the included files is missing");
        let names: Vec<_> = files.iter().filter_map(|file| file.file_name()).collect();
        for name in ["model.yaml", "later.yaml"] {
            assert!(names.contains(&OsStr::new(name)), "{name} is not among {names:?}");
        }
        write("later.yaml", "defaults: {seconds: 1}\n");
        let (checked, files) =
            load::check_with_files(&folder.path().join("film.yaml"), &OverrideArgs::default());
        assert!(checked.unwrap().plan.is_some());
        assert!(files.iter().any(|file| file.ends_with("looks.csv")), "{files:?}");
    }
}
