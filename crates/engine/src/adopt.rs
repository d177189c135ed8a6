//! Work that the ledger does not know although it was paid for: videos that are named by the key of a shot, and tasks that a person names.
//! The ledger was removed, restored from a backup or not copied along. `runner ledger adopt` records them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use scheduler::budget::{BudgetLimits, Reservation};
use scheduler::{Artifact, AttemptId, Decision, Event, KeyResolver, RunId, TaskId, Timestamp, key_parts};
use workflow::plan::{NodeIx, NodeKey, Plan};
use workflow::units::Money;

use crate::artifact::file_sha256;
use crate::artifact_store::Verify;
use crate::ledger::{Ledger, LedgerError, Persist, PlanArguments, RunLock, ServiceAccount};
use crate::preview::{Preview, survey};

/// Digits of a key in a file name.
const KEY_DIGITS: usize = 12;

/// The digest of a request whose body is not known.
const UNKNOWN_DIGEST: &str = "adopted";

/// A video of a node that the ledger does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownVideo {
    /// The node.
    pub node: NodeIx,
    /// The node's name.
    pub name: String,
    /// The file, named by the node's key.
    pub path: PathBuf,
}

/// What became of a node's unrecorded work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Adopted {
    /// The video is recorded: the next run reuses it.
    Video(PathBuf),
    /// The task is recorded: the next run adopts it.
    Task(TaskId),
    /// The file is not a whole video, and was left alone.
    NotAVideo(PathBuf, String),
    /// The named task belongs to another attempt, and nothing was recorded.
    TaskOfOther {
        /// The task.
        task: TaskId,
        /// The attempt that owns it.
        attempt: AttemptId,
        /// The node of that attempt.
        node: String,
    },
    /// The named task was not recorded: a run would not submit the node.
    NotSubmitted {
        /// The task.
        task: TaskId,
        /// What a run would do.
        decision: Decision,
        /// The reason, if the decision alone does not say it.
        why: Option<String>,
    },
}

/// Videos in `folder` for nodes of the plan that a run would submit, because the ledger does not know them.
///
/// # Errors
/// When the ledger or the folder cannot be read.
pub async fn unknown_videos(
    plan: &Arc<Plan>,
    ledger: Option<&Ledger>,
    keys: &KeyResolver,
    folder: &Path,
) -> Result<Vec<UnknownVideo>, LedgerError> {
    let mut files = videos_by_key(folder)?;
    if let Some(ledger) = ledger.filter(|_| !files.is_empty()) {
        let known = ledger.short_keys()?;
        files.retain(|key, _| !known.contains(key));
    }
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let (previews, _) = survey(plan, ledger, keys, None, Verify::Metadata).await?;
    Ok(in_previews(&previews, &files))
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

/// Files named `….-KEY.mp4`, by the beginning of their key.
fn videos_by_key(folder: &Path) -> Result<HashMap<String, PathBuf>, LedgerError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(HashMap::new()),
        Err(error) => return Err(error.into()),
    };
    let mut files = HashMap::new();
    for entry in entries {
        let path = entry?.path();
        if let Some(key) = key_of_name(&path).filter(|_| path.is_file()) {
            files.insert(key, path);
        }
    }
    Ok(files)
}

/// The beginning of the key in the name of a video.
fn key_of_name(path: &Path) -> Option<String> {
    let (_, key) = path.file_name()?.to_str()?.strip_suffix(".mp4")?.rsplit_once('-')?;
    let is_key =
        key.len() == KEY_DIGITS && key.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    is_key.then(|| key.to_owned())
}

/// What [`adopt`] works with.
#[derive(Debug)]
pub struct Adoption<'a> {
    /// The plan whose shots the work belongs to.
    pub plan: &'a Arc<Plan>,
    /// The ledger to record it in.
    pub ledger: &'a Ledger,
    /// Keys of the plan's nodes.
    pub keys: &'a KeyResolver,
    /// The service and the account that the work was submitted with.
    pub at: ServiceAccount<'a>,
    /// Whether tasks of the service cost money.
    pub is_paid: bool,
    /// The folder with videos.
    pub folder: &'a Path,
    /// Tasks that a person names, by node.
    pub tasks: HashMap<NodeIx, TaskId>,
    /// Reads formats that the `media` crate does not decode.
    pub ffmpeg: &'a media::Ffmpeg,
    /// The arguments that determine the plan, for the record.
    pub arguments: Option<&'a PlanArguments>,
    /// The id under which it is recorded.
    pub run: RunId,
    /// The time.
    pub now: Timestamp,
}

/// Records videos and tasks of nodes that a run would submit. A shot that continues another is recorded after it.
///
/// # Errors
/// When the ledger, the store or a file cannot be used.
pub async fn adopt(adoption: Adoption<'_>) -> Result<Vec<(String, Adopted)>, LedgerError> {
    let Adoption { plan, ledger, at, ref run, now, .. } = adoption;
    let caps = BudgetLimits::default();
    let lock = ledger.begin_with(run.clone(), plan.name(), adoption.arguments, at, caps, now)?;
    let mut results: Vec<(String, Adopted)> = Vec::new();
    let previews = loop {
        let files = videos_by_key(adoption.folder)?;
        let (previews, made) =
            survey(plan, Some(ledger), adoption.keys, at.account, Verify::Metadata).await?;
        let mut has_progress = false;
        for (ix, node) in plan.nodes() {
            let preview = &previews[ix.index()];
            if preview.decision != Decision::Execute || results.iter().any(|(name, _)| *name == node.name) {
                continue;
            }
            let Some(key) = adoption.keys.key(plan, ix, |parent| made[parent.index()].as_ref()) else {
                continue;
            };
            let named = adoption.tasks.get(&ix);
            let work = match find_work(&adoption, files.get(&key.short()), named)? {
                None => continue,
                Some(Ok(work)) => work,
                Some(Err(result)) => {
                    results.push((node.name.clone(), result));
                    continue;
                }
            };
            let attempt = AttemptId(format!("{run}.{}", results.len() + 1));
            let result = match &work {
                Work::Video(artifact, _) => Adopted::Video(artifact.path.clone()),
                Work::Task(task) => Adopted::Task(task.clone()),
            };
            record(&adoption, &lock, ix, key, attempt, work, &made)?;
            results.push((node.name.clone(), result));
            has_progress = true;
        }
        if !has_progress {
            break previews;
        }
    };
    ledger.end(&lock, now)?;
    for (ix, node) in plan.nodes() {
        let Some(task) = adoption.tasks.get(&ix) else { continue };
        if !results.iter().any(|(name, _)| *name == node.name) {
            let Preview { decision, why, .. } = &previews[ix.index()];
            let result = Adopted::NotSubmitted { task: task.clone(), decision: *decision, why: why.clone() };
            results.push((node.name.clone(), result));
        }
    }
    Ok(results)
}

/// Work to record.
enum Work {
    /// A video, and its task if a person names it.
    Video(Artifact, Option<TaskId>),
    Task(TaskId),
}

/// The work of a node: its video, or else the task that a person names. The inner error is why it cannot be recorded.
fn find_work(
    adoption: &Adoption<'_>,
    file: Option<&PathBuf>,
    named: Option<&TaskId>,
) -> Result<Option<Result<Work, Adopted>>, LedgerError> {
    if let Some(task) = named
        && let Some((attempt, node)) = adoption.ledger.owner_of_task(adoption.at.service, task)?
    {
        return Ok(Some(Err(Adopted::TaskOfOther { task: task.clone(), attempt, node })));
    }
    let video = match file {
        Some(path) => Some((path, read_video(adoption.ledger, path, adoption.ffmpeg)?)),
        None => None,
    };
    Ok(match (video, named) {
        (Some((_, Ok(artifact))), task) => Some(Ok(Work::Video(artifact, task.cloned()))),
        (_, Some(task)) => Some(Ok(Work::Task(task.clone()))),
        (Some((path, Err(why))), None) => Some(Err(Adopted::NotAVideo(path.clone(), why))),
        (None, None) => None,
    })
}

/// Records an attempt as a run would have: its intent, its task and its video. It was paid for before, so nothing is reserved or spent.
fn record(
    adoption: &Adoption<'_>,
    lock: &RunLock,
    node: NodeIx,
    key: NodeKey,
    attempt: AttemptId,
    work: Work,
    made: &[Option<Artifact>],
) -> Result<(), LedgerError> {
    let Adoption { plan, ledger, keys, at, now, .. } = adoption;
    let artifact = |parent: NodeIx| made[parent.index()].as_ref();
    let service_independent_key = if adoption.is_paid {
        keys.service_independent_key(plan, node, artifact).map(|key| key.to_string())
    } else {
        None
    };
    let intent = Event::Prepared {
        node,
        attempt: attempt.clone(),
        key: key.to_string(),
        digest: UNKNOWN_DIGEST.to_owned(),
        by_url: false,
        service_independent_key,
        reservation: Reservation {
            cost: Some(Money::ZERO),
            ..Reservation::unpriced(plan.node(node).duration)
        },
        forced_rerun: None,
        parts: key_parts(plan, node, at.service, artifact),
    };
    let (task, video) = match work {
        // The name of the file does not tell the task.
        Work::Video(artifact, task) => {
            (task.unwrap_or_else(|| TaskId(format!("unknown-{attempt}"))), Some(artifact))
        }
        Work::Task(task) => (task, None),
    };
    let mut events = vec![intent, Event::Submitted { node, attempt: attempt.clone(), task }];
    if let Some(artifact) = video {
        events.push(Event::Downloaded { node, attempt, artifact, cost: Some(Money::ZERO) });
    }
    let events = events.into_iter().map(|event| (event, Persist::Yes)).collect();
    ledger.append(lock, plan, *now, events).map(drop)
}

/// The record of a video file, which is linked into the store; the inner error says why it is not a video.
fn read_video(
    ledger: &Ledger,
    path: &Path,
    ffmpeg: &media::Ffmpeg,
) -> Result<Result<Artifact, String>, LedgerError> {
    let probed = match ffmpeg.probe(path) {
        Ok(probed) => probed,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let Some(video) = probed.video else { return Ok(Err("it has no pictures".to_owned())) };
    let sha256 = file_sha256(path)?;
    let bytes = fs_err::metadata(path)?.len();
    let modified_at = ledger.store().adopt(path, &sha256)?;
    Ok(Ok(Artifact {
        path: path.to_owned(),
        sha256,
        bytes,
        duration: probed.duration,
        width: video.width,
        height: video.height,
        last_frame_url: None,
        expires_at: None,
        modified_at,
    }))
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
