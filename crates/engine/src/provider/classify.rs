//! What the client's errors and answers mean for money: surely refused, surely accepted, or nobody knows (DESIGN sections 7 and 9).

use client::{CallError, Status, TaskAnswer};

use super::Submission;
use crate::ids::TaskId;
use crate::state::{Answer, Failure, FailureKind, Refusal, RefusalKind};
use crate::time::Millis;

/// Words in a service's error codes and messages that tell moderation apart from other refusals.
const MODERATION: &[&str] =
    &["moderat", "sensitive", "content_policy", "policy_violation", "safety", "prohibited"];
/// Words that tell an empty account apart from a fast one.
const QUOTA: &[&str] = &["quota", "balance", "insufficient", "arrears", "billing", "credit"];

/// What came of a POST.
pub(super) fn submission(called: Result<TaskAnswer, CallError>) -> Submission {
    match called {
        Ok(answer) => Submission::Accepted(TaskId(answer.id)),
        Err(CallError::NotSent { reason }) => {
            refused(RefusalKind::Again, Failure::new(FailureKind::Transient, reason), None)
        }
        Err(CallError::Lost { reason }) => Submission::Lost(reason),
        Err(CallError::Refused(refusal)) => {
            let failure = failure(&refusal);
            let kind = match refusal.status {
                429 if failure.kind == FailureKind::Quota => RefusalKind::Service,
                429 => RefusalKind::Later,
                401..=404 => RefusalKind::Service,
                400..=499 => RefusalKind::Request,
                503 => RefusalKind::Again,
                // The service itself says that it did not; a gateway's page says nothing of the kind.
                500 if refusal.error.is_some() => RefusalKind::Again,
                _ => {
                    let hint =
                        client::find_task_id(&refusal.body).map(|id| format!("; the answer names {id}"));
                    return Submission::Lost(format!("{refusal}{}", hint.unwrap_or_default()));
                }
            };
            refused(kind, failure, refusal.retry_after)
        }
    }
}

fn refused(kind: RefusalKind, failure: Failure, retry_after: Option<std::time::Duration>) -> Submission {
    Submission::Refused(Refusal { kind, failure, retry_after })
}

/// What a poll brought.
pub(super) fn answer(called: Result<TaskAnswer, CallError>) -> Answer {
    let task = match called {
        Ok(task) => task,
        Err(CallError::NotSent { reason } | CallError::Lost { reason }) => {
            return Answer::Unreachable { reason };
        }
        Err(CallError::Refused(refusal)) => {
            let failure = failure(&refusal);
            return match refusal.status {
                401..=403 => Answer::Unusable { failure },
                404 => Answer::Missing { expired: false },
                410 => Answer::Missing { expired: true },
                429 | 503 => {
                    Answer::Later { retry_after: refusal.retry_after, reason: refusal.to_string() }
                }
                _ => Answer::Unreachable { reason: refusal.to_string() },
            };
        }
    };
    if let Some(error) = &task.error {
        // A task that says both "completed" and "error" has not made what was asked for.
        return Answer::Failed { failure: task_failure(error.code.as_deref(), &error.message) };
    }
    match task.status {
        Status::Completed => Answer::Completed {
            url: task.url,
            last_frame_url: task.last_frame_url,
            expires_at: task.expires_at_ms.map(Millis),
            took: task.created_at_ms.zip(task.completed_at_ms).and_then(|(from, to)| {
                // Times out of order say nothing.
                (to > from).then(|| Millis(to).since(Millis(from)))
            }),
        },
        Status::Failed => {
            Answer::Failed { failure: task_failure(None, "the service failed the task and does not say why") }
        }
        Status::Queued => Answer::Running { progress: task.progress, status: "queued".to_owned() },
        Status::InProgress => Answer::Running { progress: task.progress, status: "in_progress".to_owned() },
        Status::Unknown(status) => Answer::Running { progress: task.progress, status },
    }
}

/// A failed download.
pub(super) fn download(error: CallError) -> Failure {
    match error {
        CallError::NotSent { reason } | CallError::Lost { reason } => {
            Failure::new(FailureKind::Transient, reason)
        }
        CallError::Refused(refusal) => {
            Failure { retry_after: refusal.retry_after, ..failure(&refusal) }
        }
    }
}

fn failure(refusal: &client::Refusal) -> Failure {
    let status = refusal.status;
    let code = refusal.error.as_ref().and_then(|error| error.code.clone());
    let own_words =
        refusal.error.as_ref().map(|error| error.message.clone()).filter(|message| !message.is_empty());
    let message = own_words.unwrap_or_else(|| refusal.to_string());
    let said = format!("{} {message}", code.as_deref().unwrap_or_default()).to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
    let kind = match status {
        401 => FailureKind::Unauthorized,
        402 => FailureKind::Quota,
        400..=499 if says(MODERATION) => FailureKind::InputModerated,
        403 | 429 if says(QUOTA) => FailureKind::Quota,
        403 => FailureKind::Unauthorized,
        429 => FailureKind::RateLimited,
        404 | 410 => FailureKind::Expired,
        400..=499 => FailureKind::Invalid,
        _ => FailureKind::Transient,
    };
    Failure { kind, message, code, retry_after: None }
}

fn task_failure(code: Option<&str>, message: &str) -> Failure {
    let said = format!("{} {message}", code.unwrap_or_default()).to_lowercase();
    let moderated = MODERATION.iter().any(|word| said.contains(word));
    let kind = match moderated {
        true if said.contains("output") => FailureKind::OutputModerated,
        true => FailureKind::InputModerated,
        false => FailureKind::Task,
    };
    Failure { kind, message: message.to_owned(), code: code.map(str::to_owned), retry_after: None }
}
