//! What of a plan's work can be recorded, and in which order.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use scheduler::{Artifact, AttemptId, Decision, KeyResolver, TaskId};
use workflow::plan::{NodeIx, NodeKey};

use super::adoption::{Adoption, AdoptionReport, AdoptionResult};
use super::descriptions::{DescribedVideo, Descriptions, UnusedDescription};
use super::record::{Recordable, Video, Work};
use super::unrecorded::videos_by_key;
use crate::artifact::{file_name, file_sha256};
use crate::artifact_store::Verify;
use crate::ledger::{Ledger, LedgerError};
use crate::preview::{Hint, Preview, survey_with};

/// What can be recorded, in an order in which it can be; and the keys of the plan's nodes once it is.
pub(super) async fn collect(
    adoption: &Adoption<'_>,
    ledger: Option<&Ledger>,
) -> Result<(AdoptionReport, Vec<Recordable>, KeyResolver), LedgerError> {
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
    let described = adoption.described.iter().filter_map(DescribedVideo::key);
    let mut resolver = adoption.keys.clone().with_described(described);
    let mut shots: Vec<(String, AdoptionResult)> = Vec::new();
    let mut recordable = Vec::new();
    let mut adopted: HashMap<NodeKey, Artifact> = HashMap::new();
    // A node has another key once a video before it counts instead of another one.
    let mut visited: HashSet<(NodeIx, NodeKey)> = HashSet::new();
    let previews = loop {
        let (previews, artifacts) =
            survey_with(plan, ledger, &resolver, adoption.accounts, &Verify::Metadata, &adopted).await?;
        let keys: Arc<[Option<NodeKey>]> = previews.iter().map(|preview| preview.full_key).collect();
        let artifacts: Arc<[Option<Artifact>]> = artifacts.into();
        let mut has_progress = false;
        for (ix, node) in plan.nodes() {
            let Some(key) = keys[ix.index()] else { continue };
            let mut works = collector.described_works(ix, key)?;
            let is_new = visited.insert((ix, key));
            if works.is_empty()
                && is_new
                && is_submitted(adoption, ledger, ix, key, previews[ix.index()].decision)?
            {
                works.extend(collector.find_work(ix, key)?);
            }
            for work in works {
                let NodeWork { key, render, is_asked, work } = match work {
                    Ok(work) => work,
                    Err(result) => {
                        shots.push((node.name.clone(), result));
                        continue;
                    }
                };
                let result = match &work {
                    Work::Video(video) => {
                        adopted.insert(key, video.artifact.clone());
                        let task = video.task.clone().filter(|_| video.is_described);
                        AdoptionResult::Video(video.file.clone(), task)
                    }
                    Work::Task(task) => AdoptionResult::Task(task.clone()),
                };
                shots.push((node.name.clone(), result));
                resolver.renders_mut().adopt(node, key, render, is_asked);
                let attempt = AttemptId(format!("{run}.{}", shots.len()));
                let (keys, artifacts) = (Arc::clone(&keys), Arc::clone(&artifacts));
                recordable.push(Recordable {
                    node: ix,
                    key,
                    render,
                    is_asked,
                    attempt,
                    work,
                    keys,
                    artifacts,
                });
                has_progress = true;
            }
        }
        if !has_progress {
            break previews;
        }
    };
    for (ix, node) in plan.nodes() {
        let Some(task) = adoption.tasks.get(&ix) else { continue };
        if !shots.iter().any(|(name, _)| *name == node.name) {
            let Preview { decision, why, hint, .. } = &previews[ix.index()];
            let indeterminate = match hint {
                Some(Hint::Resolve(attempt, _)) => Some(attempt.clone()),
                Some(Hint::Rerun) | None => None,
            };
            let (task, why) = (task.clone(), why.clone());
            let result = AdoptionResult::NotSubmitted { task, decision: *decision, why, indeterminate };
            shots.push((node.name.clone(), result));
        }
    }
    let mut unused = collector.unused;
    for video in collector.descriptions.unused() {
        let service = &video.description.service;
        let reason = if adoption.accounts.services().any(|own| own == service) {
            "no shot of this plan has its key".to_owned()
        } else {
            format!("it is work of {service}")
        };
        unused.push(UnusedDescription::not_needed(&video.source, reason));
    }
    Ok((AdoptionReport { shots, unused }, recordable, resolver))
}

/// Whether a run would submit a node, or stop at its video.
fn is_submitted(
    adoption: &Adoption<'_>,
    ledger: Option<&Ledger>,
    ix: NodeIx,
    key: NodeKey,
    decision: Decision,
) -> Result<bool, LedgerError> {
    match decision {
        Decision::Execute => Ok(true),
        // A run stops at the video of a task that a `retry` has given up (`UnrecordedVideos`).
        Decision::Adopt => match ledger.filter(|_| !adoption.tasks.contains_key(&ix)) {
            Some(ledger) => Ok(!ledger.has_work(&key.to_string())?),
            None => Ok(false),
        },
        Decision::Reuse | Decision::Deferred | Decision::Blocked | Decision::NotSelected => Ok(false),
    }
}

/// Work of a node, and the render that it is.
struct NodeWork {
    key: NodeKey,
    /// The number in the list of renders of its instance.
    render: u32,
    /// Whether it was asked for with `run --rerun`.
    is_asked: bool,
    work: Work,
}

/// Finds the work of one node after another.
struct Collector<'a> {
    adoption: &'a Adoption<'a>,
    ledger: Option<&'a Ledger>,
    /// Videos by the beginning of the key that their name ends with.
    files: HashMap<String, PathBuf>,
    descriptions: Descriptions<'a>,
    /// Tasks that are about to be recorded.
    tasks: HashSet<TaskId>,
    unused: Vec<UnusedDescription>,
}

impl Collector<'_> {
    /// The task that a person names for a node, unless it is about to be recorded.
    fn named_task(&self, ix: NodeIx) -> Option<&TaskId> {
        self.adoption.tasks.get(&ix).filter(|task| !self.tasks.contains(*task))
    }

    /// The work of a node that nothing describes: the video that is named by its key, or else the task that a person names. The inner error is why
    /// it cannot be recorded.
    fn find_work(
        &mut self,
        ix: NodeIx,
        key: NodeKey,
    ) -> Result<Option<Result<NodeWork, AdoptionResult>>, LedgerError> {
        let named = self.named_task(ix).cloned();
        if let Some(task) = &named
            && let Some((attempt, node)) = self.owner(ix, task)?
        {
            return Ok(Some(Err(AdoptionResult::TaskOfOther { task: task.clone(), attempt, node })));
        }
        let render = self.adoption.plan.node(ix).take.unwrap_or(1);
        let first = |work| NodeWork { key, render, is_asked: false, work };
        let video = match self.files.get(&key.short()) {
            Some(path) => Some((path, self.read_video(path, path)?)),
            None => None,
        };
        self.tasks.extend(named.clone());
        Ok(match (video, named) {
            (Some((path, Ok(artifact))), task) => Some(Ok(first(Work::Video(Box::new(Video {
                artifact,
                file: path.clone(),
                is_described: false,
                task,
                completed_at: None,
                reserved_cost: None,
            }))))),
            (_, Some(task)) => Some(Ok(first(Work::Task(task)))),
            (Some((path, Err(reason))), None) => Some(Err(AdoptionResult::NotAVideo(path.clone(), reason))),
            (None, None) => None,
        })
    }

    /// The described videos of a node's request that the ledger does not know and whose file is what its description says: all its renders.
    fn described_works(
        &mut self,
        ix: NodeIx,
        key: NodeKey,
    ) -> Result<Vec<Result<NodeWork, AdoptionResult>>, LedgerError> {
        let node = self.adoption.plan.node(ix);
        let mut works: Vec<Result<NodeWork, AdoptionResult>> = Vec::new();
        for described in self.descriptions.take(key.numbered(1)) {
            let (source, description) = (&described.source, &described.description);
            let Some(key) = described.key() else { continue };
            if self.ledger.map_or(Ok(false), |ledger| ledger.has_work(&description.key))? {
                continue;
            }
            if works.iter().flatten().any(|work| work.key == key) {
                let reason = "another video of the same render is adopted";
                self.unused.push(UnusedDescription::not_needed(source, reason));
                continue;
            }
            let service = self.adoption.keys.service_of(node);
            let is_known_as = |other: &String| self.adoption.plan.aliases(service).contains(other);
            if description.service != service && !is_known_as(&description.service) {
                let reason = format!("it is work of {}", description.service);
                self.unused.push(UnusedDescription::not_needed(source, reason));
                continue;
            }
            let target = self.adoption.folder.join(file_name(node, &key));
            let read = match described.verify() {
                Ok(()) => self.read_video(described.path(), &target)?,
                Err(reason) => Err(reason),
            };
            match read {
                Ok(artifact) => {
                    let named = self.named_task(ix).cloned();
                    let task = match named {
                        Some(task) => Some(task),
                        None => self.free_task(ix, description.task.as_deref())?,
                    };
                    self.tasks.extend(task.clone());
                    let work = Work::Video(Box::new(Video {
                        artifact: artifact.delivered_after(description.first_sha256.as_deref()),
                        file: described.path().to_owned(),
                        is_described: true,
                        task,
                        completed_at: Some(description.completed_at),
                        reserved_cost: description.reserved_cost,
                    }));
                    let (render, is_asked) = (description.render, description.asked);
                    works.push(Ok(NodeWork { key, render, is_asked, work }));
                }
                Err(reason) => self.unused.push(UnusedDescription::refused(source, &reason)),
            }
        }
        Ok(works)
    }

    /// The described task, if no other attempt owns it.
    fn free_task(&self, ix: NodeIx, task: Option<&str>) -> Result<Option<TaskId>, LedgerError> {
        let Some(task) = task.map(TaskId::from).filter(|task| !self.tasks.contains(task)) else {
            return Ok(None);
        };
        let is_named = self.adoption.tasks.values().any(|named| *named == task);
        Ok((!is_named && self.owner(ix, &task)?.is_none()).then_some(task))
    }

    fn owner(&self, ix: NodeIx, task: &TaskId) -> Result<Option<(AttemptId, String)>, LedgerError> {
        let service = self.adoption.keys.service_of(self.adoption.plan.node(ix));
        self.ledger.map_or(Ok(None), |ledger| ledger.owner_of_task(service, task))
    }

    /// The record of a video file with the readable name `target`; the inner error says why it is not a video.
    fn read_video(&self, path: &Path, target: &Path) -> Result<Result<Artifact, String>, LedgerError> {
        let probed = match self.adoption.ffmpeg.probe(path) {
            Ok(probed) => probed,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let Some(video) = probed.video else { return Ok(Err("it has no frames".to_owned())) };
        Ok(Ok(Artifact {
            path: target.to_owned(),
            sha256: file_sha256(path)?,
            first_sha256: None,
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
