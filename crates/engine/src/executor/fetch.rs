//! `runner ledger fetch`: waits for one recorded task and downloads its video, without a plan. For tasks that no shot asks for any more.
//!
//! Several tasks are fetched at once. Their requests take turns ([`Turns`]), so that each task is looked at before any is looked at again.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use scheduler::polling;
use scheduler::{
    Artifact, AttemptState, Download, Event, Failure, NextStep, Policy, PollResult, TaskId, Timestamp,
    UnusableCopies,
};
use tokio::sync::{Mutex, watch};
use workflow::plan::{NodeIx, NodeKey};

use crate::artifact::file_name_of;
use crate::artifact_store::Verify;
use crate::effects::download;
use crate::ledger::{AttemptRow, Ledger, LedgerError};
use crate::provider::Provider;
use crate::sidecar::Sidecar;
use crate::time::Clock;

/// How long a response about a task is waited for, even where the time is up.
const MIN_ANSWER_TIME: Duration = Duration::from_secs(5);

/// Under how many keys a video is recorded at most, while runs replace its task.
const MAX_KEYS: usize = 5;

/// The node of events that are recorded without a plan. Their shot is recorded by name.
fn no_node() -> NodeIx {
    NodeIx::new(0)
}

/// Receives the progress of a task in percent, if it is known.
pub type OnWait = Box<dyn Fn(&AttemptRow, Option<u8>) + Send + Sync>;

/// What a fetch works with.
pub struct FetchConfig {
    /// The ledger that the task is recorded in.
    pub ledger: Arc<Ledger>,
    /// The service that it was submitted to.
    pub provider: Arc<dyn Provider>,
    /// Timeouts and back-off.
    pub policy: Policy,
    pub clock: Clock,
    /// External programs for formats that the `media` crate does not decode.
    pub ffmpeg: media::Ffmpeg,
    /// The order of requests about the tasks that are fetched at once.
    pub turns: Turns,
    /// Called whenever a task is waited for.
    pub on_wait: OnWait,
    /// Becomes true when the fetch is to end: a task is no longer waited for, and a download that has begun gets
    /// [`Policy::shutdown_grace`].
    pub interrupt: watch::Receiver<bool>,
}

/// Polls are sent at the rate of the policy, in the order in which they were asked for; one download at a time.
#[derive(Debug, Default)]
pub struct Turns {
    /// When the service may be polled again.
    polls: Mutex<Timestamp>,
    downloads: Mutex<()>,
}

impl FetchConfig {
    /// Until the fetch is asked to end.
    async fn interrupted(&self) {
        // Without a sender nothing can ask.
        if self.interrupt.clone().wait_for(|asked| *asked).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Why a task's video is not there.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The ledger cannot be used.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The task failed at the service; that is recorded.
    #[error("the task failed: {}", .0.message)]
    Failed(Failure),
    /// The service does not know the task, which is paid for.
    #[error("the service does not know the task")]
    Missing,
    /// The service has no intact video of the task.
    #[error("its video could not be downloaded: {0}")]
    Gone(String),
    /// The task is not finished, or its video could not be downloaded.
    #[error("{0}")]
    StillOpen(String),
    /// The task is kept: it was submitted with the key of another account, and the service does not show it to this one.
    #[error("it was submitted with another API key, and the service does not show it to this one")]
    OtherAccount,
    /// No request of this account can succeed.
    #[error("{}", .0.message)]
    Unauthorized(Failure),
    /// The fetch was interrupted. The task is recorded as before, and the next download resumes this one.
    #[error("the fetch was interrupted")]
    Interrupted,
}

/// Polls the task of `row` until it ends, for as long as `timeout`, and stores its video under a readable name in `folder`.
///
/// # Errors
/// [`FetchError`]: the task is recorded as before, as failed, or as missing where it had a video.
pub async fn fetch_task(
    config: &FetchConfig,
    row: &AttemptRow,
    folder: PathBuf,
    timeout: Duration,
) -> Result<Artifact, FetchError> {
    let Some(task) = &row.task else {
        return Err(FetchError::StillOpen("it has no task".to_owned()));
    };
    if let Some(artifact) = recorded_video(config, row)? {
        return Ok(artifact);
    }
    let own_key = NodeKey::parse(&row.key).ok_or_else(malformed)?;
    let completed = async {
        let completed = wait_until_completed(config, row, task, own_key, timeout).await?;
        Ok::<_, FetchError>((completed, config.turns.downloads.lock().await))
    };
    let (mut download, _turn) = tokio::select! {
        completed = completed => completed?,
        () = config.interrupted() => return Err(FetchError::Interrupted),
    };
    download.deadline = Some(config.clock.now().after(timeout));
    fs_err::create_dir_all(&folder).map_err(LedgerError::Io)?;
    let (mut row, target) = with_current_key(config, row, &folder)?;
    let grace = async {
        config.interrupted().await;
        config.clock.sleep_until(config.clock.now().after(config.policy.shutdown_grace)).await;
    };
    let mut artifact = tokio::select! {
        downloaded = download_video(config, download, target) => downloaded?.delivered_after(row.video_identity()),
        () = grace => return Err(FetchError::Interrupted),
    };
    let store = config.ledger.store();
    for _ in 0..MAX_KEYS {
        write_sidecar(config, &row, &artifact)?;
        let event = Event::Downloaded {
            node: no_node(),
            attempt: row.attempt.clone(),
            artifact: artifact.clone(),
            cost: row.reservation.cost,
        };
        if config.ledger.append_fetched(&row, &event, config.clock.now())? {
            return Ok(artifact);
        }
        if let Some(artifact) = recorded_video(config, &row)? {
            return Ok(artifact);
        }
        // A run has replaced the task in the meantime. The name may be that of the other video by now, and stays.
        remove_sidecar(config, &row, &artifact);
        let target;
        (row, target) = with_current_key(config, &row, &folder)?;
        let linked = store.link_into(&artifact, &target, &Verify::Metadata).map_err(LedgerError::Io)?;
        artifact = linked.ok_or_else(|| FetchError::StillOpen("its video was removed".to_owned()))?;
    }
    Err(FetchError::StillOpen("its shot is being submitted again and again".to_owned()))
}

/// The video of an attempt, where it is on disk: it may have been recorded since `row` was read, by another process, or for the same task named
/// twice.
fn recorded_video(config: &FetchConfig, row: &AttemptRow) -> Result<Option<Artifact>, LedgerError> {
    let current = config.ledger.attempt(&row.attempt)?;
    let recorded = current.filter(|row| row.state == AttemptState::Completed).and_then(|row| row.artifact);
    let Some(artifact) = recorded else { return Ok(None) };
    Ok(config.ledger.store().find_delivery(&artifact, None, &Verify::Metadata)?)
}

/// The attempt with the key under which its video is recorded now, and the path of that.
fn with_current_key(
    config: &FetchConfig,
    row: &AttemptRow,
    folder: &Path,
) -> Result<(AttemptRow, PathBuf), FetchError> {
    let key = config.ledger.key_of_video(row)?.ok_or_else(malformed)?;
    let target = folder.join(file_name_of(&row.node, &key));
    Ok((AttemptRow { key: key.to_string(), ..row.clone() }, target))
}

fn malformed() -> FetchError {
    FetchError::StillOpen("its record is malformed".to_owned())
}

fn sidecar(config: &FetchConfig, row: &AttemptRow, artifact: &Artifact) -> Option<Sidecar> {
    if !config.provider.is_paid() {
        return None;
    }
    // A video that is downloaded again was complete before.
    let is_again = row.state == AttemptState::Completed;
    let completed_at = row.ended_at.filter(|_| is_again).unwrap_or_else(|| config.clock.now());
    Some(row.sidecar().with_video(artifact, completed_at))
}

/// Writes the sidecar of a video, unless there is one: that of a run says more.
fn write_sidecar(config: &FetchConfig, row: &AttemptRow, artifact: &Artifact) -> Result<(), LedgerError> {
    let Some(mut sidecar) = sidecar(config, row, artifact) else { return Ok(()) };
    let store = config.ledger.store();
    if store.has_sidecar(&sidecar.sha256, &sidecar.key) {
        return Ok(());
    }
    if let Some(key) = NodeKey::parse(&row.key) {
        (sidecar.render, sidecar.asked) = config.ledger.render_of(&row.workflow, key)?;
    }
    if let Err(error) = store.write_sidecar(&sidecar) {
        tracing::warn!(%error, "the sidecar of a video cannot be written");
    }
    Ok(())
}

/// Removes what says that a video is that of a shot, which has another one.
fn remove_sidecar(config: &FetchConfig, row: &AttemptRow, artifact: &Artifact) {
    let Some(sidecar) = sidecar(config, row, artifact) else { return };
    if let Err(error) = config.ledger.store().remove_sidecar(&sidecar) {
        tracing::warn!(%error, "the sidecar of a video cannot be removed");
    }
}

/// Polls until the task is completed. With what the service says in `error` beside the video.
async fn wait_until_completed(
    config: &FetchConfig,
    row: &AttemptRow,
    task: &TaskId,
    key: NodeKey,
    timeout: Duration,
) -> Result<Download, FetchError> {
    let FetchConfig { provider, policy, clock, .. } = config;
    let started = clock.now();
    let submitted = row.submitted_at.unwrap_or(row.intended_at);
    let deadline = started.after(timeout);
    let poll_interval = policy.poll_rate.per / policy.poll_rate.count.max(1);
    let (mut unknown_since, mut unreachable_since) = (None, None);
    let is_other_account = config.ledger.is_of_other_account(row, provider.account())?;
    loop {
        {
            let mut next_poll = config.turns.polls.lock().await;
            clock.sleep_until((*next_poll).min(deadline)).await;
            *next_poll = clock.now().after(poll_interval);
        }
        let result = tokio::select! {
            result = provider.poll(task) => result,
            () = clock.sleep_until(deadline.max(clock.now().after(MIN_ANSWER_TIME))) => {
                let seconds = clock.now().since(started).as_secs();
                return Err(FetchError::StillOpen(format!("the service did not answer within {seconds} s")));
            }
        };
        let now = clock.now();
        let mut wait = polling::wait(policy, now.since(submitted));
        if !matches!(result, PollResult::NotFound { .. }) {
            unknown_since = None;
        }
        match result {
            PollResult::Completed { url, last_frame_url, expires_at, took: _ } => {
                let download = Download {
                    node: no_node(),
                    key,
                    attempt: row.attempt.clone(),
                    task: task.clone(),
                    url,
                    source_index: 0,
                    last_frame_url,
                    expires_at,
                    not_before: now,
                    deadline: None,
                };
                return Ok(download);
            }
            PollResult::Failed { failure } => {
                // Its key stays its own where it has had a video, as in a run.
                let lost = row
                    .artifact
                    .as_ref()
                    .map(|_| format!("the service now reports that it has failed: {}", failure.message));
                let event = Event::Polled {
                    node: no_node(),
                    attempt: row.attempt.clone(),
                    result: PollResult::Failed { failure: failure.clone() },
                    next: Some(lost.clone().map_or(NextStep::Fail, |reason| NextStep::Missing { reason })),
                };
                config.ledger.append_fetched(row, &event, now)?;
                return Err(lost.map_or(FetchError::Failed(failure), FetchError::StillOpen));
            }
            // It says nothing about this account, nor about the task.
            PollResult::Unauthorized { .. } | PollResult::NotFound { .. } if is_other_account => {
                return Err(FetchError::OtherAccount);
            }
            PollResult::Unauthorized { failure } => return Err(FetchError::Unauthorized(failure)),
            PollResult::Running { progress, poll_after, .. } => {
                (config.on_wait)(row, progress);
                wait = wait.max(poll_after.unwrap_or_default().min(policy.max_retry_after));
            }
            PollResult::Throttled { retry_after, .. } => {
                wait = retry_after.unwrap_or(policy.backoff).min(policy.max_backoff);
                *config.turns.polls.lock().await = now.after(wait);
            }
            PollResult::NotFound { expired } => {
                let since: Timestamp = *unknown_since.get_or_insert(now);
                if expired || now.since(since) >= policy.not_found_grace {
                    return Err(FetchError::Missing);
                }
            }
            PollResult::Unreachable { reason } => {
                let since: Timestamp = *unreachable_since.get_or_insert(now);
                if now.since(since) >= policy.unreachable_timeout {
                    return Err(FetchError::StillOpen(format!("the service does not respond: {reason}")));
                }
                if now >= deadline {
                    return Err(FetchError::StillOpen(format!("the service does not respond: {reason}")));
                }
                clock.sleep_until(now.after(policy.backoff).min(deadline)).await;
                continue;
            }
        }
        unreachable_since = None;
        if now >= deadline {
            return Err(FetchError::StillOpen(format!(
                "it is not finished {} s after its submission",
                now.since(submitted).as_secs()
            )));
        }
        clock.sleep_until(now.after(wait).min(deadline)).await;
    }
}

/// Downloads from the task's URL and from the content endpoint in turn, as a run does.
async fn download_video(
    config: &FetchConfig,
    mut download: Download,
    target: PathBuf,
) -> Result<Artifact, FetchError> {
    let store = config.ledger.store();
    let mut tries = 0;
    let mut unusable_copies = UnusableCopies::default();
    loop {
        let bounds = download::Bounds {
            clock: &config.clock,
            min_rate: config.policy.min_download_rate,
            max_bytes: config.policy.max_video_bytes,
        };
        let fetched =
            download::fetch(&*config.provider, &download, bounds, &target, &store, &config.ffmpeg).await;
        let failure = match fetched {
            Ok(artifact) => return Ok(artifact),
            Err(error) => error.failure,
        };
        tries += 1;
        unusable_copies = unusable_copies.after(&download, failure.kind);
        if tries >= config.policy.max_download_attempts || failure.kind.is_local() {
            if unusable_copies.probably(&download, config.clock.now()).is_some() {
                return Err(FetchError::Gone(failure.message));
            }
            let message = format!("its video could not be downloaded: {}", failure.message);
            return Err(FetchError::StillOpen(message));
        }
        download.source_index += 1;
        let wait = failure.retry_after.unwrap_or(config.policy.backoff).min(config.policy.max_backoff);
        let next = config.clock.now().after(wait);
        if download.deadline.is_some_and(|deadline| next >= deadline) {
            let message = format!("its video could not be downloaded in time: {}", failure.message);
            return Err(FetchError::StillOpen(message));
        }
        config.clock.sleep_until(next).await;
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::BoxFuture;
    use scheduler::budget::Reservation;
    use workflow::units::VideoDuration;

    use super::*;
    use crate::provider::{DownloadSink, PreparedRequest, Resume, Submission};

    /// A service that answers no poll, or each with "queued".
    struct Slow {
        answers: bool,
    }

    impl Provider for Slow {
        fn identity(&self) -> &'static str {
            "http://127.0.0.1:1"
        }

        fn prepare(&self, _model: &str, request: &serde_json::Value) -> Result<PreparedRequest, Failure> {
            PreparedRequest::new(request)
                .map_err(|error| Failure::new(scheduler::FailureKind::Local, error.to_string()))
        }

        fn submit<'a>(&'a self, _request: &'a PreparedRequest) -> BoxFuture<'a, Submission> {
            unreachable!("nothing is submitted")
        }

        fn poll<'a>(&'a self, _task: &'a TaskId) -> BoxFuture<'a, PollResult> {
            if self.answers {
                let running =
                    PollResult::Running { status: "queued".to_owned(), progress: None, poll_after: None };
                Box::pin(std::future::ready(running))
            } else {
                Box::pin(std::future::pending())
            }
        }

        fn download<'a>(
            &'a self,
            _task: &'a TaskId,
            _url: Option<&'a str>,
            _resume: Option<&'a Resume>,
            _sink: &'a mut dyn DownloadSink,
        ) -> BoxFuture<'a, Result<(), Failure>> {
            unreachable!("nothing is downloaded")
        }
    }

    fn row() -> AttemptRow {
        AttemptRow {
            attempt: "r.1".into(),
            run: "r".into(),
            workflow: "w".to_owned(),
            node: "lamp".to_owned(),
            key: "0".repeat(64),
            state: AttemptState::Submitted,
            service: "http://127.0.0.1:1".to_owned(),
            account: None,
            model: "m".to_owned(),
            reservation: Reservation { duration: VideoDuration::from_secs(1), cost: None },
            task: Some("t".into()),
            suggested_task: None,
            digest: String::new(),
            intended_at: Timestamp(0),
            submitted_at: Some(Timestamp(0)),
            ended_at: None,
            failure: None,
            artifact: None,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn fetch_ends_at_its_timeout_whether_or_not_the_service_answers() {
        for (answers, seconds, reason) in [
            (true, 30, "it is not finished 30 s after its submission"),
            (false, 30, "the service did not answer within 30 s"),
            (false, 1, "the service did not answer within 5 s"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let config = FetchConfig {
                ledger: Arc::new(Ledger::open(&folder.path().join("ledger.db"), folder.path()).unwrap()),
                provider: Arc::new(Slow { answers }),
                policy: Policy::remote(),
                clock: Clock::starting_at(Timestamp(0)),
                ffmpeg: media::Ffmpeg::default(),
                turns: Turns::default(),
                on_wait: Box::new(|_, _| ()),
                interrupt: watch::channel(false).1,
            };
            let timeout = Duration::from_secs(seconds);
            let ended = fetch_task(&config, &row(), folder.path().join("out"), timeout).await;
            assert_eq!(ended.map(|_| ()).unwrap_err().to_string(), reason);
            assert_eq!(config.clock.now().since(Timestamp(0)).as_secs(), seconds.max(5));
        }
    }
}
