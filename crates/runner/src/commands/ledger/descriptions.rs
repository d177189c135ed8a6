//! The described videos of `ledger adopt`: of the sidecars in the artifact store, and of those and the manifest in the folder of `--from-folder`.

use std::path::Path;

use engine::adopt::{DescribedVideo, UnusedDescription, described_by_sidecars};

use crate::commands::view::{MANIFEST, read_manifest};
use crate::error::CommandError;
use crate::project_paths::{ProjectPaths, display_path};
use crate::shell;

/// Videos with their descriptions, and descriptions that cannot be used.
#[derive(Debug, Default)]
pub(super) struct Descriptions {
    pub(super) videos: Vec<DescribedVideo>,
    pub(super) unused: Vec<UnusedDescription>,
}

impl Descriptions {
    /// Reads the descriptions of a project, and those in the folder `from`.
    pub(super) fn read(
        paths: &ProjectPaths,
        from: Option<&Path>,
        workflow: &Path,
    ) -> Result<Self, CommandError> {
        let mut descriptions = Self::default();
        descriptions.add_sidecars(&paths.store_folder())?;
        if let Some(from) = from {
            descriptions.add_folder(from, workflow)?;
        }
        Ok(descriptions)
    }

    fn add_folder(&mut self, from: &Path, workflow: &Path) -> Result<(), CommandError> {
        if !from.is_dir() {
            let message = format!("--from-folder {}: it is not a folder", display_path(from));
            return Err(CommandError::invalid(message));
        }
        let has_sidecars = self.add_sidecars(from)?;
        let has_manifest = match read_manifest(from) {
            Ok(None) => false,
            Ok(Some(manifest)) => {
                self.add_clips(from, &manifest);
                true
            }
            Err(error) => {
                self.unused.push(UnusedDescription::refused(&from.display().to_string(), &error.message));
                true
            }
        };
        if has_sidecars || has_manifest {
            return Ok(());
        }
        let message = format!(
            "--from-folder {}: it has neither a {MANIFEST} nor sidecars, so nothing says what its videos are; nothing was recorded",
            display_path(from)
        );
        let file = shell::path(workflow);
        let folder = shell::path(from);
        Err(CommandError::invalid(message)
            .hint(format!(
                "where the videos were made, this writes {MANIFEST} beside them: runner view {file} --no-open"
            ))
            .hint(format!(
                "if their names still end with their keys: runner ledger adopt {file} --output-dir {folder}"
            )))
    }

    /// Whether there are any.
    fn add_sidecars(&mut self, folder: &Path) -> Result<bool, CommandError> {
        let (videos, unused) = described_by_sidecars(folder)?;
        let has_sidecars = !(videos.is_empty() && unused.is_empty());
        self.videos.extend(videos);
        self.unused.extend(unused);
        Ok(has_sidecars)
    }

    /// Clips with a description. Its file was removed from the manifest where it leads out of the folder.
    fn add_clips(&mut self, folder: &Path, manifest: &viewer::Manifest) {
        let manifest_path = folder.join(MANIFEST);
        for clip in &manifest.clips {
            let Some(description) = &clip.description else { continue };
            let source = format!("{}: {}", manifest_path.display(), clip.id);
            let Some(file) = &clip.file else {
                let reason = "it has a video, and no `file` in the folder";
                self.unused.push(UnusedDescription::refused(&source, &reason));
                continue;
            };
            match DescribedVideo::in_manifest(folder, source, file, description) {
                Ok(video) => self.videos.push(video),
                Err(unused) => self.unused.push(unused),
            }
        }
    }
}
