//! Picks made with `runner pick` and ratings made with `runner rate`, in `.runner/picks.json` beside the workflow file. `pick` in that file
//! overrides it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use workflow::Picks;

use crate::project_paths::{ProjectPaths, real_file};

/// The version of the file.
const VERSION: u32 = 1;
/// Maximum size of the file.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// The file, by the workflow file's name.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PicksFile {
    version: u32,
    workflows: BTreeMap<String, StoredPicks>,
}

/// The picks of one workflow.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredPicks {
    /// Take number by the name of a shot or instance.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    takes: BTreeMap<String, u32>,
    /// Cells by shot, as the names of instances write them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    cells: BTreeMap<String, BTreeSet<String>>,
    /// From 1 to 5, or 0 for what is rejected, by the SHA-256 of a video: what is rendered again is not what was rated.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    ratings: BTreeMap<String, u8>,
}

/// What every version of the file has.
#[derive(Debug, Deserialize)]
struct AnyVersion {
    version: u32,
}

/// The picks of one workflow file.
#[derive(Debug)]
pub(crate) struct PickStore {
    file: PathBuf,
    workflow: String,
}

impl PickStore {
    pub(crate) fn new(workflow: &Path, paths: &ProjectPaths) -> Self {
        let real = real_file(workflow).unwrap_or_else(|_| workflow.to_owned());
        let name = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self { file: Self::path(paths), workflow: name }
    }

    /// The file of all picks of a project.
    pub(crate) fn path(paths: &ProjectPaths) -> PathBuf {
        paths.folder.join(".runner").join("picks.json")
    }

    /// Reads the picks; none if there is no file.
    ///
    /// # Errors
    /// What is wrong with the file, for people.
    pub(crate) fn read(&self) -> Result<Picks, String> {
        let stored = self.read_stored()?;
        Ok(Picks { takes: stored.takes, cells: stored.cells })
    }

    /// Reads the ratings, by the SHA-256 of videos.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub(crate) fn ratings(&self) -> Result<BTreeMap<String, u8>, String> {
        Ok(self.read_stored()?.ratings)
    }

    fn read_stored(&self) -> Result<StoredPicks, String> {
        Ok(self.read_file()?.workflows.remove(&self.workflow).unwrap_or_default())
    }

    /// Updates the picks atomically: concurrent updates are serialized by a lock file, and a crash leaves the old file.
    ///
    /// # Errors
    /// Why the file cannot be written, for people. It is unchanged then.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Picks)) -> Result<(), String> {
        self.change_stored(|stored| {
            let takes = std::mem::take(&mut stored.takes);
            let mut picks = Picks { takes, cells: std::mem::take(&mut stored.cells) };
            change(&mut picks);
            (stored.takes, stored.cells) = (picks.takes, picks.cells);
        })
    }

    /// Rates videos by their SHA-256, or removes their ratings.
    ///
    /// # Errors
    /// As [`Self::change`].
    pub(crate) fn rate(
        &self,
        videos: impl Iterator<Item = String>,
        rating: Option<u8>,
    ) -> Result<(), String> {
        self.change_stored(|stored| match rating {
            Some(rating) => stored.ratings.extend(videos.map(|video| (video, rating))),
            None => videos.for_each(|video| {
                stored.ratings.remove(&video);
            }),
        })
    }

    fn change_stored(&self, change: impl FnOnce(&mut StoredPicks)) -> Result<(), String> {
        self.change_file(change).map_err(|error| match error {
            ChangeError::Io(error) => format!("cannot write the picks: {error}"),
            ChangeError::Invalid(why) => why,
        })
    }

    fn change_file(&self, change: impl FnOnce(&mut StoredPicks)) -> Result<(), ChangeError> {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        fs_err::create_dir_all(folder)?;
        let lock = File::create(folder.join("picks.lock"))?;
        lock.lock()?;
        let mut stored = self.read_file().map_err(ChangeError::Invalid)?;
        let mut picks = stored.workflows.remove(&self.workflow).unwrap_or_default();
        change(&mut picks);
        if picks != StoredPicks::default() {
            stored.workflows.insert(self.workflow.clone(), picks);
        }
        let text = serde_json::to_string_pretty(&stored).map_err(std::io::Error::other)?;
        media::replace_file(&self.file, format!("{text}\n").as_bytes())?;
        Ok(())
    }

    fn read_file(&self) -> Result<PicksFile, String> {
        let empty = PicksFile { version: VERSION, workflows: BTreeMap::new() };
        let path = crate::project_paths::display_path(&self.file);
        match std::fs::metadata(&self.file) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(empty),
            Ok(metadata) if metadata.len() > MAX_FILE_BYTES => {
                return Err(format!("{path} is too large to be a picks file"));
            }
            Ok(_) | Err(_) => {}
        }
        let text = fs_err::read_to_string(&self.file).map_err(|error| error.to_string())?;
        let invalid = |error| format!("{path} is invalid: {error}; fix it, or remove it and pick again");
        let AnyVersion { version } = serde_json::from_str(&text).map_err(invalid)?;
        match version {
            VERSION => serde_json::from_str(&text).map_err(invalid),
            _ => Err(format!("{path} has version {version}; this program supports version {VERSION}")),
        }
    }
}

enum ChangeError {
    Io(std::io::Error),
    Invalid(String),
}

impl From<std::io::Error> for ChangeError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}
