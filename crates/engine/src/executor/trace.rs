//! Spans and log records of a run: decisions at `info`, waiting at `debug`.
//!
//! Invariant: only names, ids, kinds and numbers are recorded. Text of the service may contain signed URLs.

use scheduler::{AttemptId, Event, FilmOutcome, PollResult, RunId, RunState, TaskId};
use tracing::{Span, debug, error, field, info, info_span, trace, warn};
use workflow::plan::{NodeIx, Plan};
use workflow::units::Money;

use crate::provider::Accounts;

pub(super) fn run(run: &RunId, plan: &Plan, accounts: &Accounts) -> Span {
    let service = accounts.services().collect::<Vec<_>>().join(", ");
    let span = info_span!("run", %run);
    info!(parent: &span, workflow = plan.name(), service, shots = plan.len(), "begun");
    span
}

/// One POST; the task's id is recorded once it is known.
pub(super) fn submit(run: &Span, plan: &Plan, node: NodeIx, attempt: &AttemptId) -> Span {
    info_span!(parent: run, "submit", node = plan.node(node).name, %attempt, task = field::Empty)
}

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
    if let Some(unexpected) = state.unexpected() {
        error!(node, %unexpected, "defect: the shot did not wait for this event");
    }
    match event {
        Event::RunConfigured { only, fail_fast, several_services: _ } => {
            info!(only = only.as_ref().map(Vec::len), fail_fast, "run configured");
        }
        Event::Started | Event::TimerFired => trace!(event = event.kind().as_str()),
        Event::LookupDone { existing, .. } | Event::ClaimConflict { existing, .. } => {
            info!(node, found = existing.as_str(), "lookup done");
        }
        Event::Prepared { attempt, reservation, .. } => {
            debug!(node, %attempt, reserved = reservation.cost.map(Money::as_micros), "intent recorded");
        }
        Event::BudgetExceeded { cap, .. } => info!(node, %cap, "budget cap reached"),
        Event::PrepareFailed { failure, .. } => {
            info!(node, kind = ?failure.kind, "request not prepared");
        }
        Event::Submitted { attempt, task, .. } => info!(node, %attempt, %task, "submitted"),
        Event::Refused { attempt, refusal, .. } => {
            info!(node, %attempt, refusal = ?refusal.kind, kind = ?refusal.failure.kind, wait = ?refusal.retry_after, "refused");
        }
        Event::Indeterminate { attempt, .. } => warn!(node, %attempt, "submission indeterminate"),
        Event::Polled { attempt, result, .. } => match result {
            PollResult::Running { progress, .. } => debug!(node, %attempt, progress, "not finished"),
            PollResult::Completed { .. } => info!(node, %attempt, "completed"),
            PollResult::Failed { failure } => info!(node, %attempt, kind = ?failure.kind, "task failed"),
            PollResult::NotFound { expired } => {
                info!(node, %attempt, expired, "task not found");
            }
            PollResult::Throttled { retry_after, .. } => {
                info!(node, %attempt, wait = ?retry_after, "poll throttled");
            }
            PollResult::Unreachable { .. } => info!(node, %attempt, "service unreachable"),
            PollResult::Unauthorized { failure } => {
                info!(node, %attempt, kind = ?failure.kind, "unauthorized");
            }
        },
        Event::Downloaded { attempt, artifact, cost, .. } => {
            info!(node, %attempt, bytes = artifact.bytes, seconds = artifact.duration.as_secs_f64(), cost = cost.map(Money::as_micros), "downloaded");
        }
        Event::DownloadFailed { attempt, failure, partial_bytes, .. } => {
            info!(node, %attempt, kind = ?failure.kind, partial_bytes, "download failed");
        }
        Event::Reconciled { attempt, candidates, task, .. } => {
            info!(node, %attempt, candidates = candidates.len(), task = task.as_ref().map(TaskId::as_str), "reconciled");
        }
        Event::TaskExpired { attempt, .. } => info!(node, %attempt, "task expired"),
        Event::Resolved { attempt, .. } => debug!(%attempt, "resolved"),
        // They are recorded outside of runs.
        Event::RendersAsked { .. } | Event::RendersWithdrawn { .. } => {}
        Event::FilmJoined { film, .. } => {
            info!(seconds = film.duration.as_secs_f64(), reused = film.reused, "joined");
        }
        Event::JoinFailed { failure, .. } => info!(kind = ?failure.kind, "join failed"),
        Event::Interrupted => info!("interrupted"),
    }
    for node in state.changed() {
        let node_state = state.node(*node);
        if node_state.outcome().is_some() {
            info!(node = state.plan().node(*node).name, outcome = node_state.kind().as_str(), "ended");
        }
    }
    for (index, outcome) in state.ended_films() {
        debug!(film = index, joined = matches!(outcome, FilmOutcome::Done { .. }), "film ended");
    }
}
