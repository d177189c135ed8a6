//! Work that the ledger does not know although it was paid for: videos that are named by the key of a shot, videos that a sidecar or a
//! manifest describes, and tasks that a person names. The ledger was removed, restored from a backup or not copied along.
//! `runner ledger adopt` records them.

mod descriptions;
mod record;
mod traces;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use scheduler::budget::BudgetCaps;
use scheduler::{Artifact, AttemptId, Decision, ForcedRerun, KeyResolver, RunId, TaskId, Timestamp};
use workflow::plan::{NodeIx, NodeKey, Plan};

use crate::artifact::{file_name, file_sha256};
use crate::artifact_store::Verify;
use crate::ledger::{Ledger, LedgerError, PlanArguments, ServiceAccount};
use crate::preview::{Preview, survey_with};

pub use descriptions::{ClipDescription, DescribedVideo, UnusedDescription, described_by_sidecars};
pub(crate) use traces::UnrecordedVideos;
pub use traces::{UnknownVideo, deferred_videos, unknown_videos};

use descriptions::Descriptions;
use traces::videos_by_key;

/// What became of a node's unrecorded work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AdoptionResult {
    /// The video is recorded: the next run reuses it. With its task, if that is described.
    Video(PathBuf, Option<TaskId>),
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

/// What [`adopt`] works with.
#[derive(Debug)]
pub struct Adoption<'a> {
    /// The plan whose shots the work belongs to.
    pub plan: &'a Arc<Plan>,
    /// Keys of the plan's nodes.
    pub keys: &'a KeyResolver,
    /// The service and the account that the work was submitted with.
    pub account: ServiceAccount<'a>,
    /// Whether tasks of the service cost money.
    pub is_paid: bool,
    /// The folder with videos.
    pub folder: &'a Path,
    /// Videos with descriptions.
    pub described: &'a [DescribedVideo],
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

/// The result of an adoption.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AdoptionReport {
    /// What became of each node's work, by the node's name.
    pub shots: Vec<(String, AdoptionResult)>,
    /// Descriptions that were not used.
    pub unused: Vec<UnusedDescription>,
}

/// Records videos and tasks of nodes that a run would submit in `ledger`. A shot that continues another is recorded after it.
///
/// # Errors
/// When the ledger, the store or a file cannot be used.
pub async fn adopt(adoption: Adoption<'_>, ledger: &Ledger) -> Result<AdoptionReport, LedgerError> {
    let Adoption { plan, account, ref run, now, .. } = adoption;
    let caps = BudgetCaps::default();
    let lock = ledger.begin_with(run.clone(), plan.name(), adoption.arguments, account, caps, now)?;
    let (report, recordable) = collect(&adoption, Some(ledger)).await?;
    for item in recordable {
        record::record(&adoption, ledger, &lock, &item)?;
    }
    ledger.end(&lock, now)?;
    Ok(report)
}

/// What [`adopt`] would record. Changes nothing.
///
/// # Errors
/// When the ledger or a file cannot be read.
pub async fn preview(
    adoption: &Adoption<'_>,
    ledger: Option<&Ledger>,
) -> Result<AdoptionReport, LedgerError> {
    collect(adoption, ledger).await.map(|(report, _)| report)
}

/// Work to record for a node.
struct Recordable {
    node: NodeIx,
    key: NodeKey,
    rerun: Option<ForcedRerun>,
    attempt: AttemptId,
    work: Work,
    /// The keys of all nodes, as far as they are known.
    keys: Arc<[Option<NodeKey>]>,
    /// The videos of all nodes, as far as they exist.
    made: Arc<[Option<Artifact>]>,
}

/// The work of a node.
enum Work {
    Video(Box<Video>),
    Task(TaskId),
}

/// A whole video.
struct Video {
    artifact: Artifact,
    /// Where it is.
    file: PathBuf,
    /// Whether it is copied into the store, not linked.
    is_described: bool,
    /// Its task, if a person or a description names it.
    task: Option<TaskId>,
    completed_at: Option<Timestamp>,
    rerun: Option<ForcedRerun>,
}

/// What can be recorded, in an order in which it can be.
async fn collect(
    adoption: &Adoption<'_>,
    ledger: Option<&Ledger>,
) -> Result<(AdoptionReport, Vec<Recordable>), LedgerError> {
    let Adoption { plan, run, .. } = adoption;
    let mut files = videos_by_key(adoption.folder)?;
    files.retain(|_, path| path.is_file());
    let mut collector = Collector {
        adoption,
        ledger,
        files,
        descriptions: Descriptions::new(adoption.described),
        tasks: HashSet::new(),
        unused: Vec::new(),
    };
    let mut shots: Vec<(String, AdoptionResult)> = Vec::new();
    let mut recordable = Vec::new();
    let mut adopted: HashMap<NodeKey, Artifact> = HashMap::new();
    let mut is_visited = vec![false; plan.len()];
    let previews = loop {
        let (previews, made) =
            survey_with(plan, ledger, adoption.keys, adoption.account.account, &Verify::Metadata, &adopted)
                .await?;
        let key = |ix: NodeIx| adoption.keys.key(plan, ix, |parent| made[parent.index()].as_ref());
        let keys: Arc<[Option<NodeKey>]> = plan.nodes().map(|(ix, _)| key(ix)).collect();
        let made: Arc<[Option<Artifact>]> = made.iter().cloned().collect();
        let mut has_progress = false;
        for (ix, node) in plan.nodes() {
            let is_submitted = match previews[ix.index()].decision {
                Decision::Execute => true,
                // A run stops at the video of a task that a `retry` has given up (`UnrecordedVideos`).
                Decision::Adopt => {
                    !adoption.tasks.contains_key(&ix) && is_released(ledger, keys[ix.index()])?
                }
                Decision::Reuse | Decision::Deferred | Decision::Blocked | Decision::NotSelected => false,
            };
            let Some(key) = keys[ix.index()].filter(|_| is_submitted && !is_visited[ix.index()]) else {
                continue;
            };
            is_visited[ix.index()] = true;
            let work = match collector.find_work(ix, key, &keys)? {
                None => continue,
                Some(Ok(work)) => work,
                Some(Err(result)) => {
                    shots.push((node.name.clone(), result));
                    continue;
                }
            };
            let (result, rerun) = match &work {
                Work::Video(video) => {
                    adopted.insert(key, video.artifact.clone());
                    let task = video.task.clone().filter(|_| video.is_described);
                    (AdoptionResult::Video(video.file.clone(), task), video.rerun.clone())
                }
                Work::Task(task) => (AdoptionResult::Task(task.clone()), None),
            };
            shots.push((node.name.clone(), result));
            let attempt = AttemptId(format!("{run}.{}", shots.len()));
            let (keys, made) = (Arc::clone(&keys), Arc::clone(&made));
            recordable.push(Recordable { node: ix, key, rerun, attempt, work, keys, made });
            has_progress = true;
        }
        if !has_progress {
            // The ledger knows the work of the others.
            keys.iter().flatten().for_each(|key| drop(collector.descriptions.take(*key)));
            break previews;
        }
    };
    for (ix, node) in plan.nodes() {
        let Some(task) = adoption.tasks.get(&ix) else { continue };
        if !shots.iter().any(|(name, _)| *name == node.name) {
            let Preview { decision, why, .. } = &previews[ix.index()];
            let result =
                AdoptionResult::NotSubmitted { task: task.clone(), decision: *decision, why: why.clone() };
            shots.push((node.name.clone(), result));
        }
    }
    let mut unused = collector.unused;
    for video in collector.descriptions.unused() {
        let reason = match &video.service {
            Some(service) if service != adoption.account.service => format!("it is work of {service}"),
            _ => "no shot of this plan has its key".to_owned(),
        };
        unused.push(UnusedDescription::not_needed(&video.source, reason));
    }
    Ok((AdoptionReport { shots, unused }, recordable))
}

/// Whether no attempt holds a key or has had its video.
fn is_released(ledger: Option<&Ledger>, key: Option<NodeKey>) -> Result<bool, LedgerError> {
    match ledger.zip(key) {
        Some((ledger, key)) => Ok(!ledger.has_work(&key.to_string())?),
        None => Ok(false),
    }
}

/// Finds the work of one node after another.
struct Collector<'a> {
    adoption: &'a Adoption<'a>,
    ledger: Option<&'a Ledger>,
    /// Videos by the beginning of the key that their name ends with.
    files: HashMap<String, PathBuf>,
    descriptions: Descriptions<'a>,
    /// Tasks of described videos that are about to be recorded.
    tasks: HashSet<TaskId>,
    unused: Vec<UnusedDescription>,
}

impl Collector<'_> {
    /// The work of a node: its video, or else the task that a person names. The inner error is why it cannot be recorded.
    fn find_work(
        &mut self,
        ix: NodeIx,
        key: NodeKey,
        keys: &[Option<NodeKey>],
    ) -> Result<Option<Result<Work, AdoptionResult>>, LedgerError> {
        let named = self.adoption.tasks.get(&ix);
        if let Some(task) = named
            && let Some((attempt, node)) = self.owner(task)?
        {
            return Ok(Some(Err(AdoptionResult::TaskOfOther { task: task.clone(), attempt, node })));
        }
        if let Some(mut video) = self.find_described(ix, key, keys)? {
            video.task = named.cloned().or(video.task);
            self.tasks.extend(video.task.clone());
            return Ok(Some(Ok(Work::Video(Box::new(video)))));
        }
        let video = match self.files.get(&key.short()) {
            Some(path) => Some((path, self.read_video(path, path)?)),
            None => None,
        };
        Ok(match (video, named) {
            (Some((path, Ok(artifact))), task) => Some(Ok(Work::Video(Box::new(Video {
                artifact,
                file: path.clone(),
                is_described: false,
                task: task.cloned(),
                completed_at: None,
                rerun: None,
            })))),
            (_, Some(task)) => Some(Ok(Work::Task(task.clone()))),
            (Some((path, Err(why))), None) => Some(Err(AdoptionResult::NotAVideo(path.clone(), why))),
            (None, None) => None,
        })
    }

    /// The latest described video of a node whose file is what its description says.
    fn find_described(
        &mut self,
        ix: NodeIx,
        key: NodeKey,
        keys: &[Option<NodeKey>],
    ) -> Result<Option<Video>, LedgerError> {
        let mut result = None;
        for described in self.descriptions.take(key) {
            let source = &described.source;
            if result.is_some() {
                self.unused
                    .push(UnusedDescription::not_needed(source, "another video of the same shot is adopted"));
                continue;
            }
            if let Some(service) =
                described.service.as_ref().filter(|name| **name != *self.adoption.account.service)
            {
                self.unused.push(UnusedDescription::not_needed(source, format!("it is work of {service}")));
                continue;
            }
            if Descriptions::is_unclear(described, keys) {
                let reason = "its `key` is the beginning of the keys of several shots";
                self.unused.push(UnusedDescription::refused(source, &reason));
                continue;
            }
            let target = self.adoption.folder.join(file_name(self.adoption.plan.node(ix), &key));
            let read = match described.verify() {
                Ok(()) => self.read_video(described.path(), &target)?,
                Err(reason) => Err(reason),
            };
            match read {
                Ok(artifact) => {
                    result = Some(Video {
                        artifact,
                        file: described.path().to_owned(),
                        is_described: true,
                        task: self.free_task(described.task.as_ref())?,
                        completed_at: described.completed_at,
                        rerun: described.rerun.clone().filter(|_| described.reruns(key)),
                    });
                }
                Err(reason) => self.unused.push(UnusedDescription::refused(source, &reason)),
            }
        }
        Ok(result)
    }

    /// The described task, if no other attempt owns it.
    fn free_task(&self, task: Option<&TaskId>) -> Result<Option<TaskId>, LedgerError> {
        let Some(task) = task.filter(|task| !self.tasks.contains(task)) else { return Ok(None) };
        let is_named = self.adoption.tasks.values().any(|named| named == task);
        Ok((!is_named && self.owner(task)?.is_none()).then(|| task.clone()))
    }

    fn owner(&self, task: &TaskId) -> Result<Option<(AttemptId, String)>, LedgerError> {
        self.ledger.map_or(Ok(None), |ledger| ledger.owner_of_task(self.adoption.account.service, task))
    }

    /// The record of a video file with the readable name `target`; the inner error says why it is not a video.
    fn read_video(&self, path: &Path, target: &Path) -> Result<Result<Artifact, String>, LedgerError> {
        let probed = match self.adoption.ffmpeg.probe(path) {
            Ok(probed) => probed,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let Some(video) = probed.video else { return Ok(Err("it has no pictures".to_owned())) };
        Ok(Ok(Artifact {
            path: target.to_owned(),
            sha256: file_sha256(path)?,
            bytes: fs_err::metadata(path)?.len(),
            duration: probed.duration,
            width: video.width,
            height: video.height,
            last_frame_url: None,
            expires_at: None,
            modified_at: None,
        }))
    }
}
