//! Actions into effects: each is carried out once and answers with one event.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use scheduler::{
    Action, AttemptId, Event, Failure, FailureKind, Millis, Refusal, RefusalKind, RunState, parts_of,
};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tracing::{Instrument as _, Span};
use workflow::plan::{Clip, NodeIx, NodeKey, Plan};

use super::looks::Look;
use super::{Attempts, RunError, download, film, inputs, trace};
use crate::artifact::file_name;
use crate::ledger::Ledger;
use crate::provider::{Found, Provider, Submission, digest};
use crate::time::Clock;

/// Requests that are ready and wait for their intent to be on disk.
pub(super) type Prepared = Arc<Mutex<HashMap<AttemptId, Request>>>;

/// A request about to be sent.
#[derive(Debug, Clone)]
pub(super) struct Request {
    body: Value,
    digest: String,
}

/// All that performing needs.
pub(super) struct Hands {
    pub(super) plan: Arc<Plan>,
    pub(super) ledger: Arc<Ledger>,
    pub(super) provider: Arc<dyn Provider>,
    pub(super) clock: Clock,
    pub(super) folder: PathBuf,
    pub(super) sources: PathBuf,
    pub(super) tools: Arc<media::Tools>,
    pub(super) attempts: Attempts,
    pub(super) sender: mpsc::UnboundedSender<Event>,
    pub(super) prepared: Prepared,
    pub(super) tasks: JoinSet<()>,
    pub(super) looks: mpsc::UnboundedSender<Look>,
    /// The run, for traces.
    pub(super) span: Span,
}

impl Hands {
    pub(super) fn perform(&mut self, action: Action, state: &RunState, now: Millis) -> Result<(), RunError> {
        match action {
            Action::Look { node, key, at } => self.look(node, key, at, state, now),
            Action::Prepare { node, key, inline } => self.prepare(node, key, inline, state, now),
            Action::Submit { node, attempt } => self.submit(node, attempt),
            Action::Discard { node, attempt } => {
                self.take_prepared(&attempt);
                let failure =
                    Failure::new(FailureKind::Transient, "the run ended before the request was sent");
                let refusal = Refusal { kind: RefusalKind::Again, failure, retry_after: None };
                self.answer(Event::Refused { node, attempt, refusal });
            }
            Action::Poll { node, attempt, task } => {
                let provider = Arc::clone(&self.provider);
                let span = trace::poll(&self.span, &self.plan, node, &attempt, &task);
                self.spawn(async move {
                    let answer = provider.poll(&task).instrument(span).await;
                    Event::Answered { node, attempt, answer }
                });
            }
            Action::Forget { attempt } => self.ledger.forget(&attempt, now)?,
            Action::Download(order) => {
                let (provider, clock, tools) =
                    (Arc::clone(&self.provider), self.clock.clone(), Arc::clone(&self.tools));
                let (plan, store, budget) =
                    (Arc::clone(&self.plan), self.ledger.store(), state.budget().clone());
                let target = self.folder.join(file_name(self.plan.node(order.node), &order.key));
                let run = self.span.clone();
                self.spawn(async move {
                    clock.sleep_until(order.at).await;
                    let (node, attempt) = (order.node, order.attempt.clone());
                    let span = trace::download(&run, &plan, node, &attempt, &order.task);
                    match download::fetch(&*provider, &order, &target, &store, &tools).instrument(span).await
                    {
                        Ok(artifact) => {
                            let spent = budget.came_to(&plan, node, artifact.seconds);
                            Event::Downloaded { node, attempt, artifact, spent }
                        }
                        Err(download::Broken { failure, kept }) => {
                            Event::NotDownloaded { node, attempt, failure, kept }
                        }
                    }
                });
            }
            Action::Join { at } => self.join(at, state),
            Action::Wake { at } => {
                let clock = self.clock.clone();
                self.spawn(async move {
                    clock.sleep_until(at).await;
                    Event::Woke
                });
            }
        }
        Ok(())
    }

    fn prepare(&mut self, node: NodeIx, key: NodeKey, inline: bool, state: &RunState, now: Millis) {
        let sources = inputs::gather(node, state, &*self.provider, &self.sources, inline, now);
        let (plan, provider, prepared) =
            (Arc::clone(&self.plan), Arc::clone(&self.provider), Arc::clone(&self.prepared));
        let (attempt, tools) = (self.attempts.next(), Arc::clone(&self.tools));
        let parts = parts_of(&self.plan, node, self.provider.identity(), |parent| state.artifact(parent));
        let work = if provider.is_paid() { state.work(node).map(|work| work.to_string()) } else { None };
        let (held, anew) = (state.budget().hold(&plan, node), state.anew(node));
        self.spawn(async move {
            let made = async {
                let by_url = sources.iter().any(inputs::Given::is_by_url);
                let values = inputs::fill(sources, tools).await?;
                let request = plan.node(node).complete(&values);
                let body = provider.body(&request)?;
                let digest = digest(&body);
                Ok::<_, Failure>((request, digest, by_url))
            };
            match made.await {
                Ok((body, digest, by_url)) => {
                    let request = Request { body, digest: digest.clone() };
                    prepared.lock().unwrap_or_else(PoisonError::into_inner).insert(attempt.clone(), request);
                    Event::Prepared {
                        node,
                        attempt,
                        key: key.to_string(),
                        digest,
                        by_url,
                        work,
                        held,
                        anew,
                        parts,
                    }
                }
                Err(failure) => Event::Unprepared { node, failure },
            }
        });
    }

    fn submit(&mut self, node: NodeIx, attempt: AttemptId) {
        let Some(request) = self.take_prepared(&attempt) else {
            let failure = Failure::new(FailureKind::Local, "the prepared request is gone");
            let refusal = Refusal { kind: RefusalKind::Again, failure, retry_after: None };
            self.answer(Event::Refused { node, attempt, refusal });
            return;
        };
        let (provider, ledger, clock) =
            (Arc::clone(&self.provider), Arc::clone(&self.ledger), self.clock.clone());
        let since = clock.now();
        let span = trace::submit(&self.span, &self.plan, node, &attempt);
        self.spawn(async move {
            match provider.submit(&request.body).instrument(span.clone()).await {
                Submission::Accepted(task) => {
                    span.record("task", task.as_str());
                    Event::Submitted { node, attempt, task }
                }
                Submission::Refused(refusal) => Event::Refused { node, attempt, refusal },
                #[cfg(feature = "planted-repeat")]
                Submission::Lost(reason) => {
                    let failure = Failure::new(FailureKind::Transient, reason);
                    let refusal = Refusal { kind: RefusalKind::Again, failure, retry_after: None };
                    Event::Refused { node, attempt, refusal }
                }
                #[cfg(not(feature = "planted-repeat"))]
                Submission::Lost(reason) => match provider.find(&request.digest, since).await {
                    Found::CannotTell => Event::Lost { node, attempt, reason },
                    Found::Tasks(tasks) => match ledger.account_for(&attempt, &tasks, clock.now()) {
                        Ok(Some(task)) => Event::Submitted { node, attempt, task },
                        Ok(None) => {
                            let failure = Failure::new(FailureKind::Transient, reason);
                            let refusal = Refusal { kind: RefusalKind::Again, failure, retry_after: None };
                            Event::Refused { node, attempt, refusal }
                        }
                        Err(_) => Event::Lost { node, attempt, reason },
                    },
                },
            }
        });
    }

    fn join(&mut self, at: usize, state: &RunState) {
        let Some(film) = self.plan.films().get(at) else { return };
        let clips: Vec<_> = film
            .clips
            .iter()
            .flat_map(Clip::nodes)
            .filter_map(|clip| state.artifact(*clip).cloned())
            .collect();
        let target = self.folder.join(&film.output);
        let (ledger, tools) = (Arc::clone(&self.ledger), Arc::clone(&self.tools));
        let span = trace::join(&self.span, &film.output);
        self.spawn(async move {
            match film::join(clips, target, ledger, tools).instrument(span).await {
                Ok(film) => Event::Joined { at, film },
                Err(failure) => Event::NotJoined { at, failure },
            }
        });
    }

    fn take_prepared(&self, attempt: &AttemptId) -> Option<Request> {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner).remove(attempt)
    }

    fn spawn(&mut self, effect: impl Future<Output = Event> + Send + 'static) {
        let sender = self.sender.clone();
        self.tasks.spawn(async move {
            // The receiver is gone only when the run is over.
            drop(sender.send(effect.await));
        });
    }

    fn answer(&self, event: Event) {
        drop(self.sender.send(event));
    }
}
