//! Sidecars in the store whose work the ledger does not know, and what follows from them: under which names of the service work is recorded, and
//! which videos of forced reruns count.

use std::collections::{HashMap, HashSet};

use scheduler::{KeyResolver, TaskId, Timestamp};
use workflow::plan::{NodeKey, Plan};

use super::UnknownVideo;
use super::descriptions::{DescribedVideo, UNKNOWN_TASK};
use super::traces::KEY_DIGITS;
use crate::artifact_store::{ArtifactStore, Verify};
use crate::ledger::{Ledger, LedgerError};
use crate::preview::survey;
use crate::sidecar::{self, Sidecar};

/// Whether a task is one of the service, and not one that is recorded in the place of an unknown one.
pub(crate) fn is_service_task(task: &TaskId) -> bool {
    !task.as_str().starts_with(UNKNOWN_TASK)
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
pub(super) fn described_besides(
    store: &ArtifactStore,
    paths: Vec<std::path::PathBuf>,
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
            videos.push(DescribedVideo::from_sidecar(store.folder(), source, sidecar));
        }
    }
    videos
}

/// Adds to `keys` what descriptions of unrecorded work say: names that the service had, and work that earlier versions numbered otherwise.
/// Returns the names, which [`Ledger::record_service_names`] has to have once work with such a key is recorded.
///
/// # Errors
/// When the ledger cannot be read.
pub fn with_described_work(
    keys: KeyResolver,
    ledger: Option<&Ledger>,
    described: &[DescribedVideo],
) -> Result<(KeyResolver, Vec<String>), LedgerError> {
    let of_service = |video: &&DescribedVideo| video.service().is_none_or(|name| name == keys.service());
    let described: Vec<&DescribedVideo> = described.iter().filter(of_service).collect();
    if described.is_empty() {
        return Ok((keys, Vec::new()));
    }
    let names = described.iter().filter_map(|video| video.service.clone());
    let names: HashSet<String> = names.filter(|name| name != keys.service()).collect();
    let mut names: Vec<String> = names.into_iter().collect();
    names.sort();
    let recorded = ledger.map(Ledger::recorded_keys).transpose()?.unwrap_or_default();
    let described = described.into_iter().flat_map(DescribedVideo::keys).collect();
    Ok((keys.with_described_work(names.clone(), described, recorded), names))
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
    let of_service = |video: &&DescribedVideo| {
        video.rerun.is_some() && video.service().is_none_or(|name| name == keys.service())
    };
    let mut reruns: HashMap<&str, Vec<&DescribedVideo>> = HashMap::new();
    for video in described.iter().filter(of_service) {
        let Some(rerun) = &video.rerun else { continue };
        reruns.entry(&rerun.key).or_default().push(video);
    }
    if reruns.is_empty() {
        return Ok(Vec::new());
    }
    let (_, artifacts) = survey(plan, Some(ledger), keys, None, false, &Verify::Metadata).await?;
    let artifact = |node: workflow::plan::NodeIx| artifacts[node.index()].as_ref();
    let mut videos = Vec::new();
    for (node, shot) in plan.nodes() {
        let base = keys.counting_key(plan, node, artifact);
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
