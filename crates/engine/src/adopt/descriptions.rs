//! Videos that a sidecar or a manifest describes. A description may come from anybody: what it says counts only after the hash of its
//! video was verified, and its names cannot leave the folder.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use scheduler::{ForcedRerun, TaskId, Timestamp};
use workflow::plan::NodeKey;
use workflow::units::Money;

use super::traces::KEY_DIGITS;
use crate::artifact::file_sha256;
use crate::ledger::{Ledger, LedgerError};
use crate::provider::present_identity;
use crate::sidecar::{self, Sidecar};

/// Prefix of tasks that are recorded where the task is not known.
pub(super) const UNKNOWN_TASK: &str = "unknown-";

/// A video with its description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribedVideo {
    /// What describes it, for messages: the path of a sidecar, or a manifest and a clip.
    pub source: String,
    /// The folder of the description, which the video has to be in.
    folder: PathBuf,
    /// The video.
    path: PathBuf,
    /// Its key as lower-case hex, or the first digits of it.
    key: String,
    pub(super) rerun: Option<ForcedRerun>,
    /// Whether another task was accepted in place of its task.
    is_replaced: bool,
    pub(super) sha256: String,
    /// That of the file that was downloaded first for the same task, if it is another one.
    pub(super) first_sha256: Option<String>,
    /// The identity of the service as it is part of the key, if known.
    pub(super) service: Option<String>,
    pub(super) task: Option<TaskId>,
    pub(super) completed_at: Option<Timestamp>,
    /// What was reserved for its task, if that is known.
    pub(super) reserved_cost: Option<Money>,
}

/// A description that was not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusedDescription {
    /// What it is.
    pub source: String,
    /// Why.
    pub reason: String,
    /// Whether it is damaged or misleading. Otherwise it is not needed: it describes other work.
    pub is_refused: bool,
}

impl UnusedDescription {
    /// A description that is damaged or misleading.
    #[must_use]
    pub fn refused(source: &str, reason: &impl ToString) -> Self {
        Self { source: source.to_owned(), reason: reason.to_string(), is_refused: true }
    }

    pub(super) fn not_needed(source: &str, reason: impl Into<String>) -> Self {
        Self { source: source.to_owned(), reason: reason.into(), is_refused: false }
    }
}

/// A clip of a manifest.
#[derive(Debug, Clone, Copy)]
pub struct ClipDescription<'a> {
    /// The key, or the first digits of it.
    pub key: &'a str,
    /// SHA-256 of the video.
    pub sha256: &'a str,
    /// SHA-256 of the video that was downloaded first for the same task, if it is another one.
    pub first_sha256: Option<&'a str>,
    /// The task.
    pub task: Option<&'a str>,
    /// The video, relative to the folder of the manifest.
    pub file: &'a str,
}

impl DescribedVideo {
    /// The video of a clip of the manifest in `folder`.
    ///
    /// # Errors
    /// Why the description cannot be used.
    pub fn from_clip(
        folder: &Path,
        source: String,
        clip: ClipDescription<'_>,
    ) -> Result<Self, UnusedDescription> {
        let refuse = |reason: &str| Err(UnusedDescription::refused(&source, &reason));
        if !sidecar::is_hex(clip.key) || !(KEY_DIGITS..=64).contains(&clip.key.len()) {
            return refuse("its `key` is not 12 to 64 lower-case hex digits");
        }
        if !sidecar::is_digest(clip.sha256) {
            return refuse("its `sha256` is not 64 lower-case hex digits");
        }
        if clip.first_sha256.is_some_and(|first| !sidecar::is_digest(first)) {
            return refuse("its `first_sha256` is not 64 lower-case hex digits");
        }
        if !Path::new(clip.file).components().all(|part| matches!(part, Component::Normal(_))) {
            return refuse("its `file` leads out of the folder");
        }
        let task = clip.task.filter(|task| !task.starts_with(UNKNOWN_TASK));
        Ok(Self {
            folder: folder.to_owned(),
            path: folder.join(clip.file),
            key: clip.key.to_owned(),
            rerun: None,
            is_replaced: false,
            sha256: clip.sha256.to_owned(),
            first_sha256: clip.first_sha256.map(str::to_owned),
            service: None,
            task: task.map(TaskId::from),
            completed_at: None,
            reserved_cost: None,
            source,
        })
    }

    pub(super) fn from_sidecar(folder: &Path, source: String, sidecar: Sidecar) -> Self {
        Self {
            source,
            folder: folder.to_owned(),
            path: folder.join(format!("{}.mp4", sidecar.sha256)),
            key: sidecar.key,
            is_replaced: sidecar.rerun.as_ref().is_some_and(|rerun| rerun.salt == sidecar.attempt),
            rerun: sidecar.rerun.map(|rerun| ForcedRerun {
                key: rerun.key,
                salt: rerun.salt,
                supersedes: None,
            }),
            sha256: sidecar.sha256,
            first_sha256: sidecar.first_sha256,
            service: Some(sidecar.service),
            task: sidecar.task.filter(|task| !task.starts_with(UNKNOWN_TASK)).map(TaskId),
            completed_at: Some(sidecar.completed_at),
            reserved_cost: sidecar.reserved_cost,
        }
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is the work of a node with this key, or a rerun of the one with the key that the file gives, `base`.
    pub(super) fn is_for(&self, key: NodeKey, base: NodeKey) -> bool {
        key.to_string().starts_with(&self.key) || self.reruns(base)
    }

    /// Whether it is a rerun of the work with this key that counts instead of a video which is on record since `recorded_at`.
    pub(super) fn is_later_rerun(&self, base: NodeKey, recorded_at: Option<Timestamp>) -> bool {
        self.reruns(base)
            && !self.is_replaced
            && recorded_at.is_none_or(|time| self.completed_at.is_some_and(|completed| completed > time))
    }

    /// Whether the ledger knows work with its key.
    pub(super) fn is_on_record(&self, ledger: &Ledger) -> Result<bool, LedgerError> {
        ledger.has_work(&self.key)
    }

    /// Its key, if it is known as a whole, and that of the work which it is a rerun of.
    pub(super) fn keys(&self) -> impl Iterator<Item = NodeKey> {
        let base = self.rerun.as_ref().map(|rerun| rerun.key.as_str());
        [Some(self.key.as_str()), base].into_iter().flatten().filter_map(NodeKey::parse)
    }

    /// The beginnings of these keys.
    pub(super) fn short_keys(&self) -> impl Iterator<Item = &str> {
        let base = self.rerun.as_ref().map(|rerun| rerun.key.as_str());
        [Some(self.key.as_str()), base].into_iter().flatten().map(|key| &key[..KEY_DIGITS])
    }

    /// The present identity of its service, if that is known.
    pub(super) fn service(&self) -> Option<String> {
        self.service.as_ref().map(|name| present_identity(name).unwrap_or_else(|| name.clone()))
    }

    /// Whether it is the video of the same work and the same task, delivered another time.
    pub(super) fn is_delivery_of(&self, other: &Self) -> bool {
        self.key == other.key && self.task == other.task
    }

    /// Whether it is a rerun of the work with this key.
    pub(super) fn reruns(&self, key: NodeKey) -> bool {
        self.rerun.as_ref().is_some_and(|rerun| rerun.key == key.to_string())
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
            Ok(sha256) if sha256 == self.sha256 => Ok(()),
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
            Ok(sidecar) => videos.push(DescribedVideo::from_sidecar(folder, source, sidecar)),
            Err(error) => unused.push(UnusedDescription::refused(&source, &error)),
        }
    }
    Ok((videos, unused))
}

/// Descriptions by the first digits of their keys: of the video, and of the work that it is a rerun of.
pub(super) struct Descriptions<'a> {
    all: &'a [DescribedVideo],
    by_key: HashMap<&'a str, Vec<usize>>,
    is_used: Vec<bool>,
}

impl<'a> Descriptions<'a> {
    pub(super) fn new(all: &'a [DescribedVideo]) -> Self {
        let mut by_key: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, video) in all.iter().enumerate() {
            for key in video.short_keys() {
                by_key.entry(key).or_default().push(index);
            }
        }
        let mut descriptions = Self { all, by_key: HashMap::new(), is_used: vec![false; all.len()] };
        for matches in by_key.values_mut() {
            descriptions.sort(matches);
        }
        descriptions.by_key = by_key;
        descriptions
    }

    /// The descriptions of a node's work, the latest first. `base` is its key without the salt of a rerun.
    fn find(&self, key: NodeKey, base: NodeKey) -> Vec<usize> {
        let indexes_of = |key: NodeKey| self.by_key.get(key.short().as_str()).map_or(&[][..], Vec::as_slice);
        let others = if base == key { &[][..] } else { indexes_of(base) };
        let mut indexes: Vec<usize> = indexes_of(key).iter().chain(others).copied().collect();
        if !others.is_empty() {
            self.sort(&mut indexes);
            indexes.dedup();
        }
        indexes.retain(|index| !self.is_used[*index] && self.all[*index].is_for(key, base));
        indexes
    }

    /// The latest first: of several videos of the same work it is the one that counts. Before those of tasks that another one replaced.
    fn sort(&self, matches: &mut [usize]) {
        matches.sort_by_key(|index| {
            (self.all[*index].is_replaced, Reverse(self.all[*index].completed_at), *index)
        });
    }

    /// Whether there is one of a node's work that is accepted.
    pub(super) fn any(&self, key: NodeKey, base: NodeKey, accepts: impl Fn(&DescribedVideo) -> bool) -> bool {
        self.find(key, base).into_iter().any(|index| accepts(&self.all[index]))
    }

    /// The descriptions of a node's work that are accepted, the latest first. They count as used from now on.
    pub(super) fn take(
        &mut self,
        key: NodeKey,
        base: NodeKey,
        accepts: impl Fn(&DescribedVideo) -> Result<bool, LedgerError>,
    ) -> Result<Vec<&'a DescribedVideo>, LedgerError> {
        let mut taken = Vec::new();
        for index in self.find(key, base) {
            if accepts(&self.all[index])? {
                self.is_used[index] = true;
                taken.push(&self.all[index]);
            }
        }
        Ok(taken)
    }

    /// Counts the descriptions of a node's work as used.
    pub(super) fn use_all(&mut self, key: NodeKey, base: NodeKey) {
        for index in self.find(key, base) {
            self.is_used[index] = true;
        }
    }

    /// The descriptions that are for none of the plan's nodes.
    pub(super) fn unused(&self) -> impl Iterator<Item = &'a DescribedVideo> {
        self.all.iter().zip(&self.is_used).filter(|(_, is_used)| !**is_used).map(|(video, _)| video)
    }

    /// Whether a description names only the beginning of a key, and that is of several keys.
    pub(super) fn is_unclear(video: &DescribedVideo, keys: &[Option<NodeKey>]) -> bool {
        let mut matches = keys.iter().flatten().filter(|key| key.to_string().starts_with(&video.key));
        let first = matches.next();
        first.is_some_and(|first| matches.any(|key| key != first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::sha256;

    fn clip(
        folder: &Path,
        key: &str,
        content: &[u8],
        file: &str,
    ) -> Result<DescribedVideo, UnusedDescription> {
        let description =
            ClipDescription { key, sha256: &sha256(content), first_sha256: None, task: None, file };
        DescribedVideo::from_clip(folder, "a clip".to_owned(), description)
    }

    #[test]
    fn key_of_a_clip_that_begins_several_keys_is_unclear() {
        let key = |end: &str| NodeKey::parse(&format!("{}{end}", "a".repeat(63)));
        let short = clip(Path::new("."), &"a".repeat(12), b"", "a.mp4").unwrap();
        assert!(["1", "2"].iter().all(|end| short.is_for(key(end).unwrap(), key(end).unwrap())));
        assert!(Descriptions::is_unclear(&short, &[key("1"), None, key("2")]));
        assert!(!Descriptions::is_unclear(&short, &[key("1"), key("1"), NodeKey::parse(&"b".repeat(64))]));
        let by_full_key = clip(Path::new("."), &key("1").unwrap().to_string(), b"", "a.mp4").unwrap();
        assert!(!Descriptions::is_unclear(&by_full_key, &[key("1"), key("2")]));
    }

    #[test]
    fn description_that_is_not_accepted_stays_for_the_next() {
        let key = NodeKey::parse(&"a".repeat(64)).unwrap();
        let all = [clip(Path::new("."), &key.to_string(), b"", "a.mp4").unwrap()];
        let mut descriptions = Descriptions::new(&all);
        assert!(descriptions.take(key, key, |_| Ok(false)).unwrap().is_empty());
        assert_eq!(descriptions.unused().count(), 1);
        assert_eq!(descriptions.take(key, key, |_| Ok(true)).unwrap().len(), 1);
        assert_eq!(descriptions.unused().count(), 0);
        assert!(descriptions.take(key, key, |_| Ok(true)).unwrap().is_empty());
    }

    #[test]
    fn video_is_verified_by_its_content_and_stays_in_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let key = "a".repeat(64);
        std::fs::create_dir(folder.path().join("in")).unwrap();
        let inside = folder.path().join("in");
        std::fs::write(inside.join("a.mp4"), "video").unwrap();
        std::fs::write(folder.path().join("out.mp4"), "video").unwrap();
        let verify = |content: &[u8], file: &str| clip(&inside, &key, content, file).unwrap().verify();
        assert_eq!(verify(b"video", "a.mp4"), Ok(()));
        assert!(verify(b"other", "a.mp4").unwrap_err().ends_with("is another one: it was changed"));
        assert!(verify(b"video", "b.mp4").unwrap_err().contains("cannot be read"));
        for file in ["../out.mp4", "/etc/passwd", "a/../../out.mp4"] {
            assert!(clip(&inside, &key, b"video", file).unwrap_err().is_refused, "{file}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(folder.path().join("out.mp4"), inside.join("link.mp4")).unwrap();
            assert!(verify(b"video", "link.mp4").unwrap_err().ends_with("is not a file in its folder"));
        }
    }
}
