//! Spans and log records of a run: decisions at `info`, waiting at `debug`.
//!
//! Invariant: only names, ids, kinds and numbers are recorded. Text of the service may contain signed addresses.

use scheduler::{Answer, AttemptId, Event, FilmOutcome, Outcome, Prior, RunId, RunState, TaskId};
use tracing::{Span, debug, field, info, info_span, trace, warn};
use workflow::plan::{NodeIx, Plan};

/// The whole run.
pub(super) fn run(run: &RunId, plan: &Plan, service: &str) -> Span {
    let span = info_span!("run", %run);
    info!(parent: &span, workflow = plan.name(), service, shots = plan.len(), "begun");
    span
}

/// One POST; the task's id is recorded once it is known.
pub(super) fn submit(run: &Span, plan: &Plan, node: NodeIx, attempt: &AttemptId) -> Span {
    info_span!(parent: run, "submit", node = plan.node(node).name, %attempt, task = field::Empty)
}

/// One poll.
pub(super) fn poll(run: &Span, plan: &Plan, node: NodeIx, attempt: &AttemptId, task: &TaskId) -> Span {
    info_span!(parent: run, "poll", node = plan.node(node).name, %attempt, %task)
}

/// One attempt to download a video.
pub(super) fn download(run: &Span, plan: &Plan, node: NodeIx, attempt: &AttemptId, task: &TaskId) -> Span {
    info_span!(parent: run, "download", node = plan.node(node).name, %attempt, %task)
}

/// One film being joined.
pub(super) fn join(run: &Span, film: &str) -> Span {
    info_span!(parent: run, "join", film)
}

/// An event, and the nodes and films that it ended.
pub(super) fn event(state: &RunState, event: &Event) {
    let node = event.node().map(|node| state.plan().node(node).name.as_str());
    match event {
        Event::Scoped { only, fail_fast } => {
            info!(only = only.as_ref().map(Vec::len), fail_fast, "told more than the plan");
        }
        Event::Started | Event::Woke => trace!(event = event.kind().as_str()),
        Event::Looked { prior, .. } | Event::Taken { prior, .. } => {
            info!(node, found = existing_work(prior), "looked up");
        }
        Event::Prepared { attempt, held, .. } => {
            debug!(node, %attempt, held = held.cost, "the intent is on record");
        }
        Event::Capped { cap, .. } => info!(node, %cap, "a cap is reached"),
        Event::Unprepared { failure, .. } => info!(node, kind = ?failure.kind, "the request cannot be made"),
        Event::Submitted { attempt, task, .. } => info!(node, %attempt, %task, "submitted"),
        Event::Refused { attempt, refusal, .. } => {
            info!(node, %attempt, refusal = ?refusal.kind, kind = ?refusal.failure.kind, wait = ?refusal.retry_after, "refused");
        }
        Event::Lost { attempt, .. } => warn!(node, %attempt, "the answer is lost"),
        Event::Answered { attempt, answer, .. } => match answer {
            Answer::Running { progress, .. } => debug!(node, %attempt, progress, "not yet"),
            Answer::Completed { .. } => info!(node, %attempt, "rendered"),
            Answer::Failed { failure } => info!(node, %attempt, kind = ?failure.kind, "the task failed"),
            Answer::Missing { expired } => {
                info!(node, %attempt, expired, "the service does not know the task");
            }
            Answer::Later { retry_after, .. } => {
                info!(node, %attempt, wait = ?retry_after, "asked too often");
            }
            Answer::Unreachable { .. } => info!(node, %attempt, "the service cannot be reached"),
            Answer::Unusable { failure } => {
                info!(node, %attempt, kind = ?failure.kind, "the account does not work");
            }
        },
        Event::Downloaded { attempt, artifact, spent, .. } => {
            info!(node, %attempt, bytes = artifact.bytes, seconds = artifact.seconds, spent, "downloaded");
        }
        Event::NotDownloaded { attempt, failure, kept, .. } => {
            info!(node, %attempt, kind = ?failure.kind, kept, "not downloaded this time");
        }
        Event::Joined { film, .. } => info!(seconds = film.seconds, reused = film.reused, "joined"),
        Event::NotJoined { failure, .. } => info!(kind = ?failure.kind, "not joined"),
        Event::Interrupted => info!("asked to end"),
    }
    for node in state.changed() {
        if let Some(outcome) = state.node(*node).outcome() {
            info!(node = state.plan().node(*node).name, outcome = ended(outcome), "ended");
        }
    }
    for (at, outcome) in state.ended_films() {
        debug!(film = at, joined = matches!(outcome, FilmOutcome::Done { .. }), "the film ended");
    }
}

fn existing_work(prior: &Prior) -> &'static str {
    match prior {
        Prior::Nothing => "nothing",
        Prior::Made { .. } => "the video",
        Prior::Out { .. } => "a task that is out",
        Prior::Unanswered { .. } => "a submission without an answer",
        Prior::GivenUp { .. } => "a submission that was given up",
        Prior::AtOther { .. } => "the same work at another service",
        Prior::Busy { .. } => "another run that submits it",
    }
}

fn ended(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Done { .. } => "done",
        Outcome::Failed { .. } => "failed",
        Outcome::Ambiguous { .. } => "ambiguous",
        Outcome::Detached { .. } => "detached",
        Outcome::Blocked { .. } => "blocked",
        Outcome::Unpicked { .. } => "unpicked",
        Outcome::NotBegun => "not begun",
        Outcome::NotSelected { .. } => "not selected",
    }
}
