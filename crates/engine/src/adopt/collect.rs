//! What of a plan's work can be recorded, and in which order.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use scheduler::{Artifact, AttemptId, Decision, ForcedRerun, KeyResolver, TaskId};
use workflow::plan::{NodeIx, NodeKey};

use super::adoption::{Adoption, AdoptionReport, AdoptionResult};
use super::descriptions::{DescribedVideo, Descriptions, UnusedDescription};
use super::record::{Recordable, Video, Work};
use super::unrecorded::{recorded_at, videos_by_key};
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
    let mut resolver = adoption.keys.clone();
    let mut shots: Vec<(String, AdoptionResult)> = Vec::new();
    let mut recordable = Vec::new();
    let mut adopted: HashMap<NodeKey, Artifact> = HashMap::new();
    // A node has another key once a video before it counts instead of another one.
    let mut visited: HashSet<(NodeIx, NodeKey)> = HashSet::new();
    let previews = loop {
        let (previews, artifacts) = survey_with(
            plan,
            ledger,
            &resolver,
            adoption.account.account,
            adoption.is_paid,
            &Verify::Metadata,
            &adopted,
        )
        .await?;
        let video = |node: NodeIx| artifacts[node.index()].as_ref();
        let keys: Arc<[Option<NodeKey>]> =
            plan.nodes().map(|(ix, _)| resolver.key(plan, ix, video)).collect();
        let artifacts: Arc<[Option<Artifact>]> = artifacts.iter().cloned().collect();
        let video = |node: NodeIx| artifacts[node.index()].as_ref();
        let mut reruns = Vec::new();
        let mut has_progress = false;
        // First the reruns: what continues a shot has another key then, and is next.
        for is_rerun in [true, false] {
            if !is_rerun && has_progress {
                break;
            }
            for (ix, node) in plan.nodes() {
                let Some(key) = keys[ix.index()].filter(|key| !visited.contains(&(ix, *key))) else {
                    continue;
                };
                let Some(base) = resolver.base_key(plan, ix, video) else { continue };
                let (node_keys, decision) = (NodeKeys { ix, key, base }, previews[ix.index()].decision);
                let work = if is_rerun {
                    collector.find_rerun(&node_keys, decision)?.map(Ok)
                } else if is_submitted(adoption, ledger, &node_keys, decision)? {
                    collector.find_work(&node_keys)?
                } else {
                    None
                };
                let Some(work) = work else { continue };
                visited.insert((ix, key));
                let (work, rerun) = match work {
                    Ok(work) => work,
                    Err(result) => {
                        shots.push((node.name.clone(), result));
                        continue;
                    }
                };
                let recorded = resolver.rerun(plan, ix, video).map(|recorded| recorded.salt);
                let rerun = rerun.map(|rerun| ForcedRerun { supersedes: recorded, ..rerun });
                let key = rerun.as_ref().map_or(key, |rerun| base.salted(&rerun.salt));
                visited.insert((ix, key));
                let result = match &work {
                    Work::Video(video) => {
                        adopted.insert(key, video.artifact.clone());
                        let task = video.task.clone().filter(|_| video.is_described);
                        AdoptionResult::Video(video.file.clone(), task)
                    }
                    Work::Task(task) => AdoptionResult::Task(task.clone()),
                };
                shots.push((node.name.clone(), result));
                reruns.extend(rerun.clone());
                let attempt = AttemptId(format!("{run}.{}", shots.len()));
                let (keys, artifacts) = (Arc::clone(&keys), Arc::clone(&artifacts));
                recordable.push(Recordable { node: ix, key, rerun, attempt, work, keys, artifacts });
                has_progress = true;
            }
        }
        for rerun in &reruns {
            resolver.continue_rerun(rerun);
        }
        if !has_progress {
            // The ledger knows the work of the others.
            for (ix, _) in plan.nodes() {
                let base = resolver.base_key(plan, ix, video);
                if let Some((key, base)) = keys[ix.index()].zip(base) {
                    collector.descriptions.use_all(key, base);
                    // What a rerun supersedes.
                    collector.descriptions.use_all(base, base);
                }
            }
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
        let reason = if *service == adoption.account.service {
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
    node: &NodeKeys,
    decision: Decision,
) -> Result<bool, LedgerError> {
    match decision {
        Decision::Execute => Ok(true),
        // A run stops at the video of a task that a `retry` has given up (`UnrecordedVideos`).
        Decision::Adopt => Ok(!adoption.tasks.contains_key(&node.ix) && is_released(ledger, node.key)?),
        Decision::Reuse | Decision::Deferred | Decision::Blocked | Decision::NotSelected => Ok(false),
    }
}

/// Whether no attempt holds a key or has had its video.
fn is_released(ledger: Option<&Ledger>, key: NodeKey) -> Result<bool, LedgerError> {
    ledger.map_or(Ok(false), |ledger| Ok(!ledger.has_work(&key.to_string())?))
}

/// A node with its keys.
struct NodeKeys {
    ix: NodeIx,
    key: NodeKey,
    /// Without the salt of a rerun.
    base: NodeKey,
}

/// Work of a node, and the rerun that it is.
type NodeWork = (Work, Option<ForcedRerun>);

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

    /// The video of a rerun of a node that counts instead of what is on record.
    fn find_rerun(&mut self, node: &NodeKeys, decision: Decision) -> Result<Option<NodeWork>, LedgerError> {
        let NodeKeys { key, base, .. } = *node;
        let Some(ledger) = self.ledger.filter(|_| decision != Decision::Execute) else { return Ok(None) };
        if !self.descriptions.has_rerun(base) {
            return Ok(None);
        }
        let recorded_at = recorded_at(ledger, key)?;
        let counts = |video: &DescribedVideo| {
            Ok(video.is_later_rerun(base, recorded_at) && !video.is_on_record(ledger)?)
        };
        let video = self.find_described(node, counts)?;
        Ok(video.map(|(video, rerun)| (Work::Video(Box::new(video)), rerun)))
    }

    /// The work of a node: its video, or else the task that a person names. The inner error is why it cannot be recorded.
    fn find_work(
        &mut self,
        node: &NodeKeys,
    ) -> Result<Option<Result<NodeWork, AdoptionResult>>, LedgerError> {
        let NodeKeys { ix, key, .. } = *node;
        let named = self.named_task(ix).cloned();
        if let Some(task) = &named
            && let Some((attempt, node)) = self.owner(task)?
        {
            return Ok(Some(Err(AdoptionResult::TaskOfOther { task: task.clone(), attempt, node })));
        }
        if let Some((mut video, rerun)) = self.find_described(node, |_| Ok(true))? {
            video.task = named.or(video.task);
            self.tasks.extend(video.task.clone());
            return Ok(Some(Ok((Work::Video(Box::new(video)), rerun))));
        }
        let video = match self.files.get(&key.short()) {
            Some(path) => Some((path, self.read_video(path, path)?)),
            None => None,
        };
        self.tasks.extend(named.clone());
        Ok(match (video, named) {
            (Some((path, Ok(artifact))), task) => Some(Ok((
                Work::Video(Box::new(Video {
                    artifact,
                    file: path.clone(),
                    is_described: false,
                    task,
                    completed_at: None,
                    reserved_cost: None,
                })),
                None,
            ))),
            (_, Some(task)) => Some(Ok((Work::Task(task), None))),
            (Some((path, Err(reason))), None) => Some(Err(AdoptionResult::NotAVideo(path.clone(), reason))),
            (None, None) => None,
        })
    }

    /// The latest described video of a node whose file is what its description says, among those that count; and the rerun that it is.
    fn find_described(
        &mut self,
        node: &NodeKeys,
        counts: impl Fn(&DescribedVideo) -> Result<bool, LedgerError>,
    ) -> Result<Option<(Video, Option<ForcedRerun>)>, LedgerError> {
        let NodeKeys { ix, key, base } = *node;
        let mut result: Option<(Video, Option<ForcedRerun>)> = None;
        for described in self.descriptions.take(key, base, counts)? {
            let source = &described.source;
            if result.is_some() {
                self.unused
                    .push(UnusedDescription::not_needed(source, "another video of the same shot is adopted"));
                continue;
            }
            let service = &described.description.service;
            if *service != self.adoption.account.service {
                self.unused.push(UnusedDescription::not_needed(source, format!("it is work of {service}")));
                continue;
            }
            let rerun = described.rerun_of(base);
            let key = rerun.as_ref().map_or(key, |rerun| base.salted(&rerun.salt));
            let target = self.adoption.folder.join(file_name(self.adoption.plan.node(ix), &key));
            let read = match described.verify() {
                Ok(()) => self.read_video(described.path(), &target)?,
                Err(reason) => Err(reason),
            };
            match read {
                Ok(artifact) => {
                    let first = described.description.first_sha256.as_deref();
                    let video = Video {
                        artifact: artifact.delivered_after(first),
                        file: described.path().to_owned(),
                        is_described: true,
                        task: self.free_task(described.description.task.as_deref())?,
                        completed_at: Some(described.description.completed_at),
                        reserved_cost: described.description.reserved_cost,
                    };
                    result = Some((video, rerun));
                }
                Err(reason) => self.unused.push(UnusedDescription::refused(source, &reason)),
            }
        }
        Ok(result)
    }

    /// The described task, if no other attempt owns it.
    fn free_task(&self, task: Option<&str>) -> Result<Option<TaskId>, LedgerError> {
        let Some(task) = task.map(TaskId::from).filter(|task| !self.tasks.contains(task)) else {
            return Ok(None);
        };
        let is_named = self.adoption.tasks.values().any(|named| *named == task);
        Ok((!is_named && self.owner(&task)?.is_none()).then_some(task))
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
