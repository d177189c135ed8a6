//! Paid videos that the ledger does not know: it was removed, restored from a backup, or not copied along. A run stops before it pays for them
//! again.

use std::path::Path;

use engine::Ledger;
use engine::adopt::{UnknownVideo, later_reruns, unknown_videos, unrecorded_descriptions};
use engine::preview::{Preview, block_unrecorded};
use scheduler::{Decision, KeyResolver};
use workflow::plan::{NodeIx, Plan};

use crate::args::EngineAddressArgs;
use crate::error::{CommandError, ErrorKind};
use crate::named_workflow::NamedWorkflow;
use crate::project_paths::{ProjectPaths, display_path};
use crate::records::Records;

/// How many videos are listed.
const MAX_LISTED: usize = 5;

/// Checks for videos that the ledger does not know, before a run whose videos come into the folder `output_dir`.
///
/// # Errors
/// There are some.
pub(crate) async fn check(
    file: &NamedWorkflow,
    plan: &Plan,
    ledger: &Ledger,
    keys: &KeyResolver,
    output_dir: &Path,
) -> Result<(), CommandError> {
    let videos = unknown_videos(plan, Some(ledger), keys, output_dir, &ledger.store()).await?;
    let described = unrecorded_descriptions(Some(ledger), &ledger.store())?;
    let mut reruns = later_reruns(plan, ledger, keys, &described).await?;
    reruns.retain(|rerun| !videos.iter().any(|video| video.node == rerun.node));
    if videos.is_empty() && reruns.is_empty() {
        return Ok(());
    }
    let mut message = "the ledger does not know everything that was done here, so it may have been removed, or restored from an older copy; \
                       nothing was submitted"
        .to_owned();
    for text in [about_videos(&videos), about_reruns(&reruns)].into_iter().flatten() {
        message.push_str("\n  ");
        message.push_str(&text);
    }
    let file = file.in_full();
    Err(CommandError::new(ErrorKind::ActionNeeded, message)
        .hint("put the ledger back (.runner/ledger.db with its -wal), if there is a later copy")
        .hint(format!("to record the videos: runner ledger adopt {file}"))
        .hint(format!(
            "to continue and pay again for what is not recorded by then: runner run {file} --force"
        )))
}

/// A project, and its folder of videos.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VideoFolders<'a> {
    pub(crate) paths: &'a ProjectPaths,
    pub(crate) output_dir: &'a Path,
}

/// Marks the shots of a plan whose videos the ledger does not know: a run stops there.
pub(crate) async fn mark(
    plan: &Plan,
    records: &Records,
    keys: &KeyResolver,
    folders: VideoFolders<'_>,
    file: &NamedWorkflow,
    engine: &EngineAddressArgs,
    previews: &mut [Preview],
) -> Result<(), CommandError> {
    let file_name = file.in_full();
    let VideoFolders { paths, output_dir } = folders;
    for video in unknown_videos(plan, records.work(), keys, output_dir, &paths.store()).await? {
        let path = display_path(&video.path);
        let reason = if engine.is_cluster() {
            format!(
                "{path} is its video, and the cluster does not know it: `runner run {file_name} --force` pays for it again"
            )
        } else {
            format!("{path} is its video, and the ledger does not know it: `runner ledger adopt {file_name}`")
        };
        block_unrecorded(plan, previews, video.node, reason);
    }
    if let Some(ledger) = records.ledger() {
        let described = unrecorded_descriptions(Some(ledger), &paths.store())?;
        let reruns = later_reruns(plan, ledger, keys, &described).await?;
        let is_blocked = |node: NodeIx| previews[node.index()].decision == Decision::Blocked;
        let reruns: Vec<UnknownVideo> = reruns.into_iter().filter(|video| !is_blocked(video.node)).collect();
        for video in reruns {
            let path = display_path(&video.path);
            let reason = format!(
                "{path} is the video of a later rerun, and the ledger does not know it: `runner ledger adopt {file_name}`"
            );
            block_unrecorded(plan, previews, video.node, reason);
        }
    }
    Ok(())
}

/// Checks, before a run on a cluster, for videos of earlier runs on this machine that the cluster would pay for again.
///
/// # Errors
/// There are some.
#[cfg(feature = "cluster")]
pub(crate) async fn check_cluster(
    plan: &Plan,
    records: &Records,
    keys: &KeyResolver,
    output_dir: &Path,
    paths: &ProjectPaths,
    file: &str,
) -> Result<(), CommandError> {
    let videos = unknown_videos(plan, records.work(), keys, output_dir, &paths.store()).await?;
    let Some(listed) = about_videos(&videos) else { return Ok(()) };
    let message = format!(
        "the cluster does not know videos that are on this machine; nothing was submitted\n  {listed}"
    );
    Err(CommandError::new(ErrorKind::ActionNeeded, message)
        .hint("to use them, run on this machine: without --engine, and without RUNNER_ENGINE")
        .hint(format!("to continue and pay for that work again: runner run {file} --force")))
}

fn about_videos(videos: &[UnknownVideo]) -> Option<String> {
    let listed = videos.iter().map(|video| format!("{} ({})", video.name, display_path(&video.path)));
    listed_as("videos of shots that it would render again", videos.len(), listed)
}

fn about_reruns(videos: &[UnknownVideo]) -> Option<String> {
    let listed = videos.iter().map(|video| format!("{} ({})", video.name, display_path(&video.path)));
    listed_as("videos of later reruns of shots", videos.len(), listed)
}

fn listed_as(label: &str, count: usize, listed: impl Iterator<Item = String>) -> Option<String> {
    if count == 0 {
        return None;
    }
    let listed: Vec<String> = listed.take(MAX_LISTED).collect();
    let more = if count > MAX_LISTED { format!(", and {} more", count - MAX_LISTED) } else { String::new() };
    Some(format!("{label}: {}{more}", listed.join(", ")))
}
