//! Actions of the scheduler as messages. Pure.

use std::path::Path;
use std::time::Duration;

use engine::effects::input_sources;
use engine::provider::Provider;
use scheduler::{Action, AttemptId, Event, PollResult, RunId, RunState, Timestamp};
use serde::Serialize;
use serde_json::Value;
use workflow::plan::{ClipSource, NodeIx};

use super::log::RunHead;
use crate::messages::{AttemptRef, DownloadVideo, EndAttempt, Join, Lookup, Poll, Prepare, Withdraw};
use crate::worker::LoadedSpec;

/// What a permit's lease is longer than a task's timeout: submission and downloads.
const LEASE_MARGIN: Duration = Duration::from_mins(15);

/// Who receives a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// The node of a key.
    Node(String),
    ThisRun,
    /// The service that joins films.
    Films,
    /// The index of the run's workflow.
    WorkflowIndex,
    /// The account of the worker.
    Account,
}

/// Whom an answer is for: it waits for one answer at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Waiter {
    Node(NodeIx),
    /// A film, by its index in the plan.
    Film(usize),
}

impl Waiter {
    /// Whom an event concerns.
    pub(crate) fn from_event(event: &Event) -> Option<Self> {
        match event {
            Event::FilmJoined { index, .. } | Event::JoinFailed { index, .. } => Some(Self::Film(*index)),
            event => event.node().map(Self::Node),
        }
    }
}

/// A message, sent without waiting for its effect.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outgoing {
    pub(crate) target: Target,
    pub(crate) handler: &'static str,
    pub(crate) body: Value,
    pub(crate) delay: Duration,
    /// Who waits for the answer; `None` for a message that is not answered.
    pub(crate) waiter: Option<Waiter>,
}

impl Outgoing {
    /// A message without delay.
    pub(crate) fn now<T: Serialize>(target: Target, handler: &'static str, message: &T) -> Self {
        Self::after(target, handler, message, Duration::ZERO)
    }

    fn after<T: Serialize>(target: Target, handler: &'static str, message: &T, delay: Duration) -> Self {
        // Ids, names, hashes and paths that came from JSON have a JSON form.
        let body = serde_json::to_value(message).unwrap_or_default();
        Self { target, handler, body, delay, waiter: None }
    }

    fn answered_to(self, waiter: Waiter) -> Self {
        Self { waiter: Some(waiter), ..self }
    }

    /// A message to the run itself.
    pub(crate) fn to_run<T: Serialize>(handler: &'static str, message: &T, delay: Duration) -> Self {
        Self::after(Target::ThisRun, handler, message, delay)
    }

    /// Takes back what waits for a permit.
    pub(crate) fn withdraw(run: &RunId) -> Self {
        Self::now(Target::Account, "withdraw", &Withdraw { run: run.clone() })
    }
}

/// The message of an action, or the event that answers it at once, or both. `seq` is the sequence number of a message that is answered.
#[expect(clippy::too_many_arguments, reason = "an action becomes a message by all that is known of the run")]
pub(crate) fn outgoing(
    action: Action,
    state: &RunState,
    loaded: &LoadedSpec,
    head: &RunHead,
    provider: &dyn Provider,
    new_attempt: impl Fn() -> AttemptId,
    seq: u64,
    now: Timestamp,
) -> (Option<Outgoing>, Option<Event>) {
    let run = head.run.clone();
    let key_of = |node| state.key(node).map(|key| key.to_string()).unwrap_or_default();
    let to_attempt = |node, attempt, handler| {
        let message = AttemptRef { run: run.clone(), seq, node, attempt };
        Outgoing::now(Target::Node(key_of(node)), handler, &message).answered_to(Waiter::Node(node))
    };
    let message = match action {
        Action::Lookup { node, key, not_before } => {
            let render = state.render(node).unwrap_or(1);
            let message = Lookup { run, seq, node, render };
            Outgoing::after(Target::Node(key.to_string()), "lookup", &message, not_before.since(now))
                .answered_to(Waiter::Node(node))
        }
        Action::Prepare { node, key, is_inline } => {
            let timeout = state.plan().node(node).timeout.unwrap_or(head.policy.task_timeout);
            let message = Prepare {
                run,
                seq,
                plan: loaded.spec.plan.clone(),
                node,
                attempt: new_attempt(),
                // Names in the shared store, and paths below the workflow's folder.
                sources: input_sources(node, state, provider, Path::new(""), is_inline, now),
                reservation: state.budget().reservation(state.plan(), node),
                lease: timeout + LEASE_MARGIN,
                render: state.render(node).unwrap_or(1),
            };
            Outgoing::now(Target::Node(key.to_string()), "prepare", &message).answered_to(Waiter::Node(node))
        }
        Action::Submit { node, attempt } => to_attempt(node, attempt, "submit"),
        Action::Discard { node, attempt } => to_attempt(node, attempt, "discard"),
        Action::Poll { node, attempt, task } => {
            let message = Poll { run, seq, node, attempt, task };
            Outgoing::now(Target::Node(key_of(node)), "poll", &message).answered_to(Waiter::Node(node))
        }
        Action::Overdue { node, attempt } => {
            let reason = "the service accepts no polls".to_owned();
            let result = PollResult::Throttled { retry_after: None, reason };
            return (None, Some(Event::Polled { node, attempt, result, next: None }));
        }
        Action::ExpireTask { node, attempt } => {
            let message = EndAttempt { attempt: attempt.clone() };
            let message = Outgoing::now(Target::Node(key_of(node)), "expire", &message);
            return (Some(message), Some(Event::TaskExpired { node, attempt }));
        }
        Action::Download(download) => {
            let (key, delay) = (download.key.to_string(), download.not_before.since(now));
            let waiter = Waiter::Node(download.node);
            let message = DownloadVideo { run, seq, spec: head.spec.clone(), download };
            Outgoing::after(Target::Node(key), "download", &message, delay).answered_to(waiter)
        }
        Action::Join { index } => {
            let clips = state.plan().films().get(index).map(|film| film.clips.as_slice()).unwrap_or_default();
            let videos = clips.iter().filter_map(|clip| match &clip.source {
                ClipSource::Node(node) => Some((*node, state.artifact(*node)?.sha256.clone())),
                ClipSource::Pick(_) | ClipSource::Video(_) | ClipSource::Image(_) | ClipSource::Card => None,
            });
            let message = Join { run, seq, spec: head.spec.clone(), index, videos: videos.collect() };
            Outgoing::now(Target::Films, "join", &message).answered_to(Waiter::Film(index))
        }
        Action::Wake { deadline } => Outgoing::to_run("wake", &Value::Null, deadline.since(now)),
    };
    (Some(message), None)
}
