//! Maps the client's results to submissions, poll results and failure kinds.
//!
//! Invariant: a submission is `Refused` only where the service surely did not accept it: no connection was made; 429; or an error in the
//! service's own form (spec 7) with a status that says that nothing was accepted. Every other response may come from a gateway that passed
//! the request on, or from a service that accepted the task and then failed to answer, and is `Indeterminate`; so is any response that has
//! an id where tasks have it, or says that the task exists already.

use client::{CallError, HttpError, Status, TaskFailure, TaskResponse};

use super::{ModerationCodes, ServerErrorPolicy, Submission};
use scheduler::{Failure, FailureKind, PollResult, Refusal, RefusalKind, TaskId, Timestamp};

/// Terms that indicate an exhausted account, as opposed to a rate limit.
const QUOTA_TERMS: &[&str] =
    &["quota", "balance", "insufficient", "arrears", "overdue", "billing", "credit", "payment"];
/// Terms that indicate a transient failure.
const TRANSIENT_TERMS: &[&str] = &[
    "internal",
    "server_error",
    "servererror",
    "overload",
    "busy",
    "timeout",
    "timed_out",
    "timed out",
    "unavailable",
    "rate_limit",
    "ratelimit",
    "too_many",
    "toomany",
    "try again",
    "temporar",
];
/// Codes and messages of an `error` that says that there was none.
const SUCCESS_TERMS: &[&str] = &["", "0", "200", "ok", "success", "succeeded", "none", "null", "no error"];
/// Terms that indicate an invalid request.
const INVALID_TERMS: &[&str] = &["invalid", "unsupported", "not_supported", "notsupported"];

fn contains_any(text: &str, terms: &[&str]) -> bool {
    terms.iter().any(|term| text.contains(term))
}

/// What a response to a submission (spec 4.1) means.
#[must_use]
pub fn submission(
    called: Result<TaskResponse, CallError>,
    server_errors: ServerErrorPolicy,
    moderation: &ModerationCodes,
) -> Submission {
    match called {
        Ok(answer) => Submission::Accepted { task: TaskId(answer.id) },
        Err(CallError::NotSent { reason }) => {
            refused(RefusalKind::Unreachable, Failure::new(FailureKind::Transient, reason), None)
        }
        Err(CallError::Indeterminate { reason, is_answered }) => {
            Submission::Indeterminate { reason, task_hint: None, halts: is_answered }
        }
        Err(CallError::Http(error)) => {
            let failure = failure(&error, moderation);
            match refusal_kind(&error, failure.kind, server_errors) {
                Some(kind) => refused(kind, failure, error.retry_after),
                None => Submission::Indeterminate {
                    reason: error.with_body(),
                    halts: is_of_another_server(error.status) && !error.may_have_task,
                    task_hint: error.task_hint.map(TaskId),
                },
            }
        }
    }
}

/// Whether a status that is not in the service's form says that requests do not reach the service: another address, a proxy or gateway that
/// wants credentials, or a server that does not know such requests.
fn is_of_another_server(status: u16) -> bool {
    matches!(status, 300..=399 | 401..=405 | 407 | 421 | 426 | 501 | 505 | 511)
}

/// How the service refused a submission; `None` where it may have accepted it.
fn refusal_kind(
    error: &HttpError,
    failure: FailureKind,
    server_errors: ServerErrorPolicy,
) -> Option<RefusalKind> {
    if error.may_have_task {
        return None;
    }
    let is_repeated = server_errors == ServerErrorPolicy::Retry;
    Some(match error.status {
        429 if failure == FailureKind::Quota => RefusalKind::ServiceUnusable,
        429 => RefusalKind::Throttled,
        // The status alone leaves open whether it was accepted.
        503 if error.is_service_error => RefusalKind::Retryable,
        500..=599 if is_repeated => RefusalKind::ServerError,
        _ if !error.is_service_error => return None,
        400 | 413 | 415 | 422 if failure == FailureKind::Quota => RefusalKind::ServiceUnusable,
        400 | 413 | 415 | 422 => RefusalKind::InvalidRequest,
        401..=404 if failure == FailureKind::InputModerated => RefusalKind::InvalidRequest,
        401..=404 => RefusalKind::ServiceUnusable,
        _ => return None,
    })
}

fn refused(kind: RefusalKind, failure: Failure, retry_after: Option<std::time::Duration>) -> Submission {
    Submission::Refused(Refusal { kind, failure, retry_after })
}

/// What a response to a poll (spec 4.2) means.
#[must_use]
pub fn poll_result(called: Result<TaskResponse, CallError>, moderation: &ModerationCodes) -> PollResult {
    let task = match called {
        Ok(task) => task,
        Err(CallError::NotSent { reason } | CallError::Indeterminate { reason, .. }) => {
            return PollResult::Unreachable { reason };
        }
        Err(CallError::Http(refusal)) => {
            let failure = failure(&refusal, moderation);
            return match refusal.status {
                // A gateway's page says nothing about the account or the task.
                401..=403 if refusal.is_service_error => PollResult::Unauthorized { failure },
                404 if refusal.is_service_error => PollResult::NotFound { expired: false },
                410 if refusal.is_service_error => PollResult::NotFound { expired: true },
                429 | 503 => {
                    PollResult::Throttled { retry_after: refusal.retry_after, reason: refusal.to_string() }
                }
                _ => PollResult::Unreachable { reason: refusal.to_string() },
            };
        }
    };
    let (progress, poll_after) = (task.progress, task.poll_after);
    let running = |status| PollResult::Running { progress, status, poll_after };
    // The status decides; what `error` says beside a video is a warning. Services send `error` with any status: `success`, a warning, an attempt that they repeat themselves.
    match task.status {
        Status::Completed => PollResult::Completed {
            url: task.url,
            last_frame_url: task.last_frame_url,
            expires_at: task.expires_at_ms.map(Timestamp),
            took: task.created_at_ms.zip(task.completed_at_ms).and_then(|(from, to)| {
                // Timestamps out of order are ignored.
                (to > from).then(|| Timestamp(to).since(Timestamp(from)))
            }),
            warning: task.error.as_ref().and_then(warning),
        },
        Status::Failed => PollResult::Failed {
            failure: match &task.error {
                Some(error) => task_failure(error.code.as_deref(), &error.message, moderation),
                None => task_failure(None, "the service failed the task without a reason", moderation),
            },
        },
        status @ (Status::Queued | Status::InProgress) => running(status.to_string()),
        Status::Unknown(status) => running(status),
    }
}

/// What `error` says beside a finished video; `None` where it says that there was no error.
fn warning(error: &TaskFailure) -> Option<String> {
    let is_code_of_success = |code: &str| SUCCESS_TERMS.contains(&code.to_lowercase().as_str());
    let code = error.code.as_deref().map(str::trim).filter(|code| !is_code_of_success(code));
    let message = error.message.trim();
    match (message.is_empty() || is_code_of_success(message.trim_end_matches('.')), code) {
        (true, None) => None,
        (true, Some(code)) => Some(code.to_owned()),
        (false, None) => Some(message.to_owned()),
        (false, Some(code)) => Some(format!("{message} ({code})")),
    }
}

/// A failed download. A 404 is no proof that the file is gone for good: the service may not have this route, or a replica may lag. Polls say
/// whether it still knows the task.
#[must_use]
pub fn download(error: CallError, moderation: &ModerationCodes) -> Failure {
    match error {
        CallError::NotSent { reason } | CallError::Indeterminate { reason, .. } => {
            Failure::new(FailureKind::Transient, reason)
        }
        CallError::Http(refusal) => {
            let failure = Failure { retry_after: refusal.retry_after, ..failure(&refusal, moderation) };
            match (failure.kind, refusal.status) {
                (FailureKind::Expired, 404) => Failure { kind: FailureKind::Transient, ..failure },
                _ => failure,
            }
        }
    }
}

fn failure(refusal: &client::HttpError, moderation: &ModerationCodes) -> Failure {
    let status = refusal.status;
    let code = refusal.error.as_ref().and_then(|error| error.code.clone());
    let own_words =
        refusal.error.as_ref().map(|error| error.message.clone()).filter(|message| !message.is_empty());
    let message = own_words.unwrap_or_else(|| refusal.to_string());
    let named = refusal.error.as_ref().and_then(|error| error.kind.as_deref()).unwrap_or_default();
    let codes = format!("{} {named}", code.as_deref().unwrap_or_default()).to_lowercase();
    let kind = match status {
        401 => FailureKind::Unauthorized,
        402 => FailureKind::Quota,
        400..=499 if moderation.is_refusal(code.as_deref().unwrap_or_default(), &message) => {
            FailureKind::InputModerated
        }
        400..=499 if moderation.has_code(named) => FailureKind::InputModerated,
        403 | 429 if contains_any(&format!("{codes} {}", message.to_lowercase()), QUOTA_TERMS) => {
            FailureKind::Quota
        }
        // A message may quote the request; a code does not.
        400..=499 if contains_any(&codes, QUOTA_TERMS) => FailureKind::Quota,
        403 => FailureKind::Unauthorized,
        429 => FailureKind::RateLimited,
        // A gateway's page, or that of the host of a file, is no proof that the service has forgotten the task.
        404 | 410 if refusal.is_service_error => FailureKind::Expired,
        404 | 410 => FailureKind::Transient,
        400..=499 => FailureKind::Invalid,
        _ => FailureKind::Transient,
    };
    Failure { kind, message, code, retry_after: None }
}

/// The failure of a task. Moderation is taken as `InputModerated`, which is never retried, unless code or message name the output.
fn task_failure(code: Option<&str>, message: &str, moderation: &ModerationCodes) -> Failure {
    let message_in = message.to_lowercase();
    let code_in = code.unwrap_or_default().to_lowercase();
    // The code overrides the message, which may quote the prompt.
    let text = if code_in.is_empty() { &message_in } else { &code_in };
    let kind = if moderation.is_refusal(code.unwrap_or_default(), message) {
        let is_output = |text: &str| contains_any(text, &["output", "generated", "result"]);
        let is_input = |text: &str| contains_any(text, &["input", "prompt", "request"]);
        if is_output(&code_in) || (!is_input(&code_in) && is_output(&message_in) && !is_input(&message_in)) {
            FailureKind::OutputModerated
        } else {
            FailureKind::InputModerated
        }
    } else if contains_any(text, QUOTA_TERMS) {
        FailureKind::Quota
    } else if contains_any(text, TRANSIENT_TERMS) {
        FailureKind::Transient
    } else if contains_any(text, INVALID_TERMS) {
        FailureKind::Invalid
    } else {
        FailureKind::Task
    };
    Failure { kind, message: message.to_owned(), code: code.map(str::to_owned), retry_after: None }
}

#[cfg(test)]
#[path = "classify_tests.rs"]
mod tests;
