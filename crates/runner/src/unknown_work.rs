//! Traces of work that the ledger does not know: it was removed, restored from a backup, or copied without its log. A run stops before it
//! pays for that work again.

use std::path::Path;

use engine::Ledger;
use engine::adopt::{
    DescribedVideo, UnknownVideo, deferred_videos, later_reruns, unknown_videos, unrecorded_descriptions,
    with_described_work,
};
use engine::ledger::UnknownRun;
use engine::preview::{Preview, block_unrecorded};
use scheduler::{Decision, KeyResolver};
use workflow::plan::{NodeIx, Plan};

use crate::args::EngineAddressArgs;
use crate::backend::EMBEDDED;
use crate::error::{CommandError, ErrorKind};
use crate::named_workflow::NamedWorkflow;
use crate::project_paths::{ProjectPaths, display_path};
use crate::records::Records;
use crate::report::sanitize;

/// How many videos or runs are listed.
const MAX_LISTED: usize = 5;

/// Checks for traces of unknown work before a run whose videos come into the folder `output_dir`; `None` with `--force`. `described` are the
/// sidecars that the ledger does not know.
///
/// # Errors
/// There are some, without `--force`.
pub(crate) async fn check(
    file: &NamedWorkflow,
    plan: &Plan,
    ledger: &Ledger,
    keys: &KeyResolver,
    described: &[DescribedVideo],
    output_dir: Option<&Path>,
) -> Result<(), CommandError> {
    let runs = unknown_runs(ledger)?;
    let Some(output_dir) = output_dir else {
        // The decision holds: the next run does not ask again. Unknown videos are recorded under their keys by this run.
        remove_lock_files(runs.iter().filter(|run| !run.is_alive))?;
        return Ok(());
    };
    let videos = unknown_videos(plan, Some(ledger), keys, output_dir, &ledger.store()).await?;
    let reruns = later_reruns_besides(&videos, plan, ledger, keys, described).await?;
    if runs.is_empty() && videos.is_empty() && reruns.is_empty() {
        return Ok(());
    }
    let mut message = "the ledger does not know everything that was done here, so it may have been removed, or restored from an older copy; \
                       nothing was submitted"
        .to_owned();
    let service = keys.service();
    let listed = [
        about_videos(&videos),
        about_reruns(&reruns),
        in_flight(&runs, service),
        ended_early(&runs, service),
    ];
    for text in listed.into_iter().flatten() {
        message.push_str("\n  ");
        message.push_str(&text);
    }
    let file = file.in_full();
    let mut error = CommandError::new(ErrorKind::ActionNeeded, message)
        .hint("put the ledger back (.runner/ledger.db with its -wal), if there is a later copy");
    if !(videos.is_empty() && reruns.is_empty()) {
        error = error.hint(format!("to record the videos: runner ledger adopt {file}"));
    } else if runs.iter().any(|run| run.submitted_nothing) {
        error = error.hint(format!("to record what there is, and continue: runner ledger adopt {file}"));
    }
    if runs.iter().any(|run| !run.submitted_nothing) {
        error = error.hint(format!(
            "to record tasks that these runs submitted, as your account at the service lists them: runner ledger adopt {file} --task SHOT=TASK{}",
            at_their_service(&runs, service)
        ));
    }
    Err(error.hint(format!(
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
pub(crate) async fn mark_videos(
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

/// The keys of work that is described and not on record as well, as a run resolves them.
pub(crate) fn with_described_keys(
    keys: KeyResolver,
    records: &Records,
    paths: &ProjectPaths,
) -> Result<KeyResolver, CommandError> {
    let described = unrecorded_descriptions(records.ledger(), &paths.store())?;
    Ok(with_described_work(keys, records.ledger(), &described)?.0)
}

/// As [`mark_videos`], with what the ledger does not know besides: videos of shots that wait for others, and runs.
pub(crate) async fn mark(
    plan: &Plan,
    records: &Records,
    keys: &KeyResolver,
    folders: VideoFolders<'_>,
    file: &NamedWorkflow,
    engine: &EngineAddressArgs,
    previews: &mut [Preview],
) -> Result<(), CommandError> {
    mark_videos(plan, records, keys, folders, file, engine, previews).await?;
    let file_name = file.in_full();
    if !engine.is_cluster() {
        let videos = deferred_videos(plan, records.work(), folders.output_dir, previews).await?;
        let listed = videos.iter().map(|video| format!("{} ({})", video.name, display_path(&video.path)));
        let label = "files that may be the videos of shots that wait for others";
        if let Some(listed) = listed_as(label, videos.len(), listed) {
            errln!(
                "the ledger does not know {listed}; a run submits nothing for a shot whose video is there\nhint: to record them once the others are done: runner ledger adopt {file_name}"
            );
        }
        for video in videos {
            let preview = &mut previews[video.node.index()];
            let why = preview.why.take().map(|why| format!("{why}; ")).unwrap_or_default();
            preview.why = Some(format!(
                "{why}{} may be its video, and the ledger does not know it: if it is, a run submits nothing for this shot, and `runner ledger adopt {file_name}` records it",
                display_path(&video.path)
            ));
        }
    }
    let runs = match records.ledger() {
        Some(ledger) => unknown_runs(ledger)?,
        None => Vec::new(),
    };
    if !runs.is_empty() {
        errln!("{}", about_runs(file, &runs, keys.service()));
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

/// Runs that the ledger does not know. Not those at the embedded service, whose tasks cost nothing.
pub(crate) fn unknown_runs(ledger: &Ledger) -> Result<Vec<UnknownRun>, CommandError> {
    let runs = ledger.unknown_runs()?;
    Ok(runs.into_iter().filter(|run| run.service.as_deref() != Some(EMBEDDED)).collect())
}

/// Removes the lock files of killed runs that submitted nothing: once what there is was adopted, they tell nothing more. Returns the other runs.
pub(crate) fn remove_finished_runs(runs: Vec<UnknownRun>) -> Result<Vec<UnknownRun>, CommandError> {
    let (without_submission, others): (Vec<_>, Vec<_>) =
        runs.into_iter().partition(|run| run.submitted_nothing);
    remove_lock_files(without_submission.iter())?;
    Ok(others)
}

fn remove_lock_files<'a>(runs: impl Iterator<Item = &'a UnknownRun>) -> Result<(), CommandError> {
    for run in runs {
        match fs_err::remove_file(&run.lock_file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    Ok(())
}

/// Videos of later reruns for nodes that are not among those of `videos`.
async fn later_reruns_besides(
    videos: &[UnknownVideo],
    plan: &Plan,
    ledger: &Ledger,
    keys: &KeyResolver,
    described: &[DescribedVideo],
) -> Result<Vec<UnknownVideo>, CommandError> {
    let mut reruns = later_reruns(plan, ledger, keys, described).await?;
    reruns.retain(|rerun| !videos.iter().any(|video| video.node == rerun.node));
    Ok(reruns)
}

fn about_reruns(videos: &[UnknownVideo]) -> Option<String> {
    let listed = videos.iter().map(|video| format!("{} ({})", video.name, display_path(&video.path)));
    listed_as("videos of later reruns of shots", videos.len(), listed)
}

/// Runs that may have submitted tasks.
fn in_flight(runs: &[UnknownRun], service: &str) -> Option<String> {
    let runs: Vec<&UnknownRun> = runs.iter().filter(|run| !run.submitted_nothing).collect();
    runs_listed("runs whose tasks may be in flight", &runs, service)
}

/// Runs that were killed before they submitted anything.
fn ended_early(runs: &[UnknownRun], service: &str) -> Option<String> {
    let runs: Vec<&UnknownRun> = runs.iter().filter(|run| run.submitted_nothing).collect();
    runs_listed("runs that ended before they submitted anything", &runs, service)
}

fn runs_listed(label: &str, runs: &[&UnknownRun], service: &str) -> Option<String> {
    let listed = runs.iter().map(|run| {
        let started = run.started_at.and_then(|time| jiff::Timestamp::try_from(time).ok());
        let mut name =
            started.map_or_else(|| run.run.to_string(), |time| format!("{} of {time:.0}", run.run));
        if let Some(other_service) = run.service.as_ref().filter(|name| *name != service) {
            name = format!("{name} at {}", sanitize::line(other_service));
        }
        if run.is_alive { format!("{name}, which is running") } else { name }
    });
    listed_as(label, runs.len(), listed)
}

/// About runs that the ledger does not know.
pub(crate) fn about_runs(file: &NamedWorkflow, runs: &[UnknownRun], service: &str) -> String {
    let file = file.in_full();
    let listed: Vec<String> =
        [in_flight(runs, service), ended_early(runs, service)].into_iter().flatten().collect();
    let adopt = if runs.iter().all(|run| run.submitted_nothing) {
        format!("to record what there is, and continue: runner ledger adopt {file}")
    } else {
        let service_option = at_their_service(runs, service);
        format!("to record their tasks: runner ledger adopt {file} --task SHOT=TASK{service_option}")
    };
    format!(
        "the ledger does not know {}; a run stops before it submits anything\nhint: {adopt}\nhint: to continue and pay again for what is not recorded by then: runner run {file} --force",
        listed.join(", nor ")
    )
}

/// Where the tasks of runs are recorded that were at another service.
fn at_their_service(runs: &[UnknownRun], service: &str) -> &'static str {
    let is_other =
        |run: &UnknownRun| !run.submitted_nothing && run.service.as_ref().is_some_and(|name| name != service);
    if runs.iter().any(is_other) { ", with RUNNER_BASE_URL and RUNNER_API_KEY of their service" } else { "" }
}

fn listed_as(label: &str, count: usize, listed: impl Iterator<Item = String>) -> Option<String> {
    if count == 0 {
        return None;
    }
    let listed: Vec<String> = listed.take(MAX_LISTED).collect();
    let more = if count > MAX_LISTED { format!(", and {} more", count - MAX_LISTED) } else { String::new() };
    Some(format!("{label}: {}{more}", listed.join(", ")))
}
