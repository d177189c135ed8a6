//! Videos with a description: a sidecar beside the video, or the same object in the manifest of an output folder. A description may come from
//! anybody: what it says counts only after the hash of its video was verified, and its names cannot leave the folder.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;
use workflow::plan::NodeKey;

use crate::artifact::file_sha256;
use crate::sidecar::{self, Sidecar};

/// A video with its description.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribedVideo {
    /// What describes it, for messages: the path of a sidecar, or a manifest and a clip.
    pub source: String,
    /// The folder of the description, which the video has to be in.
    folder: PathBuf,
    path: PathBuf,
    /// What it says.
    pub(super) description: Sidecar,
}

/// A description that was not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusedDescription {
    pub source: String,
    pub reason: String,
    /// Whether it is damaged or misleading. Otherwise it is not needed: it describes other work.
    pub is_refused: bool,
}

impl UnusedDescription {
    /// A description that is damaged or misleading.
    pub fn refused(source: &str, reason: &impl ToString) -> Self {
        Self { source: source.to_owned(), reason: reason.to_string(), is_refused: true }
    }

    pub(super) fn not_needed(source: &str, reason: impl Into<String>) -> Self {
        Self { source: source.to_owned(), reason: reason.into(), is_refused: false }
    }
}

impl DescribedVideo {
    /// The video `file` of the manifest in `folder`, which describes it as a sidecar does.
    ///
    /// # Errors
    /// Why the description cannot be used.
    pub fn in_manifest(
        folder: &Path,
        source: String,
        file: &str,
        description: &Value,
    ) -> Result<Self, UnusedDescription> {
        if !Path::new(file).components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(UnusedDescription::refused(&source, &"its `file` leads out of the folder"));
        }
        match Sidecar::from_json(description.to_string().as_bytes()) {
            Ok(description) => {
                Ok(Self { source, folder: folder.to_owned(), path: folder.join(file), description })
            }
            Err(error) => Err(UnusedDescription::refused(&source, &error)),
        }
    }

    pub(super) fn beside_sidecar(folder: &Path, source: String, description: Sidecar) -> Self {
        let path = folder.join(format!("{}.mp4", description.sha256));
        Self { source, folder: folder.to_owned(), path, description }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The key of its work, if it is one.
    pub(super) fn key(&self) -> Option<NodeKey> {
        NodeKey::parse(&self.description.key)
    }

    /// The name of its instance, without the number of a take.
    pub(super) fn instance(&self) -> &str {
        let shot = self.description.shot.as_str();
        shot.split_once('#').map_or(shot, |(instance, _)| instance)
    }

    /// Verifies that the file is in its folder and has the described content. The error says what is wrong.
    pub(super) fn verify(&self) -> Result<(), String> {
        let real = |path: &Path| {
            path.canonicalize()
                .map_err(|error| format!("its video {} cannot be read: {error}", path.display()))
        };
        let file = real(&self.path)?;
        if !file.starts_with(real(&self.folder)?) || !file.is_file() {
            return Err(format!("its video {} is not a file in its folder", self.path.display()));
        }
        match file_sha256(&file) {
            Ok(sha256) if sha256 == self.description.sha256 => Ok(()),
            Ok(_) => Err(format!("the SHA-256 of {} is another one: it was changed", self.path.display())),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// The videos that the sidecars in a folder describe, and the sidecars that cannot be used.
///
/// # Errors
/// When the folder cannot be read.
pub fn described_by_sidecars(
    folder: &Path,
) -> std::io::Result<(Vec<DescribedVideo>, Vec<UnusedDescription>)> {
    let (mut videos, mut unused) = (Vec::new(), Vec::new());
    for (path, sidecar) in sidecar::read_folder(folder)? {
        let source = path.display().to_string();
        match sidecar {
            Ok(sidecar) => videos.push(DescribedVideo::beside_sidecar(folder, source, sidecar)),
            Err(error) => unused.push(UnusedDescription::refused(&source, &error)),
        }
    }
    Ok((videos, unused))
}

/// Descriptions by the key of their request (with number 1).
pub(super) struct Descriptions<'a> {
    all: &'a [DescribedVideo],
    by_request: HashMap<NodeKey, Vec<usize>>,
    is_used: Vec<bool>,
}

impl<'a> Descriptions<'a> {
    pub(super) fn new(all: &'a [DescribedVideo]) -> Self {
        let mut by_request: HashMap<NodeKey, Vec<usize>> = HashMap::new();
        for (index, video) in all.iter().enumerate() {
            if let Some(key) = video.key() {
                by_request.entry(key.numbered(1)).or_default().push(index);
            }
        }
        Self { all, by_request, is_used: vec![false; all.len()] }
    }

    /// The descriptions of videos of a request that are not used yet, by their numbers; of one number the latest first. They count as used from now
    /// on.
    pub(super) fn take(&mut self, request: NodeKey) -> Vec<&'a DescribedVideo> {
        let mut indexes = self.by_request.get(&request).cloned().unwrap_or_default();
        indexes.retain(|index| !self.is_used[*index]);
        for index in &indexes {
            self.is_used[*index] = true;
        }
        let mut taken: Vec<&DescribedVideo> = indexes.into_iter().map(|index| &self.all[index]).collect();
        taken.sort_by_key(|video| (video.key(), Reverse(video.description.completed_at)));
        taken
    }

    /// The descriptions that are for none of the plan's nodes.
    pub(super) fn unused(&self) -> impl Iterator<Item = &'a DescribedVideo> {
        self.all.iter().zip(&self.is_used).filter(|(_, is_used)| !**is_used).map(|(video, _)| video)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::artifact::sha256;

    fn clip(folder: &Path, content: &[u8], file: &str) -> Result<DescribedVideo, UnusedDescription> {
        let description = json!({
            "version": 1, "key": "a".repeat(64), "sha256": sha256(content), "bytes": content.len(), "service": "https://example.com",
            "task": "t1", "attempt": "r.1", "shot": "door", "workflow": "film", "file": "film.yaml", "model": "m",
            "prompt": null, "seed": null, "request": null, "parents": [], "render": 1, "asked": false,
            "reserved_cost": null, "currency": null, "completed_at": 1
        });
        DescribedVideo::in_manifest(folder, "a clip".to_owned(), file, &description)
    }

    #[test]
    fn description_is_taken_once_by_its_request() {
        let key = NodeKey::parse(&"a".repeat(64)).unwrap();
        let all = [clip(Path::new("."), b"", "a.mp4").unwrap()];
        let mut descriptions = Descriptions::new(&all);
        assert!(descriptions.take(NodeKey::parse(&"b".repeat(64)).unwrap()).is_empty());
        assert_eq!(descriptions.unused().count(), 1);
        assert_eq!(descriptions.take(key).len(), 1);
        assert_eq!(descriptions.unused().count(), 0);
        assert!(descriptions.take(key).is_empty());
    }

    #[test]
    fn video_is_verified_by_its_content_and_stays_in_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("in")).unwrap();
        let inside = folder.path().join("in");
        std::fs::write(inside.join("a.mp4"), "video").unwrap();
        std::fs::write(folder.path().join("out.mp4"), "video").unwrap();
        let verify = |content: &[u8], file: &str| clip(&inside, content, file).unwrap().verify();
        assert_eq!(verify(b"video", "a.mp4"), Ok(()));
        assert!(verify(b"other", "a.mp4").unwrap_err().ends_with("is another one: it was changed"));
        assert!(verify(b"video", "b.mp4").unwrap_err().contains("cannot be read"));
        for file in ["../out.mp4", "/etc/passwd", "a/../../out.mp4"] {
            assert!(clip(&inside, b"video", file).unwrap_err().is_refused, "{file}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(folder.path().join("out.mp4"), inside.join("link.mp4")).unwrap();
            assert!(verify(b"video", "link.mp4").unwrap_err().ends_with("is not a file in its folder"));
        }
    }
}
