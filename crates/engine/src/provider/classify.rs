//! Maps the client's results to submissions, poll results and failure kinds.
//!
//! What an answer says is read by the service's description ([`client::answer`]). Invariant: a submission is `Refused` only where no
//! connection was made, or where the description says that such an answer proves that nothing was accepted. Every other response may come from
//! a gateway that passed the request on, or from a service that accepted the task and then failed to answer, and is `Indeterminate`.

use client::answer::{ErrorObject, Task};
use client::{CallError, FailureReason, HttpError, PollError, Polled, Refused, TaskState};

use super::Submission;
use scheduler::{Failure, FailureKind, PollResult, Refusal, RefusalKind, TaskId, Timestamp};

/// What a response to a submission (spec 4.1) means.
pub fn submission(called: Result<Task, CallError>) -> Submission {
    match called {
        Ok(task) => Submission::Accepted { task: TaskId(task.id) },
        Err(CallError::NotSent { reason }) => {
            refused(RefusalKind::Unreachable, Failure::new(FailureKind::Transient, reason), None)
        }
        Err(CallError::Indeterminate { reason, is_answered }) => {
            Submission::Indeterminate { reason, task_hint: None, halts: is_answered }
        }
        Err(CallError::Http(error)) => match refusal(&error) {
            Some((kind, failure_kind)) => refused(kind, failure(&error, failure_kind), error.retry_after),
            None => Submission::Indeterminate {
                reason: error.with_body(),
                halts: is_of_another_server(error.status) && !error.refusal.may_have_task,
                task_hint: error.refusal.task_hint.map(TaskId),
            },
        },
    }
}

/// Whether a status that refuses nothing says that requests do not reach the service: another address, a proxy or gateway that
/// wants credentials, or a server that does not know such requests.
fn is_of_another_server(status: u16) -> bool {
    matches!(status, 300..=399 | 401..=405 | 407 | 421 | 426 | 501 | 505 | 511)
}

/// How the service refused a submission; `None` where it may have accepted it.
fn refusal(error: &HttpError) -> Option<(RefusalKind, FailureKind)> {
    Some(match error.refusal.refused {
        Some(Refused::Invalid) => (RefusalKind::InvalidRequest, FailureKind::Invalid),
        Some(Refused::Moderated) => (RefusalKind::InvalidRequest, FailureKind::InputModerated),
        Some(Refused::NoKey) => (RefusalKind::ServiceUnusable, FailureKind::Unauthorized),
        Some(Refused::NoMoney) => (RefusalKind::ServiceUnusable, FailureKind::Quota),
        Some(Refused::Unusable) => (RefusalKind::ServiceUnusable, FailureKind::Invalid),
        Some(Refused::Later) if error.status >= 500 => (RefusalKind::Retryable, FailureKind::Transient),
        Some(Refused::Later) => (RefusalKind::Throttled, FailureKind::RateLimited),
        None => return None,
    })
}

fn refused(kind: RefusalKind, failure: Failure, retry_after: Option<std::time::Duration>) -> Submission {
    Submission::Refused(Refusal { kind, failure, retry_after })
}

/// What a response to a poll (spec 4.2) means.
pub fn poll_result(called: Result<Polled, CallError>) -> PollResult {
    let Polled { task, poll_after } = match called {
        Ok(polled) => polled,
        Err(CallError::NotSent { reason } | CallError::Indeterminate { reason, .. }) => {
            return PollResult::Unreachable { reason };
        }
        Err(CallError::Http(error)) => {
            return match (error.refusal.poll_error, error.status) {
                (Some(PollError::Missing), _) => PollResult::NotFound { expired: false },
                (Some(PollError::Gone), _) => PollResult::NotFound { expired: true },
                (Some(PollError::NoKey), status) => {
                    let kind = if status == 402 { FailureKind::Quota } else { FailureKind::Unauthorized };
                    PollResult::Unauthorized { failure: failure(&error, kind) }
                }
                (None, 429 | 503) => {
                    PollResult::Throttled { retry_after: error.retry_after, reason: error.to_string() }
                }
                (None, _) => PollResult::Unreachable { reason: error.to_string() },
            };
        }
    };
    match task.state {
        TaskState::Completed => PollResult::Completed {
            url: task.video,
            last_frame_url: task.last_frame,
            expires_at: task.expires_at_ms.map(Timestamp),
            took: task.created_at_ms.zip(task.completed_at_ms).and_then(|(from, to)| {
                // Timestamps out of order are ignored.
                (to > from).then(|| Timestamp(to).since(Timestamp(from)))
            }),
        },
        TaskState::Queued | TaskState::Running => PollResult::Running {
            progress: task.progress,
            status: match task.state {
                _ if !task.is_defined && task.word.is_empty() => "unknown".to_owned(),
                _ if !task.is_defined => task.word,
                TaskState::Queued => "queued".to_owned(),
                _ => "in_progress".to_owned(),
            },
            poll_after,
        },
        TaskState::Failed | TaskState::Moderated | TaskState::Cancelled | TaskState::Expired => {
            PollResult::Failed { failure: task_failure(task) }
        }
    }
}

/// A failed download. A 404 is no proof that the file is gone for good: the service may not have this route, or a replica may lag. Polls say
/// whether it still knows the task.
pub fn download(error: CallError) -> Failure {
    match error {
        CallError::NotSent { reason } | CallError::Indeterminate { reason, .. } => {
            Failure::new(FailureKind::Transient, reason)
        }
        CallError::Http(error) => {
            let kind = match error.status {
                401 | 403 => FailureKind::Unauthorized,
                402 => FailureKind::Quota,
                429 => FailureKind::RateLimited,
                // The page of a gateway, or of the host of a file, is no proof that the service has deleted it.
                410 if error.refusal.poll_error == Some(PollError::Gone) => FailureKind::Expired,
                404 | 410 => FailureKind::Transient,
                400..=499 => FailureKind::Invalid,
                _ => FailureKind::Transient,
            };
            Failure { retry_after: error.retry_after, ..failure(&error, kind) }
        }
    }
}

fn failure(error: &HttpError, kind: FailureKind) -> Failure {
    let words = error.refusal.error.clone().unwrap_or_default();
    let message = if words.message.is_empty() { error.to_string() } else { words.message };
    Failure { kind, message, code: words.code, retry_after: None }
}

/// The failure of a task that ended without a video.
fn task_failure(task: Task) -> Failure {
    let (ErrorObject { message, code, .. }, reason) = task.error.unwrap_or_default();
    let kind = match reason {
        FailureReason::Moderated => FailureKind::InputModerated,
        FailureReason::ModeratedOutput => FailureKind::OutputModerated,
        FailureReason::NoMoney => FailureKind::Quota,
        FailureReason::Transient => FailureKind::Transient,
        FailureReason::Invalid => FailureKind::Invalid,
        FailureReason::Other => FailureKind::Task,
    };
    let unsaid = match task.state {
        TaskState::Cancelled => "the task was cancelled at the service",
        TaskState::Expired => "the service gave the task up before it was done",
        _ => "the service failed the task without a reason",
    };
    let message = if message.is_empty() { unsaid.to_owned() } else { message };
    Failure { kind, message, code, retry_after: None }
}

#[cfg(test)]
#[path = "classify_tests.rs"]
mod tests;
