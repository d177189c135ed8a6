//! The effects of a worker: requests are prepared, videos are downloaded, and plans and files come from the shared store.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use engine::artifact_store::ArtifactStore;
use engine::effects::{self, Bounds, InputSource};
use engine::provider::PreparedRequest;
use scheduler::{Artifact, Download, Failure, FailureKind};
use serde::{Deserialize, Serialize};
use workflow::plan::{NodeIx, Plan};
use workflow::units::Money;

use crate::error::ClusterError;
use crate::messages::ThrottleNotice;
use crate::store::{ObjectKind, SharedStore, artifact_hash, artifact_path};
use crate::worker::Worker;

/// A failed effect: a failure of the shot, or an outage after which the worker step is run again.
#[derive(Debug)]
pub(crate) enum EffectError {
    /// Data: it becomes an event.
    Failure(Failure),
    /// The shared store cannot be reached: the worker step is run again.
    Outage(ClusterError),
}

impl From<Failure> for EffectError {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<ClusterError> for EffectError {
    fn from(error: ClusterError) -> Self {
        if error.is_transient() || error.needs_operator() {
            Self::Outage(error)
        } else {
            Self::Failure(local(&error))
        }
    }
}

impl From<std::io::Error> for EffectError {
    fn from(error: std::io::Error) -> Self {
        Self::Failure(local(&error))
    }
}

/// A failed download, as it is journalled.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FailedDownload {
    pub(crate) failure: Failure,
    pub(crate) partial_bytes: u64,
}

/// The complete request of a node.
pub(crate) async fn prepare_request(
    worker: &Worker,
    plan: &Plan,
    node: NodeIx,
    sources: &[InputSource],
) -> Result<PreparedRequest, EffectError> {
    let scratch = tempfile::tempdir()?;
    let mut local_sources = Vec::with_capacity(sources.len());
    for (index, source) in sources.iter().enumerate() {
        local_sources.push(localize(&worker.store, source, &scratch.path().join(index.to_string())).await?);
    }
    let values = effects::load_inputs(local_sources, None, Arc::clone(&worker.ffmpeg)).await?;
    let planned = plan.node(node);
    Ok(worker.provider.prepare(&planned.model, &planned.complete(&values))?)
}

/// Brings an input to this machine.
async fn localize(
    store: &SharedStore,
    source: &InputSource,
    target: &Path,
) -> Result<InputSource, EffectError> {
    let target = target.to_owned();
    Ok(match source.clone() {
        InputSource::Address(url) => InputSource::Address(url),
        InputSource::Frame { video, is_last, .. } => {
            let hash = artifact_hash(&video).ok_or_else(|| {
                Failure::new(FailureKind::Local, "the video of the frame is not in the shared store")
            })?;
            store.get_file(ObjectKind::Artifact, hash, &target).await?;
            InputSource::Frame { video: target, sha256: None, is_last }
        }
        InputSource::FileFrame { sha256, is_last, .. } => {
            store.get_file(ObjectKind::File, &sha256, &target).await?;
            InputSource::FileFrame { video: target, sha256, is_last }
        }
        InputSource::File { sha256, media_type, .. } => {
            store.get_file(ObjectKind::File, &sha256, &target).await?;
            InputSource::File { path: target, sha256, media_type }
        }
    })
}

/// Downloads a video, verifies it, and puts it into the shared store. Its record has the path in the store.
pub(crate) async fn download_video(
    worker: &Worker,
    download: &Download,
) -> Result<Result<Artifact, FailedDownload>, EffectError> {
    let _effect = worker.in_progress.begin();
    let scratch = tempfile::tempdir()?;
    let folder = ArtifactStore::new(scratch.path().join("artifacts"));
    fs_err::create_dir_all(scratch.path().join("artifacts"))?;
    let target: PathBuf = scratch.path().join("video.mp4");
    let bounds = Bounds {
        clock: &worker.clock,
        min_rate: worker.min_download_rate,
        max_bytes: scheduler::policy::MAX_VIDEO_BYTES,
    };
    let sent = worker.clock.now();
    let fetched = effects::fetch(&*worker.provider, download, bounds, &target, &folder, &worker.ffmpeg).await;
    match &fetched {
        Ok(_) => worker.share.downloaded(None),
        Err(error) if error.failure.kind == FailureKind::RateLimited => {
            worker.share.downloaded(Some(ThrottleNotice::new(sent, error.failure.retry_after)));
        }
        Err(_) => {}
    }
    let artifact = match fetched {
        Ok(artifact) => artifact,
        // The part goes with the scratch folder: the next try starts from the beginning.
        Err(error) => return Ok(Err(FailedDownload { failure: error.failure, partial_bytes: 0 })),
    };
    worker.store.put_file(ObjectKind::Artifact, &target, &artifact.sha256).await?;
    let path = artifact_path(&artifact.sha256);
    Ok(Ok(Artifact { path, modified_at: None, ..artifact }))
}

/// What the task of a node cost by the run's price table.
pub(crate) async fn cost(
    worker: &Worker,
    spec: &str,
    node: NodeIx,
    video: Duration,
) -> Result<Option<Money>, ClusterError> {
    let loaded = worker.spec(spec).await?;
    let reserved = loaded.prices.reservation(node, loaded.plan.node(node)).cost;
    let cost = loaded.prices.actual_cost(node, loaded.plan.node(node), video.into());
    Ok(reserved.zip(cost).map(|(reserved, cost)| cost.min(reserved)))
}

pub(crate) fn local(error: &impl std::fmt::Display) -> Failure {
    Failure::new(FailureKind::Local, error.to_string())
}
