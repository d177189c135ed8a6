//! What the client's errors and answers mean for money: surely refused, surely accepted, or nobody knows (DESIGN sections 7 and 9).

use client::{CallError, Status, TaskAnswer};
use scheduler::{Answer, Failure, FailureKind, Millis, Refusal, RefusalKind, TaskId};

use super::Submission;

/// Words in a service's error codes and messages that tell moderation apart from other refusals.
const MODERATION: &[&str] = &[
    "moderat",
    "sensitive",
    "content_policy",
    "content policy",
    "contentpolicy",
    "policy_violation",
    "safety",
    "prohibited",
];
/// Words that tell an empty account apart from a fast one.
const QUOTA: &[&str] =
    &["quota", "balance", "insufficient", "arrears", "overdue", "billing", "credit", "payment"];
/// Words of a service that expects its trouble to pass.
const PASSING: &[&str] = &[
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
/// Words that say that the request itself is at fault.
const AT_FAULT: &[&str] = &["invalid", "unsupported", "not_supported", "notsupported"];

fn says(said: &str, words: &[&str]) -> bool {
    words.iter().any(|word| said.contains(word))
}

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
                400..=499 if failure.kind == FailureKind::Quota => RefusalKind::Service,
                400..=499 if failure.kind == FailureKind::InputModerated => RefusalKind::Request,
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
                429 | 503 => Answer::Later { retry_after: refusal.retry_after, reason: refusal.to_string() },
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
        CallError::Refused(refusal) => Failure { retry_after: refusal.retry_after, ..failure(&refusal) },
    }
}

fn failure(refusal: &client::Refusal) -> Failure {
    let status = refusal.status;
    let code = refusal.error.as_ref().and_then(|error| error.code.clone());
    let own_words =
        refusal.error.as_ref().map(|error| error.message.clone()).filter(|message| !message.is_empty());
    let message = own_words.unwrap_or_else(|| refusal.to_string());
    let named = refusal.error.as_ref().and_then(|error| error.kind.as_deref()).unwrap_or_default();
    let codes = format!("{} {named}", code.as_deref().unwrap_or_default()).to_lowercase();
    let said = format!("{codes} {}", message.to_lowercase());
    let kind = match status {
        401 => FailureKind::Unauthorized,
        402 => FailureKind::Quota,
        400..=499 if says(&said, MODERATION) => FailureKind::InputModerated,
        403 | 429 if says(&said, QUOTA) => FailureKind::Quota,
        // A message about a request may quote it; a code does not.
        400..=499 if says(&codes, QUOTA) => FailureKind::Quota,
        403 => FailureKind::Unauthorized,
        429 => FailureKind::RateLimited,
        404 | 410 => FailureKind::Expired,
        400..=499 => FailureKind::Invalid,
        _ => FailureKind::Transient,
    };
    Failure { kind, message, code, retry_after: None }
}

/// Why a task failed. Moderation counts as that of the input, which is never repeated, unless it is said to be that of the video.
fn task_failure(code: Option<&str>, message: &str) -> Failure {
    let message_in = message.to_lowercase();
    let code_in = code.unwrap_or_default().to_lowercase();
    // What a code says goes before what a message does, which may quote the prompt.
    let said = if code_in.is_empty() { &message_in } else { &code_in };
    let kind = if says(&code_in, MODERATION) || says(&message_in, MODERATION) {
        let is_output = |said: &str| says(said, &["output", "generated", "result"]);
        let is_input = |said: &str| says(said, &["input", "prompt", "request"]);
        if is_output(&code_in) || (!is_input(&code_in) && is_output(&message_in) && !is_input(&message_in)) {
            FailureKind::OutputModerated
        } else {
            FailureKind::InputModerated
        }
    } else if says(said, QUOTA) {
        FailureKind::Quota
    } else if says(said, PASSING) {
        FailureKind::Transient
    } else if says(said, AT_FAULT) {
        FailureKind::Invalid
    } else {
        FailureKind::Task
    };
    Failure { kind, message: message.to_owned(), code: code.map(str::to_owned), retry_after: None }
}

#[cfg(test)]
mod tests {
    use client::{ApiError, Refusal as HttpRefusal};

    use super::*;

    fn refused_with(status: u16, body: &str) -> Submission {
        submission(Err(CallError::Refused(Box::new(HttpRefusal {
            status,
            error: ApiError::decode(body),
            retry_after: None,
            body: body.to_owned(),
        }))))
    }

    /// Statuses and bodies as services and gateways send them: flat, nested, pages.
    #[test]
    fn refusals_have_a_kind() {
        use FailureKind::{Expired, InputModerated, Invalid, Quota, RateLimited, Transient, Unauthorized};
        use RefusalKind::{Again, Later, Request, Service};
        for (status, body, failure_kind, refusal_kind) in [
            (
                400,
                r#"{"error":{"message":"no","type":"invalid_request_error","param":"seconds","code":"invalid_duration"}}"#,
                Invalid,
                Request,
            ),
            (
                400,
                r#"{"error":{"message":"the prompt was refused by moderation","code":"input_moderated"}}"#,
                InputModerated,
                Request,
            ),
            (
                400,
                r#"{"code":"InputTextSensitiveContentDetected","message":"try another"}"#,
                InputModerated,
                Request,
            ),
            (403, r#"{"error":{"type":"content_policy_violation","message":"no"}}"#, InputModerated, Request),
            (400, r#"{"error":{"message":"no","code":"insufficient_balance"}}"#, Quota, Service),
            (
                400,
                r#"{"error":{"message":"unknown field `credit`","code":"unknown_field"}}"#,
                Invalid,
                Request,
            ),
            (401, r#"{"error":{"message":"no key","code":"invalid_api_key"}}"#, Unauthorized, Service),
            (402, "", Quota, Service),
            (403, r#"{"error":"your account is in arrears"}"#, Quota, Service),
            (403, "<html>forbidden</html>", Unauthorized, Service),
            (404, r#"{"error":{"message":"unknown path","code":"unknown_path"}}"#, Expired, Service),
            (413, r#"{"error":{"message":"too large","code":"body_too_large"}}"#, Invalid, Request),
            (429, r#"{"error":{"message":"slow down","code":"rate_limit_exceeded"}}"#, RateLimited, Later),
            (429, "<html>Too Many Requests</html>", RateLimited, Later),
            (429, r#"{"error":{"message":"no","code":"insufficient_quota"}}"#, Quota, Service),
            (500, r#"{"error":{"message":"an error inside","type":"server_error"}}"#, Transient, Again),
            (503, "", Transient, Again),
        ] {
            let Submission::Refused(refusal) = refused_with(status, body) else {
                panic!("{status} {body} is a refusal");
            };
            assert_eq!((refusal.failure.kind, refusal.kind), (failure_kind, refusal_kind), "{status} {body}");
        }
        // Something in front of the service failed, and nobody knows what the service did.
        for (status, body) in
            [(500, "<html>oops</html>"), (502, "<html>Bad Gateway</html>"), (504, ""), (520, "")]
        {
            assert!(matches!(refused_with(status, body), Submission::Lost(_)), "{status} {body}");
        }
    }

    /// Tasks as they fail, in bodies of several shapes, through the client's own reading.
    #[test]
    fn failed_tasks_have_a_kind() {
        use FailureKind::{InputModerated, Invalid, OutputModerated, Quota, Task, Transient};
        for (error, kind) in [
            (r#""error":{"code":"render_failed","message":"the renderer ended with 1"}"#, Task),
            (r#""error":{"code":"render_aborted","message":"given up"}"#, Task),
            (r#""error":{"code":"storage_failed","message":"no room"}"#, Task),
            (r#""error":{"code":"render_timed_out","message":"too slow"}"#, Transient),
            (r#""error":{"code":"input_unavailable","message":"gone"}"#, Transient),
            (r#""error":{"code":"InternalServiceError","message":"sorry"}"#, Transient),
            (r#""error":{"code":"ServerOverloaded","message":""}"#, Transient),
            (r#""error":{"message":"timed out, please try again"}"#, Transient),
            (r#""error":{"code":"render_unsupported","message":"no"}"#, Invalid),
            (r#""error":{"code":"invalid_image","message":"no"}"#, Invalid),
            (
                r#""error":{"code":"input_moderated","message":"an input was refused by moderation"}"#,
                InputModerated,
            ),
            (
                r#""error":{"code":"output_moderated","message":"the video was withheld by moderation"}"#,
                OutputModerated,
            ),
            (
                r#""error":{"code":"OutputVideoSensitiveContentDetected","message":"the request failed"}"#,
                OutputModerated,
            ),
            (
                r#""error":{"code":"InputImageSensitiveContentDetected","message":"the output was withheld"}"#,
                InputModerated,
            ),
            (r#""error":{"error":{"code":"moderation_blocked","message":"blocked"}}"#, InputModerated),
            (r#""error":"the generated video was withheld by moderation""#, OutputModerated),
            (r#""error":"the prompt leads to output that moderation withholds""#, InputModerated),
            (r#""error":{"code":"QuotaExceeded","message":"no"}"#, Quota),
            (r#""error":{"code":"render_failed","message":"no credit for the light on her face"}"#, Task),
            (r#""code":"output_moderated","message":"flat""#, OutputModerated),
            (r#""fail_reason":"internal error""#, Transient),
            (r#""progress":40"#, Task),
        ] {
            let body = format!(r#"{{"id":"task_1","object":"video","status":"failed",{error}}}"#);
            let read = TaskAnswer::decode(&body, Some("task_1")).expect("a task");
            let Answer::Failed { failure } = answer(Ok(read)) else { panic!("{body} failed") };
            assert_eq!(failure.kind, kind, "{body}");
        }
    }
}
