//! Work that was paid for and that the ledger does not know: videos with a sidecar in the store, and files of the output folder that are named by
//! the key of a shot. A run stops before it pays for them again.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use scheduler::{Decision, KeyResolver, Timestamp};
use workflow::plan::{NodeIx, NodeKey, Plan};

use super::descriptions::{DescribedVideo, KEY_DIGITS};
use crate::artifact::file_name_with;
use crate::artifact_store::{ArtifactStore, Verify};
use crate::ledger::{Ledger, LedgerError};
use crate::preview::{Preview, survey};
use crate::records::WorkRecords;
use crate::sidecar::{self, Sidecar};

/// A video of a node that the ledger does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownVideo {
    pub node: NodeIx,
    pub name: String,
    /// The file, named by the node's key or with a sidecar that is.
    pub path: PathBuf,
}

/// Videos in `folder` and in the store for nodes of the plan that a run would submit, because the ledger does not know them.
///
/// # Errors
/// When the ledger or a folder cannot be read.
pub async fn unknown_videos<R: WorkRecords + ?Sized>(
    plan: &Plan,
    records: Option<&R>,
    keys: &KeyResolver,
    folder: &Path,
    store: &ArtifactStore,
) -> Result<Vec<UnknownVideo>, LedgerError> {
    let recorded = recorded_keys(records).await?;
    let files = UnrecordedVideos::read(folder, store, &recorded)?.besides(&recorded);
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let (previews, _) = survey(plan, records, keys, None, false, &Verify::Metadata).await?;
    Ok(in_previews(&previews, &files))
}

/// Videos in `folder` that may be those of shots that wait for others, by their names: the ledger does not know them, and their keys are not
/// known before the others have their videos. A run stops at the shot if it is its video.
///
/// # Errors
/// When the ledger or a folder cannot be read.
pub async fn deferred_videos<R: WorkRecords + ?Sized>(
    plan: &Plan,
    records: Option<&R>,
    folder: &Path,
    previews: &[Preview],
) -> Result<Vec<UnknownVideo>, LedgerError> {
    let is_deferred = |node: NodeIx| previews[node.index()].decision == Decision::Deferred;
    if !plan.nodes().any(|(node, _)| is_deferred(node)) {
        return Ok(Vec::new());
    }
    let recorded = recorded_keys(records).await?;
    let files = UnrecordedVideos { files: videos_by_key(folder)? }.besides(&recorded);
    let mut by_name: HashMap<String, PathBuf> =
        files.into_values().filter_map(|path| Some((path.file_name()?.to_str()?.to_owned(), path))).collect();
    let mut videos = Vec::new();
    for (node, shot) in plan.nodes().filter(|(node, _)| is_deferred(*node)) {
        let is_of_shot =
            |name: &&String| key_digits(name).is_some_and(|key| **name == file_name_with(&shot.name, key));
        // The first by name, so that the result is always the same.
        let name = by_name.keys().filter(is_of_shot).min().cloned();
        if let Some(path) = name.and_then(|name| by_name.remove(&name)) {
            videos.push(UnknownVideo { node, name: shot.name.clone(), path });
        }
    }
    Ok(videos)
}

/// The beginnings of the keys on record.
async fn recorded_keys<R: WorkRecords + ?Sized>(records: Option<&R>) -> Result<HashSet<String>, LedgerError> {
    match records {
        Some(records) => records.short_keys().await,
        None => Ok(HashSet::new()),
    }
}

/// The videos of a project by the beginning of their key, whether or not the ledger knows them: a run that comes to submit a shot looks for
/// it here.
#[derive(Debug)]
pub(crate) struct UnrecordedVideos {
    files: HashMap<String, PathBuf>,
}

impl UnrecordedVideos {
    /// Lists the videos in `folder` and in the store. A rerun whose key is not among the beginnings of keys in `recorded` is also that of the
    /// work which was rendered again.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub(crate) fn read(
        folder: &Path,
        store: &ArtifactStore,
        recorded: &HashSet<String>,
    ) -> Result<Self, LedgerError> {
        let mut files = videos_by_key(folder)?;
        let sidecars = sidecar::paths(store.folder())?;
        for (key, path) in stored_videos(store, &sidecars) {
            list(&mut files, key, path);
        }
        for video in described_besides(store, sidecars, recorded) {
            for key in video.short_keys() {
                list(&mut files, key.to_owned(), video.path().to_owned());
            }
        }
        Ok(Self { files })
    }

    /// Those whose keys are not on record: few or none, which are looked up then.
    fn besides(self, recorded: &HashSet<String>) -> HashMap<String, PathBuf> {
        let mut files = self.files;
        files.retain(|key, path| !recorded.contains(key) && path.is_file());
        files
    }

    /// The video of the work with this key, if there is one and the ledger does not know the work. `target` is its path in the output folder,
    /// where it may be since.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub(crate) fn find(
        &self,
        ledger: &Ledger,
        key: &NodeKey,
        target: &Path,
    ) -> Result<Option<PathBuf>, LedgerError> {
        let listed = || self.files.get(&key.short()).filter(|path| path.is_file()).cloned();
        let video = if target.is_file() { Some(target.to_owned()) } else { listed() };
        match video {
            Some(video) if !ledger.has_work(&key.to_string())? => Ok(Some(video)),
            _ => Ok(None),
        }
    }
}

fn in_previews(previews: &[Preview], files: &HashMap<String, PathBuf>) -> Vec<UnknownVideo> {
    let submitted = previews.iter().enumerate().filter(|(_, preview)| preview.decision == Decision::Execute);
    submitted
        .filter_map(|(node, preview)| {
            let path = files.get(preview.key.as_ref()?)?.clone();
            Some(UnknownVideo { node: NodeIx::new(node), name: preview.name.clone(), path })
        })
        .collect()
}

/// Adds a video, unless another one of the same key is listed that exists.
fn list(files: &mut HashMap<String, PathBuf>, key: String, path: PathBuf) {
    match files.entry(key) {
        Entry::Vacant(entry) => drop(entry.insert(path)),
        Entry::Occupied(mut entry) if !entry.get().is_file() => drop(entry.insert(path)),
        Entry::Occupied(_) => {}
    }
}

/// Where the videos in the store are that have a sidecar, by the beginning of their key.
fn stored_videos(store: &ArtifactStore, sidecars: &[PathBuf]) -> HashMap<String, PathBuf> {
    let mut files = HashMap::new();
    for path in sidecars {
        let name = path.file_name().and_then(|name| name.to_str());
        let Some((sha256, key)) = name.and_then(sidecar::parse_name) else { continue };
        list(&mut files, key[..KEY_DIGITS].to_owned(), store.path(sha256));
    }
    files
}

/// Files named `….-KEY.mp4`, by the beginning of their key.
pub(super) fn videos_by_key(folder: &Path) -> Result<HashMap<String, PathBuf>, LedgerError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(HashMap::new()),
        Err(error) => return Err(error.into()),
    };
    let mut files = HashMap::new();
    for entry in entries {
        let path = entry?.path();
        if let Some(key) = key_of_name(&path) {
            list(&mut files, key, path);
        }
    }
    Ok(files)
}

/// The beginning of the key in the name of a video.
fn key_of_name(path: &Path) -> Option<String> {
    key_digits(path.file_name()?.to_str()?).map(str::to_owned)
}

fn key_digits(name: &str) -> Option<&str> {
    let (_, key) = name.strip_suffix(".mp4")?.rsplit_once('-')?;
    (key.len() == KEY_DIGITS && sidecar::is_hex(key)).then_some(key)
}

/// The videos in the store whose sidecars describe work that is not on record. Reads these sidecars only, and trusts them.
///
/// # Errors
/// When the ledger or the store cannot be read.
pub fn unrecorded_descriptions(
    ledger: Option<&Ledger>,
    store: &ArtifactStore,
) -> Result<Vec<DescribedVideo>, LedgerError> {
    let paths = sidecar::paths(store.folder())?;
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let recorded = ledger.map(Ledger::short_keys).transpose()?.unwrap_or_default();
    Ok(described_besides(store, paths, &recorded))
}

/// The videos of the sidecars at these paths whose keys are not `recorded`.
fn described_besides(
    store: &ArtifactStore,
    paths: Vec<PathBuf>,
    recorded: &HashSet<String>,
) -> Vec<DescribedVideo> {
    let mut videos = Vec::new();
    for path in paths {
        let name = path.file_name().and_then(|name| name.to_str());
        let Some((sha256, key)) = name.and_then(sidecar::parse_name) else { continue };
        if recorded.contains(&key[..KEY_DIGITS]) || !store.path(sha256).is_file() {
            continue;
        }
        // One that cannot be read describes nothing; `ledger adopt` says so.
        if let Ok(sidecar) = Sidecar::read(&path) {
            let source = path.display().to_string();
            videos.push(DescribedVideo::beside_sidecar(store.folder(), source, sidecar));
        }
    }
    videos
}

/// Videos of forced reruns that the ledger does not know although it knows an earlier video of the same shot, which a run would use.
///
/// # Errors
/// When the ledger or an artifact cannot be read.
pub async fn later_reruns(
    plan: &Plan,
    ledger: &Ledger,
    keys: &KeyResolver,
    described: &[DescribedVideo],
) -> Result<Vec<UnknownVideo>, LedgerError> {
    let mut reruns: HashMap<&str, Vec<&DescribedVideo>> = HashMap::new();
    for video in described.iter().filter(|video| video.description.service == keys.service()) {
        let Some(rerun) = &video.description.rerun else { continue };
        reruns.entry(&rerun.key).or_default().push(video);
    }
    if reruns.is_empty() {
        return Ok(Vec::new());
    }
    let (_, artifacts) = survey(plan, Some(ledger), keys, None, false, &Verify::Metadata).await?;
    let artifact = |node: NodeIx| artifacts[node.index()].as_ref();
    let mut videos = Vec::new();
    for (node, shot) in plan.nodes() {
        let base = keys.base_key(plan, node, artifact);
        let Some((base, key)) = base.zip(keys.recorded_key(plan, node, artifact)) else { continue };
        let Some(of_shot) = reruns.get(base.to_string().as_str()) else { continue };
        let recorded_at = recorded_at(ledger, key)?;
        if let Some(video) = of_shot.iter().find(|video| video.is_later_rerun(base, recorded_at)) {
            let (name, path) = (shot.name.clone(), video.path().to_owned());
            videos.push(UnknownVideo { node, name, path });
        }
    }
    Ok(videos)
}

/// When the attempt was begun that is on record for a key, if there is one.
pub(super) fn recorded_at(ledger: &Ledger, key: NodeKey) -> Result<Option<Timestamp>, LedgerError> {
    let row = ledger.with_snapshot(|ledger| ledger.attempt_to_continue(&key.to_string()))?;
    Ok(row.map(|row| row.intended_at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_is_read_from_names_of_videos_only() {
        let key = |name: &str| key_of_name(Path::new(name));
        assert_eq!(key("out/a-f36b2a004515.mp4").as_deref(), Some("f36b2a004515"));
        assert_eq!(key("harbor-look=noir-f36b2a004515.mp4").as_deref(), Some("f36b2a004515"));
        for name in [
            "film.mp4",
            "a-f36b2a00451.mp4",
            "a-F36B2A004515.mp4",
            "a-f36b2a004515.replaced-1.mp4",
            "a-f36b2a004515.png",
        ] {
            assert_eq!(key(name), None, "{name}");
        }
    }
}
