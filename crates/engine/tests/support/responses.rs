//! Responses of the simulated service as HTTP would bring them, and what the engine takes them for.

use std::time::Duration;

use client::{CallError, Contract, HttpError, Polled};
use engine::provider::Submission;
use engine::provider::classify;
use scheduler::{Failure, PollResult, TaskId};
use serde_json::{Value, json};

/// Who words a response.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form {
    /// The service (spec 7).
    Service,
    /// A gateway in front of it.
    Gateway,
    /// A gateway that words its errors nearly as the service does.
    Imitation,
    /// The service, but the connection breaks before the part that may name the task.
    Truncated,
}

/// Responses to a submission that do not tell whether it was accepted.
pub(crate) const INDETERMINATE: [(u16, Form); 21] = [
    (400, Form::Truncated),
    (503, Form::Truncated),
    (400, Form::Imitation),
    (403, Form::Imitation),
    (404, Form::Imitation),
    (503, Form::Imitation),
    (400, Form::Gateway),
    (401, Form::Gateway),
    (403, Form::Gateway),
    (404, Form::Gateway),
    (408, Form::Service),
    (409, Form::Service),
    (422, Form::Gateway),
    (425, Form::Service),
    (499, Form::Gateway),
    (500, Form::Service),
    (500, Form::Gateway),
    (502, Form::Gateway),
    (503, Form::Gateway),
    (504, Form::Gateway),
    (524, Form::Gateway),
];

/// An error response. `task` is an id that its body contains.
pub(crate) fn error(status: u16, form: Form, task: Option<&str>, retry_after: Option<Duration>) -> CallError {
    let body = match form {
        Form::Truncated => r#"{"error":{"message":"simulated","type":"api_error"}"#.to_owned(),
        Form::Service => match task {
            Some(task) => {
                json!({ "error": { "message": "simulated", "type": "api_error" }, "task_id": task })
                    .to_string()
            }
            None => json!({ "error": { "message": "simulated", "type": "api_error" } }).to_string(),
        },
        Form::Imitation => match task {
            Some(task) => json!({ "error": { "message": "simulated" }, "id": task }).to_string(),
            None => json!({ "error": { "message": "upstream reset", "code": status } }).to_string(),
        },
        Form::Gateway => match task {
            Some(task) => json!({ "message": "upstream failed", "data": { "task_id": task } }).to_string(),
            None => "<html><body>upstream failed</body></html>".to_owned(),
        },
    };
    CallError::Http(Box::new(HttpError::new(Contract::embedded(), "", status, &body, retry_after)))
}

/// A task as the service sends it. `words` are an `error` that says nothing about its end, as some services send with every status.
pub(crate) fn task(id: &str, status: &str, progress: Option<u8>, url: Option<&str>, words: bool) -> Value {
    let mut body = json!({ "id": id, "object": "video", "status": status });
    if let Some(progress) = progress {
        body["progress"] = progress.into();
    }
    if let Some(url) = url {
        body["metadata"] = json!({ "url": url });
    }
    if words {
        body["error"] = json!({ "code": "success", "message": "no error" });
    }
    body
}

/// A response with a status that is not that of a task.
pub(crate) fn stray_status() -> Value {
    json!({ "status": "failed", "message": "gateway timeout" })
}

pub(crate) fn failed_task(id: &str) -> Value {
    json!({ "id": id, "object": "video", "status": "failed", "error": { "message": "simulated" } })
}

/// What the engine takes a response to a submission for.
pub(crate) fn submission(response: Result<Value, CallError>) -> Submission {
    let accepted =
        response.and_then(|body| not_a_task(Contract::embedded().read_accepted(200, &body.to_string())));
    classify::submission(accepted)
}

/// What the engine takes a response to a poll of `task` for.
pub(crate) fn poll_result(task: &TaskId, response: Result<Value, CallError>) -> PollResult {
    let polled = response
        .and_then(|body| not_a_task(Contract::embedded().read_task(200, &body.to_string(), task.as_str())));
    classify::poll_result(polled.map(|task| Polled { task, poll_after: None }))
}

/// What the engine takes a refused download for.
pub(crate) fn failed_download(refused: CallError) -> Failure {
    classify::download(refused)
}

fn not_a_task<T>(read: Result<T, String>) -> Result<T, CallError> {
    read.map_err(|reason| CallError::Indeterminate { reason, is_answered: true })
}

/// No usable response came.
pub(crate) fn no_response(reason: impl Into<String>) -> CallError {
    CallError::Indeterminate { reason: reason.into(), is_answered: false }
}
