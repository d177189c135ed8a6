//! Converts the scheduler's events and outcomes to the stream's format. Invariant: every match is exhaustive, so a new event does not compile until it
//! has a representation in the stream.

use scheduler::{
    Artifact, AttemptId, Event, ExistingWork, NodeSummary, PollResult, RunState, TaskId, Timestamp,
};
use workflow::plan::{NodeIx, NodeKey, Plan};

use super::line::{self, EventKind, Failure, Halt, RefusalKind, Video};
use super::outcomes::{FilmFrames, FilmLoudness, FilmOutcome, FinishedShot, JoinedFilm, Outcome};
use crate::report::{sanitize, waits};

/// The line for an event. `None` for internal events, and for those covered by `film-finished`.
pub(super) fn event<'a>(state: &'a RunState, event: &'a Event) -> Option<EventKind<'a>> {
    let shot = |node: &NodeIx| state.plan().node(*node).name.as_str();
    Some(match event {
        Event::RunConfigured { only, fail_fast, several_services: _ } => {
            EventKind::Configured { selected: only.as_ref().map(Vec::len), fail_fast: *fail_fast }
        }
        Event::Started
        | Event::TimerFired
        | Event::TaskExpired { .. }
        | Event::Resolved { .. }
        | Event::RendersAsked { .. }
        | Event::RendersWithdrawn { .. }
        | Event::FilmJoined { .. }
        | Event::JoinFailed { .. } => return None,
        Event::Reconciled { node, attempt, since, reason, candidates: _, task, next: _ } => {
            let attempt = attempt.as_str();
            match (reason, task) {
                (Some(_), Some(task)) => {
                    EventKind::Submitted { shot: shot(node), attempt, task: task.as_str() }
                }
                (Some(reason), None) => EventKind::Refused {
                    shot: shot(node),
                    attempt,
                    refusal: RefusalKind::Retryable,
                    failure: convert_failure(&scheduler::Failure::new(
                        scheduler::FailureKind::Transient,
                        reason,
                    )),
                    retry_after: None,
                    not_before: None,
                },
                (None, task) => EventKind::Lookup {
                    shot: shot(node),
                    key: short(&state.key(*node).map(|key| key.to_string()).unwrap_or_default()),
                    existing: match task {
                        Some(task) => {
                            line::ExistingWork::InFlight { attempt, task: task.as_str(), since: *since }
                        }
                        None => line::ExistingWork::None,
                    },
                },
            }
        }
        Event::LookupDone { node, key, existing, render: _ } => {
            EventKind::Lookup { shot: shot(node), key: short(key), existing: existing_work(existing) }
        }
        Event::Prepared {
            node,
            attempt,
            key,
            digest,
            reservation,
            by_url: _,
            service_independent_key: _,
            parts: _,
            render: _,
        } => EventKind::Prepared {
            shot: shot(node),
            attempt: attempt.as_str(),
            key: short(key),
            request: digest,
            reserved: reservation.cost,
            duration: reservation.duration,
            rerun: state.asked_render(*node).is_some(),
        },
        Event::ClaimConflict { node, existing, renders: _ } => {
            EventKind::ClaimConflict { shot: shot(node), existing: existing_work(existing) }
        }
        Event::BudgetExceeded { node, cap } => EventKind::BudgetExceeded { shot: shot(node), cap: *cap },
        Event::PrepareFailed { node, failure } => {
            EventKind::PrepareFailed { shot: shot(node), failure: convert_failure(failure) }
        }
        Event::Submitted { node, attempt, task } => {
            EventKind::Submitted { shot: shot(node), attempt: attempt.as_str(), task: task.as_str() }
        }
        Event::Refused { node, attempt, refusal, halts: _, next: _ } => EventKind::Refused {
            not_before: waits::held_until(state, event),
            shot: shot(node),
            attempt: attempt.as_str(),
            refusal: match refusal.kind {
                scheduler::RefusalKind::Throttled => RefusalKind::Throttled,
                scheduler::RefusalKind::NotSent => RefusalKind::NotSent,
                scheduler::RefusalKind::Retryable | scheduler::RefusalKind::Unreachable => {
                    RefusalKind::Retryable
                }
                scheduler::RefusalKind::InvalidRequest => RefusalKind::InvalidRequest,
                scheduler::RefusalKind::ServiceUnusable => RefusalKind::ServiceUnusable,
            },
            failure: convert_failure(&refusal.failure),
            retry_after: refusal.retry_after,
        },
        Event::Indeterminate { node, attempt, reason, halts: _, suggested_task } => {
            EventKind::Indeterminate {
                shot: shot(node),
                attempt: attempt.as_str(),
                reason: sanitize::message(reason),
                suggested_task: suggested_task.as_ref().map(TaskId::as_str),
            }
        }
        Event::Polled { node, attempt, result, next: _ } => {
            let not_before = waits::held_until(state, event);
            poll_result(shot(node), attempt, state.node(*node).task(), result, not_before)
        }
        Event::Downloaded { node, attempt, artifact, cost } => EventKind::Downloaded {
            shot: shot(node),
            attempt: attempt.as_str(),
            video: convert_artifact(artifact),
            cost: *cost,
        },
        Event::DownloadFailed { node, attempt, failure, partial_bytes, next: _ } => {
            EventKind::DownloadFailed {
                shot: shot(node),
                attempt: attempt.as_str(),
                failure: convert_failure(failure),
                partial_bytes: *partial_bytes,
                retry_after: failure.retry_after,
                not_before: waits::held_until(state, event),
            }
        }
        Event::Interrupted => EventKind::Interrupted,
    })
}

fn poll_result<'a>(
    shot: &'a str,
    attempt: &'a AttemptId,
    task: Option<&'a TaskId>,
    result: &PollResult,
    not_before: Option<Timestamp>,
) -> EventKind<'a> {
    let attempt = attempt.as_str();
    match result {
        PollResult::Running { progress, status, poll_after: _ } => EventKind::Progress {
            shot,
            attempt,
            task: task.map(TaskId::as_str),
            status: sanitize::message(status),
            percent: progress.map(|percent| percent.min(100)),
        },
        // Not the URLs: they may be signed.
        PollResult::Completed { url: _, last_frame_url: _, expires_at, took } => {
            EventKind::Rendered { shot, attempt, expires_at: *expires_at, took: *took }
        }
        PollResult::Failed { failure } => {
            EventKind::TaskFailed { shot, attempt, failure: convert_failure(failure) }
        }
        PollResult::NotFound { expired } => EventKind::TaskNotFound { shot, attempt, expired: *expired },
        PollResult::Throttled { retry_after, reason } => EventKind::Throttled {
            shot,
            attempt,
            reason: sanitize::message(reason),
            retry_after: *retry_after,
            not_before,
        },
        PollResult::Unreachable { reason } => {
            EventKind::Unreachable { shot, attempt, reason: sanitize::message(reason) }
        }
        PollResult::Unauthorized { failure } => {
            EventKind::Unauthorized { shot, attempt, failure: convert_failure(failure) }
        }
    }
}

fn existing_work(existing: &ExistingWork) -> line::ExistingWork<'_> {
    match existing {
        ExistingWork::None => line::ExistingWork::None,
        ExistingWork::Completed { attempt, task, artifact: _ } => {
            line::ExistingWork::Completed { attempt: attempt.as_str(), task: task.as_str() }
        }
        ExistingWork::InFlight {
            attempt,
            task,
            since,
            was_downloaded: _,
            is_missing: _,
            is_expired: _,
            is_other_account: _,
            damage: _,
        } => line::ExistingWork::InFlight { attempt: attempt.as_str(), task: task.as_str(), since: *since },
        ExistingWork::Indeterminate { attempt, intended_at: _, suggested_task, reason: _ } => {
            line::ExistingWork::Indeterminate {
                attempt: attempt.as_str(),
                suggested_task: suggested_task.as_ref().map(TaskId::as_str),
            }
        }
        ExistingWork::Abandoned { attempt } => line::ExistingWork::Abandoned { attempt: attempt.as_str() },
        ExistingWork::OtherService { service, attempt, task } => line::ExistingWork::OtherService {
            service,
            attempt: attempt.as_str(),
            task: task.as_ref().map(TaskId::as_str),
        },
        ExistingWork::ClaimedByOtherRun { run } => {
            line::ExistingWork::ClaimedByOtherRun { run: run.as_str() }
        }
        ExistingWork::Changed { attempt } => {
            line::ExistingWork::Changed { attempt: attempt.as_ref().map(AttemptId::as_str) }
        }
    }
}

/// The outcome of a finished shot.
pub(crate) fn finished_shot<'a>(plan: &'a Plan, node: &'a NodeSummary) -> FinishedShot<'a> {
    FinishedShot {
        shot: &node.name,
        decision: node.decision,
        outcome: match &node.outcome {
            scheduler::Outcome::Done { artifact, task: _ } => {
                Outcome::Done { artifact: convert_artifact(artifact) }
            }
            scheduler::Outcome::Failed { failure, task: _ } => {
                Outcome::Failed { failure: convert_failure(failure) }
            }
            scheduler::Outcome::Indeterminate { attempt, reason, suggested_task } => Outcome::Indeterminate {
                attempt: attempt.as_str(),
                reason: sanitize::message(reason),
                suggested_task: suggested_task.as_ref().map(TaskId::as_str),
            },
            scheduler::Outcome::Missing { task: _, reason } => {
                Outcome::Missing { reason: sanitize::message(reason) }
            }
            scheduler::Outcome::Unrecorded { reason } => {
                Outcome::Unrecorded { reason: sanitize::message(reason) }
            }
            scheduler::Outcome::Detached { task: _, reason } => {
                Outcome::Detached { reason: sanitize::message(reason) }
            }
            scheduler::Outcome::AtOtherService { service, attempt, task: _, reason } => {
                let (attempt, reason) = (attempt.as_str(), sanitize::message(reason));
                Outcome::AtOtherService { service, attempt, reason }
            }
            scheduler::Outcome::Blocked { by } => Outcome::Blocked { by: &plan.node(*by).name },
            scheduler::Outcome::Unpicked { picks } => {
                Outcome::Unpicked { picks: picks.iter().map(String::as_str).collect() }
            }
            scheduler::Outcome::NotStarted => Outcome::NotStarted,
            scheduler::Outcome::NotSelected { task: _ } => Outcome::NotSelected,
        },
        task: node.task.as_ref().map(TaskId::as_str),
        took: node.took,
        retries: u32::try_from(node.retries()).unwrap_or(u32::MAX),
    }
}

pub(crate) fn film(outcome: &scheduler::FilmOutcome) -> FilmOutcome {
    match outcome {
        scheduler::FilmOutcome::Done { film } => FilmOutcome::Done {
            film: JoinedFilm {
                path: film.path.display().to_string(),
                duration: film.duration,
                width: film.width,
                height: film.height,
                audio: film.audio,
                clips_digest: film.clips_digest.clone(),
                reused: film.reused,
                loudness: film.loudness.map(|loudness| FilmLoudness {
                    integrated: loudness.integrated,
                    true_peak: loudness.true_peak,
                    target: loudness.target,
                }),
                frames: film
                    .frames
                    .map(|frames| FilmFrames { copied: frames.copied, encoded: frames.encoded }),
                unmatched: film.unmatched.clone(),
            },
        },
        scheduler::FilmOutcome::Pending { missing } => FilmOutcome::Pending { missing: *missing },
        scheduler::FilmOutcome::Unpicked { missing, picks: _ } => FilmOutcome::Unpicked { missing: *missing },
        scheduler::FilmOutcome::Failed { failure } => {
            FilmOutcome::Failed { failure: convert_failure(failure) }
        }
    }
}

pub(crate) fn halt(halt: &scheduler::Halt) -> Halt {
    match halt {
        scheduler::Halt::Interrupted => Halt::Interrupted,
        scheduler::Halt::ServiceUnusable { failure } => {
            Halt::ServiceUnusable { failure: convert_failure(failure) }
        }
        scheduler::Halt::StorageUnusable { failure } => {
            Halt::StorageUnusable { failure: convert_failure(failure) }
        }
        scheduler::Halt::BudgetExceeded { cap } => Halt::BudgetExceeded { cap: *cap },
        scheduler::Halt::FailFast { shot } => Halt::FailFast { shot: shot.clone() },
    }
}

fn convert_artifact(artifact: &Artifact) -> Video {
    // Not the last frame's URL: it may be signed.
    Video {
        path: artifact.path.display().to_string(),
        sha256: artifact.sha256.clone(),
        bytes: artifact.bytes,
        duration: artifact.duration,
        width: artifact.width,
        height: artifact.height,
    }
}

fn convert_failure(failure: &scheduler::Failure) -> Failure {
    Failure {
        kind: failure.kind,
        message: sanitize::message(&failure.message),
        code: failure.code.as_deref().map(sanitize::message),
    }
}

fn short(key: &str) -> String {
    NodeKey::parse(key).map(|key| key.short()).unwrap_or_default()
}
