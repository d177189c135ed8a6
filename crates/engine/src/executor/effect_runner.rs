//! Executes the scheduler's actions. Each action is executed once and yields one event.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tracing::{Instrument as _, Span};
use workflow::plan::{NodeIx, NodeKey, Plan};

use super::attempt_ids::AttemptIds;
use super::lookup_queue::LookupRequest;
use super::services::{RunServices, ServiceOfRun};
use super::wake_timer::WakeTimer;
use super::{sidecars, trace};
use crate::adopt::UnrecordedVideos;
use crate::artifact::file_name;
use crate::blocking::run_blocking;
use crate::effects::{download, inputs, join};
use crate::film::film_clips;
use crate::ledger::{Ledger, LedgerError};
use crate::provider::{PreparedRequest, Provider, Submission, SubmissionLookup, find_submission};
use crate::reporter::FilmProgress;
use crate::storage::Storage;
use crate::time::Clock;
use scheduler::{
    Action, Artifact, AttemptId, Event, Failure, FailureKind, PollResult, Refusal, RefusalKind, RunState,
    Timestamp,
};

/// The event of an action, or an error of the ledger, which ends the run.
pub(super) type EffectResult = Result<Event, LedgerError>;

/// Complete requests by attempt, until their intent is durable.
pub(super) type PreparedRequests = Arc<Mutex<HashMap<AttemptId, PreparedRequest>>>;

/// Context for the execution of actions.
pub(super) struct EffectRunner {
    pub(super) plan: Arc<Plan>,
    pub(super) ledger: Arc<Ledger>,
    pub(super) services: RunServices,
    pub(super) clock: Clock,
    pub(super) output_dir: PathBuf,
    pub(super) workflow_dir: PathBuf,
    pub(super) ffmpeg: Arc<media::Ffmpeg>,
    pub(super) digital_source: media::DigitalSource,
    pub(super) attempts: AttemptIds,
    pub(super) storage: Arc<Storage>,
    pub(super) sender: mpsc::UnboundedSender<EffectResult>,
    /// How far films are.
    pub(super) joins: mpsc::UnboundedSender<FilmProgress>,
    pub(super) wakes: WakeTimer,
    pub(super) prepared: PreparedRequests,
    /// Videos of earlier runs, where a shot whose video the ledger does not know is not submitted.
    pub(super) unrecorded: Option<Arc<UnrecordedVideos>>,
    pub(super) tasks: JoinSet<()>,
    pub(super) lookups: mpsc::UnboundedSender<LookupRequest>,
    /// The name of the workflow file, if it is known.
    pub(super) workflow_file: Option<String>,
    /// The parent span of all effects.
    pub(super) span: Span,
}

impl EffectRunner {
    /// Starts an action. Returns its event if it is known at once; other events arrive through the channel.
    pub(super) fn execute(&mut self, action: Action, state: &RunState, now: Timestamp) -> Option<Event> {
        match action {
            Action::Lookup { node, key, not_before } => {
                self.request_lookup(node, key, not_before, state, now);
            }
            Action::Prepare { node, key, is_inline } => self.prepare(node, key, is_inline, state, now),
            Action::Submit { node, attempt } => self.submit(node, attempt),
            Action::Discard { node, attempt } => {
                self.take_prepared(&attempt);
                let failure =
                    Failure::new(FailureKind::Transient, "the run ended before the request was sent");
                let refusal = Refusal { kind: RefusalKind::Retryable, failure, retry_after: None };
                self.send(Event::refused(node, attempt, refusal));
            }
            Action::Poll { node, attempt, task } => {
                let provider = Arc::clone(self.provider(node));
                let span = trace::poll(&self.span, &self.plan, node, &attempt, &task);
                self.spawn(async move {
                    let result = provider.poll(&task).instrument(span).await;
                    Event::Polled { node, attempt, result, next: None }
                });
            }
            Action::Overdue { node, attempt } => {
                let reason = "the service accepts no polls".to_owned();
                let result = PollResult::Throttled { retry_after: None, reason };
                return Some(Event::Polled { node, attempt, result, next: None });
            }
            Action::ExpireTask { node, attempt } => return Some(Event::TaskExpired { node, attempt }),
            Action::Download(download) => {
                let ServiceOfRun { provider, policy } =
                    self.services.of(self.plan.node(download.node)).clone();
                let (clock, ffmpeg) = (self.clock.clone(), Arc::clone(&self.ffmpeg));
                let (plan, store, budget) =
                    (Arc::clone(&self.plan), self.ledger.store(), state.budget().clone());
                let target = self.output_dir.join(file_name(self.plan.node(download.node), &download.key));
                let (run, min_rate, max_bytes) =
                    (self.span.clone(), policy.min_download_rate, policy.max_video_bytes);
                let (ledger, sidecar) = (Arc::clone(&self.ledger), self.sidecar(&download, state));
                let reserved = self.reserved_cost(&download, state);
                let (written_at, storage) = (clock.clone(), Arc::clone(&self.storage));
                self.spawn(async move {
                    clock.sleep_until(download.not_before).await;
                    let (node, attempt) = (download.node, download.attempt.clone());
                    let span = trace::download(&run, &plan, node, &attempt, &download.task);
                    let bounds = download::Bounds { clock: &clock, min_rate, max_bytes };
                    let attempt_id = attempt.clone();
                    let finish = move |artifact: &Artifact| {
                        if let Some(sidecar) = sidecar {
                            sidecars::write_sidecar(
                                &ledger,
                                sidecar,
                                &attempt_id,
                                reserved,
                                artifact,
                                written_at.now(),
                            );
                        }
                    };
                    match download::fetch_then(
                        &*provider, &download, bounds, &target, &store, &ffmpeg, finish,
                    )
                    .instrument(span)
                    .await
                    {
                        Ok(artifact) => {
                            storage.stored(artifact.bytes);
                            let cost = budget.actual_cost(&plan, node, artifact.duration.into());
                            Event::Downloaded { node, attempt, artifact, cost }
                        }
                        Err(download::DownloadError { failure, partial_bytes }) => {
                            Event::DownloadFailed { node, attempt, failure, partial_bytes, next: None }
                        }
                    }
                });
            }
            Action::Join { index } => self.join(index, state),
            Action::Wake { deadline } => self.wakes.set(deadline),
        }
        None
    }

    /// The service of a node.
    pub(super) fn provider(&self, node: NodeIx) -> &Arc<dyn Provider> {
        &self.services.of(self.plan.node(node)).provider
    }

    fn prepare(&mut self, node: NodeIx, key: NodeKey, is_inline: bool, state: &RunState, now: Timestamp) {
        let provider = Arc::clone(self.provider(node));
        let sources = inputs::input_sources(node, state, &*provider, &self.workflow_dir, is_inline, now);
        let (plan, prepared) = (Arc::clone(&self.plan), Arc::clone(&self.prepared));
        let (attempt, ffmpeg) = (self.attempts.next(), Arc::clone(&self.ffmpeg));
        let parts = state.key_parts(node);
        let service_independent_key = if provider.is_paid() {
            state.service_independent_key(node).map(|key| key.to_string())
        } else {
            None
        };
        let reservation = state.budget().reservation(&plan, node);
        let render = state.render(node).unwrap_or(1);
        let (ledger, unrecorded) = (Arc::clone(&self.ledger), self.unrecorded.clone());
        let target = self.output_dir.join(file_name(plan.node(node), &key));
        let (storage, unfinished) = (Arc::clone(&self.storage), state.unfinished());
        self.spawn_fallible(async move {
            if let Ok(Err(failure)) = run_blocking(move || storage.check(unfinished)).await {
                return Ok(Event::PrepareFailed { node, failure });
            }
            // Here, because every submission comes by: that of a shot whose key became known during the run, and that of a retry.
            if let Some(videos) = unrecorded
                && let Some(video) = videos.find(&ledger, &key, &target)?
            {
                return Ok(Event::PrepareFailed { node, failure: unrecorded_video(&video) });
            }
            let prepare = async {
                let by_url = sources.iter().any(inputs::InputSource::is_by_url);
                let values = inputs::load_inputs(sources, Some(ledger.store()), ffmpeg).await?;
                let planned = plan.node(node);
                let mut request = planned.complete(&values);
                provider.mark(&mut request, &attempt);
                let request = provider.prepare(&planned.model, &request)?;
                Ok::<_, Failure>((request, by_url))
            };
            match prepare.await {
                Ok((request, by_url)) => {
                    let digest = request.digest().to_owned();
                    prepared.lock().unwrap_or_else(PoisonError::into_inner).insert(attempt.clone(), request);
                    Ok(Event::Prepared {
                        node,
                        attempt,
                        key: key.to_string(),
                        digest,
                        by_url,
                        service_independent_key,
                        reservation,
                        render,
                        parts,
                    })
                }
                Err(failure) => Ok(Event::PrepareFailed { node, failure }),
            }
        });
    }

    fn submit(&mut self, node: NodeIx, attempt: AttemptId) {
        let Some(request) = self.take_prepared(&attempt) else {
            let failure = Failure::new(FailureKind::Local, "the prepared request is gone");
            let refusal = Refusal { kind: RefusalKind::Retryable, failure, retry_after: None };
            self.send(Event::refused(node, attempt, refusal));
            return;
        };
        let provider = Arc::clone(self.provider(node));
        let since = self.clock.now();
        let span = trace::submit(&self.span, &self.plan, node, &attempt);
        self.spawn(async move {
            match provider.submit(&request).instrument(span.clone()).await {
                Submission::Accepted { task } => {
                    span.record("task", task.as_str());
                    Event::Submitted { node, attempt, task }
                }
                Submission::Refused(refusal) => Event::refused(node, attempt, refusal),
                Submission::Indeterminate { reason, task_hint, halts } => {
                    match find_submission(&*provider, &attempt, request.digest(), since).await {
                        SubmissionLookup::Unsupported => {
                            Event::Indeterminate { node, attempt, reason, halts, suggested_task: task_hint }
                        }
                        SubmissionLookup::Tasks(candidates) => {
                            let reason = Some(reason);
                            Event::Reconciled {
                                node,
                                attempt,
                                since,
                                reason,
                                candidates,
                                task: None,
                                next: None,
                            }
                        }
                    }
                }
            }
        });
    }

    fn join(&mut self, index: usize, state: &RunState) {
        let Some(film) = self.plan.films().get(index) else { return };
        let video = |node| state.artifact(node).map(|video| (video.path.clone(), video.sha256.clone()));
        let Some(clips) = film_clips(&self.plan, film, &self.workflow_dir, video) else {
            let failure = Failure::new(FailureKind::Local, "a clip of the film has no video".to_owned());
            return self.spawn(async move { Event::JoinFailed { index, failure } });
        };
        let request = join::JoinRequest {
            plan: Arc::clone(&self.plan),
            index,
            clips,
            workflow_dir: self.workflow_dir.clone(),
            path: self.output_dir.join(&film.output),
            source: self.digital_source,
            progress: self.joins.clone(),
        };
        let (ledger, ffmpeg) = (Arc::clone(&self.ledger), Arc::clone(&self.ffmpeg));
        let span = trace::join(&self.span, &film.output);
        self.spawn_fallible(async move {
            Ok(match join::join(request, ledger, ffmpeg).instrument(span).await? {
                Ok(film) => Event::FilmJoined { index, film },
                Err(failure) => Event::JoinFailed { index, failure },
            })
        });
    }

    fn take_prepared(&self, attempt: &AttemptId) -> Option<PreparedRequest> {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner).remove(attempt)
    }

    fn spawn(&mut self, effect: impl Future<Output = Event> + Send + 'static) {
        self.spawn_fallible(async move { Ok(effect.await) });
    }

    fn spawn_fallible(&mut self, effect: impl Future<Output = EffectResult> + Send + 'static) {
        let sender = self.sender.clone();
        self.tasks.spawn(async move {
            // Fails only after the run has ended.
            drop(sender.send(effect.await));
        });
    }

    fn send(&self, event: Event) {
        drop(self.sender.send(Ok(event)));
    }
}

/// Why a shot is not submitted whose video is there.
fn unrecorded_video(video: &Path) -> Failure {
    let name = video.file_name().unwrap_or(video.as_os_str()).to_string_lossy();
    Failure::new(
        FailureKind::Unrecorded,
        format!("{name} is its video, and the ledger does not know it; nothing was submitted"),
    )
}
