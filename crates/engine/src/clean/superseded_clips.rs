//! What a workflow's output folder has of earlier versions of the workflow: earlier cuts of its films, and clips that it does not use.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use scheduler::{Artifact, AttemptState};
use workflow::plan::{Film, MediaSource, NodeIx, NodeKey, Plan};

use super::{FileUse, UnneededFile};
use crate::artifact::key_of_file_name;
use crate::artifact_store::Verify;
use crate::cuts::earlier_cuts;
use crate::effects::FilmFolders;
use crate::film::ENCODER_NAME;
use crate::ledger::{AttemptRow, Ledger, LedgerError};
use crate::preview::{key_resolver, survey};
use crate::provider::Accounts;

/// The superseded files of a workflow whose videos and films are in the output folder, by name. What the workflow itself names is none of them.
///
/// A clip counts as used if the plan uses it at any of the services that the ledger has work of: which service is asked now does not
/// matter. So do all clips of a shot that has no video now, because its own is not known to be another one: what it continues may be downloaded
/// again, and then it is reused. Originals that other folders have under a name are left out; so are all clips where `is_shared`: another workflow file has the same
/// folder.
///
/// # Errors
/// When the ledger or the folder cannot be read.
pub async fn superseded_files(
    ledger: &Ledger,
    plan: &Arc<Plan>,
    folders: FilmFolders<'_>,
    is_shared: bool,
) -> Result<Vec<UnneededFile>, LedgerError> {
    let FilmFolders { workflow, output } = folders;
    let own_files = own_files(plan, workflow);
    let mut videos: Vec<AttemptRow> = Vec::new();
    for (attempt, _, state) in ledger.attempt_states()? {
        if state == AttemptState::Completed {
            videos.extend(ledger.attempt(&attempt)?);
        }
    }
    let used = UsedVideos::read(ledger, plan, &videos).await?;
    let is_run_alive = ledger.is_any_run_alive()?;
    let need = |need: FileUse| if is_run_alive { FileUse::Process } else { need };
    let mut files: BTreeMap<PathBuf, UnneededFile> = BTreeMap::new();
    let outputs: HashSet<&str> = plan.films().iter().map(|film| film.output.as_str()).collect();
    for film in plan.films() {
        for path in earlier_cuts(&output.join(&film.output))? {
            let is_film = path.file_name().is_some_and(|name| outputs.contains(&*name.to_string_lossy()));
            if !is_film && is_own_film(&path) {
                add(&mut files, path, None, need(FileUse::EarlierCut));
            }
        }
    }
    let unneeded = |files: BTreeMap<PathBuf, UnneededFile>| -> Vec<UnneededFile> {
        let is_named = |path: &Path| own_files.contains(&real_path(path));
        files.into_values().filter(|file| !is_named(&file.path)).collect()
    };
    if is_shared {
        return Ok(unneeded(files));
    }
    let store = ledger.store();
    let clips = clips_by_key(output)?;
    let in_other_folders = keys_in_other_folders(output)?;
    for row in &videos {
        let Some(artifact) = row.artifact.as_ref().filter(|artifact| !used.contains(row, artifact)) else {
            continue;
        };
        let short_key = NodeKey::parse(&row.key).map(|key| key.short()).unwrap_or_default();
        let Some(clips) = clips.get(&short_key) else { continue };
        let original = store.path(&artifact.sha256);
        let is_stored = store.find(artifact, &Verify::Metadata)?.is_some_and(|path| path == original);
        let of_clip = if is_stored { FileUse::SupersededClip } else { FileUse::SupersededOriginal };
        for clip in clips {
            add(&mut files, clip.clone(), Some(row), need(of_clip));
        }
        // Another workflow that shows the same work has a name of its own for the original.
        let is_shared = in_other_folders.contains(&short_key) || names_of(&original) > 1 + clips.len() as u64;
        if is_stored && !is_shared {
            add(&mut files, original, Some(row), need(FileUse::SupersededOriginal));
        }
    }
    Ok(unneeded(files))
}

/// Whether a film was written by this program. Another file may have the name of an earlier cut by chance.
fn is_own_film(path: &Path) -> bool {
    let encoder = media::film_encoder(path).ok().flatten();
    encoder.is_some_and(|encoder| encoder.starts_with(ENCODER_NAME))
}

/// The files that a plan names: inputs of shots, and what films are made of.
fn own_files(plan: &Plan, workflow: &Path) -> HashSet<PathBuf> {
    let inputs = plan.nodes().flat_map(|(_, node)| &node.inputs);
    let of_inputs = inputs.filter_map(|input| match &input.source {
        MediaSource::File { path, .. } | MediaSource::FileFrame { path, .. } => Some(path),
        _ => None,
    });
    let of_films = plan.films().iter().flat_map(Film::files).map(|file| &file.path);
    of_inputs.chain(of_films).map(|path| real_path(&workflow.join(path))).collect()
}

fn real_path(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// The clips in a folder by the beginning of the key that ends their names.
fn clips_by_key(folder: &Path) -> io::Result<HashMap<String, Vec<PathBuf>>> {
    let mut clips: HashMap<String, Vec<PathBuf>> = HashMap::new();
    let entries = match std::fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(clips);
        }
        entries => entries?,
    };
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        if let Some(key) = name.and_then(key_of_file_name).map(str::to_owned) {
            clips.entry(key).or_default().push(path);
        }
    }
    Ok(clips)
}

/// The keys of the clips in the folders beside `output_dir`, which are those of other workflows.
fn keys_in_other_folders(output_dir: &Path) -> io::Result<HashSet<String>> {
    let mut keys = HashSet::new();
    let Some(parent) = output_dir.parent() else { return Ok(keys) };
    let entries = match std::fs::read_dir(parent) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(keys),
        entries => entries?,
    };
    for entry in entries {
        let folder = entry?.path();
        if folder != output_dir {
            keys.extend(clips_by_key(&folder)?.into_keys());
        }
    }
    Ok(keys)
}

/// How many names a file has; 0 where the system does not say.
fn names_of(file: &Path) -> u64 {
    #[cfg(unix)]
    return std::fs::metadata(file).map_or(0, |metadata| std::os::unix::fs::MetadataExt::nlink(&metadata));
    #[cfg(not(unix))]
    0
}

/// The videos that the plan uses.
struct UsedVideos {
    /// Their hashes, at any service.
    hashes: HashSet<String>,
    /// The keys of its requests (with number 1): each of their renders can be picked.
    requests: HashSet<NodeKey>,
    /// The shots that have no video at any service.
    nodes_without: HashSet<String>,
}

impl UsedVideos {
    async fn read(ledger: &Ledger, plan: &Arc<Plan>, videos: &[AttemptRow]) -> Result<Self, LedgerError> {
        let services: HashSet<&str> = videos.iter().map(|row| row.service.as_str()).collect();
        let (mut hashes, mut requests) = (HashSet::new(), HashSet::new());
        let mut nodes_without: HashSet<NodeIx> = plan.nodes().map(|(ix, _)| ix).collect();
        for service in services {
            let keys = key_resolver(plan, Some(ledger), service)?;
            let (previews, artifacts) =
                survey(plan, Some(ledger), &keys, &Accounts::default(), &Verify::Metadata).await?;
            nodes_without.retain(|ix| artifacts[ix.index()].is_none());
            requests.extend(previews.iter().filter_map(|preview| Some(preview.full_key?.numbered(1))));
            hashes.extend(artifacts.into_iter().flatten().map(|artifact| artifact.sha256));
        }
        let nodes_without = nodes_without.into_iter().map(|ix| plan.node(ix).name.clone()).collect();
        Ok(Self { hashes, requests, nodes_without })
    }

    fn contains(&self, row: &AttemptRow, artifact: &Artifact) -> bool {
        let request = NodeKey::parse(&row.key).map(|key| key.numbered(1));
        self.hashes.contains(&artifact.sha256)
            || request.is_some_and(|request| self.requests.contains(&request))
            || self.nodes_without.contains(&row.node)
    }
}

/// Lists a file, if it is there.
fn add(files: &mut BTreeMap<PathBuf, UnneededFile>, path: PathBuf, row: Option<&AttemptRow>, need: FileUse) {
    let Ok(metadata) = std::fs::metadata(&path) else { return };
    let attempt = row.map(|row| (row.attempt.clone(), row.node.clone()));
    files.insert(path.clone(), UnneededFile { path, bytes: metadata.len(), attempt, need });
}
