//! Work that was paid for and that the ledger does not know: videos with a sidecar in the store, and files of the output folder that are named by
//! the key of a shot. A run stops before it pays for them again.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use scheduler::{Decision, KeyResolver};
use workflow::plan::{NodeIx, NodeKey, Plan};

use super::descriptions::DescribedVideo;
use crate::artifact::key_of_file_name;
use crate::artifact_store::{ArtifactStore, Verify};
use crate::ledger::{Ledger, LedgerError};
use crate::preview::{Preview, survey};
use crate::provider::Accounts;
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
    let (files, described) = UnrecordedVideos::read(folder, store, &recorded)?.besides(&recorded);
    if files.is_empty() && described.is_empty() {
        return Ok(Vec::new());
    }
    let keys = keys.clone().with_described(described.keys().copied());
    let (previews, _) = survey(plan, records, &keys, &Accounts::default(), &Verify::Metadata).await?;
    Ok(in_previews(&previews, &files, &described))
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
    /// By the beginning of the key.
    files: HashMap<String, PathBuf>,
    /// Videos with sidecars whose keys are not on record, by their request (with number 1).
    described: HashMap<NodeKey, (NodeKey, PathBuf)>,
}

impl UnrecordedVideos {
    /// Lists the videos in `folder` and in the store; `recorded` are the beginnings of the keys on record.
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
        let described = described_besides(store, sidecars, recorded).into_iter().filter_map(|video| {
            let key = video.key()?;
            Some((key.numbered(1), (key, video.path().to_owned())))
        });
        Ok(Self { files, described: described.collect() })
    }

    /// Those whose keys are not on record, by their keys and by their requests: few or none, which are looked up then.
    fn besides(
        self,
        recorded: &HashSet<String>,
    ) -> (HashMap<String, PathBuf>, HashMap<NodeKey, (NodeKey, PathBuf)>) {
        let mut files = self.files;
        files.retain(|key, path| !recorded.contains(key) && path.is_file());
        (files, self.described)
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
        if let Some(video) = video
            && !ledger.has_work(&key.to_string())?
        {
            return Ok(Some(video));
        }
        // Any render of the same request: which one it is, the lost record knew.
        match self.described.get(&key.numbered(1)) {
            Some((key, video)) if !ledger.has_work(&key.to_string())? => Ok(Some(video.clone())),
            _ => Ok(None),
        }
    }
}

fn in_previews(
    previews: &[Preview],
    files: &HashMap<String, PathBuf>,
    described: &HashMap<NodeKey, (NodeKey, PathBuf)>,
) -> Vec<UnknownVideo> {
    let submitted = previews.iter().enumerate().filter(|(_, preview)| preview.decision == Decision::Execute);
    submitted
        .filter_map(|(node, preview)| {
            let key = preview.full_key?;
            let of_request = || described.get(&key.numbered(1)).map(|(_, path)| path);
            let path = files.get(&key.short()).or_else(of_request)?.clone();
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
        list(&mut files, key.short(), store.path(sha256));
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
    key_of_file_name(path.file_name()?.to_str()?).map(str::to_owned)
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
        if recorded.contains(&key.short()) || !store.path(sha256).is_file() {
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

/// Videos that were asked for with `run --rerun` and that the ledger does not know, although it knows an earlier video of the same shot, which a
/// run would use.
///
/// # Errors
/// When the ledger or an artifact cannot be read.
pub async fn later_reruns(
    plan: &Plan,
    ledger: &Ledger,
    keys: &KeyResolver,
    described: &[DescribedVideo],
) -> Result<Vec<UnknownVideo>, LedgerError> {
    let mut reruns: HashMap<NodeKey, Vec<&DescribedVideo>> = HashMap::new();
    for video in described {
        let description = &video.description;
        let is_of_plan = description.workflow == plan.name();
        // The service is a part of the key.
        if let Some(key) = video.key().filter(|_| is_of_plan && description.asked) {
            reruns.entry(key.numbered(1)).or_default().push(video);
        }
    }
    if reruns.is_empty() {
        return Ok(Vec::new());
    }
    let (previews, _) = survey(plan, Some(ledger), keys, &Accounts::default(), &Verify::Metadata).await?;
    let mut videos = Vec::new();
    for (node, shot) in plan.nodes() {
        let Some(key) = previews[node.index()].full_key else { continue };
        let (counting, _) = ledger.render_of(plan.name(), key)?;
        let recorded = ledger.with_snapshot(|ledger| ledger.attempt_to_continue(&key.to_string()))?;
        let recorded_at = recorded.map(|row| row.intended_at);
        let of_request = reruns.get(&key.numbered(1)).into_iter().flatten();
        let mut later = of_request.filter(|video| {
            video.instance() == shot.name_without_take()
                && video.description.render > counting
                && recorded_at.is_none_or(|recorded_at| video.description.completed_at > recorded_at)
        });
        if let Some(video) = later.next() {
            videos.push(UnknownVideo { node, name: shot.name.clone(), path: video.path().to_owned() });
        }
    }
    Ok(videos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_is_read_from_names_of_videos_only() {
        let key = |name: &str| key_of_name(Path::new(name));
        assert_eq!(key("out/a-f36b2a004515.mp4").as_deref(), Some("f36b2a004515"));
        assert_eq!(key("a-f36b2a004515-12.mp4").as_deref(), Some("f36b2a004515-12"));
        assert_eq!(key("harbor-look=noir-f36b2a004515.mp4").as_deref(), Some("f36b2a004515"));
        for name in [
            "film.mp4",
            "a-f36b2a00451.mp4",
            "a-F36B2A004515.mp4",
            "a-f36b2a004515.replaced-1.mp4",
            "a-f36b2a004515.png",
            "a-f36b2a004515-02.mp4",
        ] {
            assert_eq!(key(name), None, "{name}");
        }
    }
}
