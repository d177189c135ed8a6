//! From the engine's words to the stream's. Every match is exhaustive: what is new in the engine does not compile here until it has a place in
//! the stream.

use std::time::Duration;

use scheduler::{
    Artifact, AttemptId, Event, ExistingWork, NodeSummary, PollResult, RunState, RunSummary, TaskId,
};
use workflow::plan::{NodeIx, Plan};

use super::line::{
    Cap, Decision, Ended, EventKind, Failure, FailureKind, Film, FilmOutcome, Found, Halt, Outcome, Refusal,
    Video,
};
use super::run_ended::{Amount, Budget, Caps, Outcomes};
use crate::report::sanitize;

/// How much of a key is told: as much as file names carry.
const KEY_PREFIX_CHARS: usize = 12;

/// What an event says; nothing where it only moves things along, or stands in the line of the film that it ends.
pub(super) fn event<'a>(state: &'a RunState, event: &'a Event) -> Option<EventKind<'a>> {
    let shot = |node: &NodeIx| state.plan().node(*node).name.as_str();
    Some(match event {
        Event::RunConfigured { only, fail_fast } => {
            EventKind::Scoped { only: only.as_ref().map(Vec::len), fail_fast: *fail_fast }
        }
        Event::Started
        | Event::TimerFired
        | Event::TaskExpired { .. }
        | Event::Resolved { .. }
        | Event::FilmJoined { .. }
        | Event::JoinFailed { .. } => return None,
        Event::Reconciled { node, attempt, since, reason, candidates: _, task } => {
            let attempt = attempt.as_str();
            match (reason, task) {
                (Some(_), Some(task)) => {
                    EventKind::Submitted { shot: shot(node), attempt, task: task.as_str() }
                }
                (Some(reason), None) => EventKind::Refused {
                    shot: shot(node),
                    attempt,
                    refusal: Refusal::Again,
                    failure: convert_failure(&scheduler::Failure::new(
                        scheduler::FailureKind::Transient,
                        reason,
                    )),
                    retry_after_ms: None,
                },
                (None, task) => EventKind::Looked {
                    shot: shot(node),
                    key: short(&state.key(*node).map(|key| key.to_string()).unwrap_or_default()),
                    found: match task {
                        Some(task) => Found::Out { attempt, task: task.as_str(), since: since.0 },
                        None => Found::Nothing,
                    },
                },
            }
        }
        Event::LookupDone { node, key, existing } => {
            EventKind::Looked { shot: shot(node), key: short(key), found: found(existing) }
        }
        Event::Prepared {
            node,
            attempt,
            key,
            digest,
            reservation,
            forced_rerun,
            by_url: _,
            service_independent_key: _,
            parts: _,
        } => EventKind::Prepared {
            shot: shot(node),
            attempt: attempt.as_str(),
            key: short(key),
            request: digest,
            held: reservation.cost,
            seconds: reservation.video_ms as f64 / 1e3,
            anew: forced_rerun.is_some(),
        },
        Event::ClaimConflict { node, existing } => {
            EventKind::Taken { shot: shot(node), found: found(existing) }
        }
        Event::BudgetExceeded { node, limit } => {
            EventKind::Capped { shot: shot(node), cap: convert_cap(*limit) }
        }
        Event::PrepareFailed { node, failure } => {
            EventKind::Unprepared { shot: shot(node), failure: convert_failure(failure) }
        }
        Event::Submitted { node, attempt, task } => {
            EventKind::Submitted { shot: shot(node), attempt: attempt.as_str(), task: task.as_str() }
        }
        Event::Refused { node, attempt, refusal } => EventKind::Refused {
            shot: shot(node),
            attempt: attempt.as_str(),
            refusal: match refusal.kind {
                scheduler::RefusalKind::Throttled => Refusal::Later,
                scheduler::RefusalKind::Retryable => Refusal::Again,
                scheduler::RefusalKind::InvalidRequest => Refusal::Request,
                scheduler::RefusalKind::ServiceUnusable => Refusal::Service,
            },
            failure: convert_failure(&refusal.failure),
            retry_after_ms: refusal.retry_after.map(millis),
        },
        Event::Indeterminate { node, attempt, reason } => {
            EventKind::Lost { shot: shot(node), attempt: attempt.as_str(), reason: sanitize::message(reason) }
        }
        Event::Polled { node, attempt, result } => {
            answered(shot(node), attempt, state.node(*node).task(), result)
        }
        Event::Downloaded { node, attempt, artifact, cost } => EventKind::Downloaded {
            shot: shot(node),
            attempt: attempt.as_str(),
            video: convert_artifact(artifact),
            spent: *cost,
        },
        Event::DownloadFailed { node, attempt, failure, partial_bytes } => EventKind::NotDownloaded {
            shot: shot(node),
            attempt: attempt.as_str(),
            failure: convert_failure(failure),
            kept: *partial_bytes,
        },
        Event::Interrupted => EventKind::Interrupted,
    })
}

fn answered<'a>(
    shot: &'a str,
    attempt: &'a AttemptId,
    task: Option<&'a TaskId>,
    result: &PollResult,
) -> EventKind<'a> {
    let attempt = attempt.as_str();
    match result {
        PollResult::Running { progress, status } => EventKind::Progress {
            shot,
            attempt,
            task: task.map(TaskId::as_str),
            status: sanitize::message(status),
            percent: progress.map(|percent| percent.min(100)),
        },
        // The addresses may be signed: whoever holds one can fetch the video.
        PollResult::Completed { url: _, last_frame_url: _, expires_at, took } => EventKind::Rendered {
            shot,
            attempt,
            expires_at: expires_at.map(|at| at.0),
            took_ms: took.map(millis),
        },
        PollResult::Failed { failure } => {
            EventKind::TaskFailed { shot, attempt, failure: convert_failure(failure) }
        }
        PollResult::NotFound { expired } => EventKind::TaskMissing { shot, attempt, expired: *expired },
        PollResult::Throttled { retry_after, reason } => EventKind::Throttled {
            shot,
            attempt,
            reason: sanitize::message(reason),
            retry_after_ms: retry_after.map(millis),
        },
        PollResult::Unreachable { reason } => {
            EventKind::Unreachable { shot, attempt, reason: sanitize::message(reason) }
        }
        PollResult::Unauthorized { failure } => {
            EventKind::Unusable { shot, attempt, failure: convert_failure(failure) }
        }
    }
}

fn found(existing: &ExistingWork) -> Found<'_> {
    match existing {
        ExistingWork::None => Found::Nothing,
        ExistingWork::Completed { attempt, task, artifact: _ } => {
            Found::Made { attempt: attempt.as_str(), task: task.as_str() }
        }
        ExistingWork::InFlight { attempt, task, since, was_downloaded: _ } => {
            Found::Out { attempt: attempt.as_str(), task: task.as_str(), since: since.0 }
        }
        ExistingWork::Indeterminate { attempt, intended_at: _ } => {
            Found::Unanswered { attempt: attempt.as_str() }
        }
        ExistingWork::Abandoned { attempt } => Found::GivenUp { attempt: attempt.as_str() },
        ExistingWork::OtherService { service, attempt, task } => {
            Found::AtOther { service, attempt: attempt.as_str(), task: task.as_ref().map(TaskId::as_str) }
        }
        ExistingWork::ClaimedByRun { run } => Found::Busy { run: run.as_str() },
    }
}

/// What became of a shot that has ended.
pub(crate) fn ended<'a>(plan: &'a Plan, node: &'a NodeSummary) -> Ended<'a> {
    Ended {
        shot: &node.name,
        decision: node.decision.map(convert_decision),
        outcome: match &node.outcome {
            scheduler::Outcome::Done { artifact, task: _ } => {
                Outcome::Done { artifact: convert_artifact(artifact) }
            }
            scheduler::Outcome::Failed { failure, task: _ } => {
                Outcome::Failed { failure: convert_failure(failure) }
            }
            scheduler::Outcome::Indeterminate { attempt, reason } => {
                Outcome::Ambiguous { attempt: attempt.as_str(), reason: sanitize::message(reason) }
            }
            scheduler::Outcome::Detached { task: _, reason } => {
                Outcome::Detached { reason: sanitize::message(reason) }
            }
            scheduler::Outcome::Blocked { by } => Outcome::Blocked { by: &plan.node(*by).name },
            scheduler::Outcome::Unpicked { takes } => {
                Outcome::Unpicked { takes: takes.iter().map(String::as_str).collect() }
            }
            scheduler::Outcome::NotBegun => Outcome::NotBegun,
            scheduler::Outcome::NotSelected { task: _ } => Outcome::NotSelected,
        },
        task: node.task.as_ref().map(TaskId::as_str),
        took_seconds: node.took.map(|took| took.as_secs_f64()),
        retries: node.retries,
    }
}

pub(crate) fn film(outcome: &scheduler::FilmOutcome) -> FilmOutcome {
    match outcome {
        scheduler::FilmOutcome::Done { film } => FilmOutcome::Done {
            film: Film {
                path: film.path.display().to_string(),
                seconds: film.seconds,
                width: film.width,
                height: film.height,
                audio: film.audio,
                made_of: film.made_of.clone(),
                reused: film.reused,
            },
        },
        scheduler::FilmOutcome::Waiting { missing } => FilmOutcome::Waiting { missing: *missing },
        scheduler::FilmOutcome::Unpicked { missing } => FilmOutcome::Unpicked { missing: *missing },
        scheduler::FilmOutcome::Failed { failure } => {
            FilmOutcome::Failed { failure: convert_failure(failure) }
        }
    }
}

pub(crate) fn halt(halt: &scheduler::Halt) -> Halt {
    match halt {
        scheduler::Halt::Interrupted => Halt::Interrupted,
        scheduler::Halt::ServiceUnusable { failure } => Halt::Unusable { failure: convert_failure(failure) },
        scheduler::Halt::BudgetExceeded { limit } => Halt::Capped { cap: convert_cap(*limit) },
        scheduler::Halt::FailFast { shot } => Halt::FailFast { shot: shot.clone() },
    }
}

pub(crate) fn outcomes(summary: &RunSummary) -> Outcomes {
    let mut outcomes = Outcomes::default();
    for node in &summary.nodes {
        *match &node.outcome {
            scheduler::Outcome::Done { .. } => &mut outcomes.done,
            scheduler::Outcome::Failed { .. } => &mut outcomes.failed,
            scheduler::Outcome::Indeterminate { .. } => &mut outcomes.ambiguous,
            scheduler::Outcome::Detached { .. } => &mut outcomes.detached,
            scheduler::Outcome::Blocked { .. } => &mut outcomes.blocked,
            scheduler::Outcome::Unpicked { .. } => &mut outcomes.unpicked,
            scheduler::Outcome::NotBegun => &mut outcomes.not_begun,
            scheduler::Outcome::NotSelected { .. } => &mut outcomes.not_selected,
        } += 1;
    }
    outcomes
}

pub(crate) fn budget(summary: &RunSummary) -> Budget {
    let caps = summary.caps;
    Budget {
        caps: Caps {
            cost: caps.cost,
            tasks: caps.tasks,
            video_ms: caps.video_ms,
            allow_unpriced: caps.allow_unpriced,
        },
        held: amount(summary.held),
        spent: amount(summary.spent),
    }
}

pub(crate) fn amount(amount: scheduler::budget::Amount) -> Amount {
    Amount { cost: amount.cost, tasks: amount.tasks, video_ms: amount.video_ms }
}

fn convert_artifact(artifact: &Artifact) -> Video {
    // The last frame's address may be signed, and stays in the ledger.
    Video {
        path: artifact.path.display().to_string(),
        sha256: artifact.sha256.clone(),
        bytes: artifact.bytes,
        seconds: artifact.seconds,
        width: artifact.width,
        height: artifact.height,
    }
}

fn convert_failure(failure: &scheduler::Failure) -> Failure {
    Failure {
        kind: match failure.kind {
            scheduler::FailureKind::InputModerated => FailureKind::InputModerated,
            scheduler::FailureKind::OutputModerated => FailureKind::OutputModerated,
            scheduler::FailureKind::RateLimited => FailureKind::RateLimited,
            scheduler::FailureKind::Quota => FailureKind::Quota,
            scheduler::FailureKind::Unauthorized => FailureKind::Unauthorized,
            scheduler::FailureKind::Invalid => FailureKind::Invalid,
            scheduler::FailureKind::Transient => FailureKind::Transient,
            scheduler::FailureKind::Expired => FailureKind::Expired,
            scheduler::FailureKind::Corrupt => FailureKind::Corrupt,
            scheduler::FailureKind::Local => FailureKind::Local,
            scheduler::FailureKind::Task => FailureKind::Task,
            scheduler::FailureKind::Abandoned => FailureKind::GivenUp,
        },
        message: sanitize::message(&failure.message),
        code: failure.code.as_deref().map(sanitize::message),
    }
}

fn convert_decision(decision: scheduler::Decision) -> Decision {
    match decision {
        scheduler::Decision::Reuse => Decision::Reuse,
        scheduler::Decision::Adopt => Decision::Adopt,
        scheduler::Decision::Execute => Decision::Execute,
        scheduler::Decision::Deferred => Decision::Deferred,
        scheduler::Decision::Blocked => Decision::Blocked,
        scheduler::Decision::Unselected => Decision::Unselected,
    }
}

fn convert_cap(cap: scheduler::budget::BudgetLimit) -> Cap {
    match cap {
        scheduler::budget::BudgetLimit::Cost => Cap::Cost,
        scheduler::budget::BudgetLimit::Tasks => Cap::Tasks,
        scheduler::budget::BudgetLimit::Seconds => Cap::Seconds,
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn short(key: &str) -> String {
    key.chars().take(KEY_PREFIX_CHARS).collect()
}
