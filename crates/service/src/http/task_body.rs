//! The task object of the API (spec 2.5).

use serde::Serialize;
use url::Url;

use crate::task::{Status, Task};

/// A task in the responses of create and get. Members without a value yet are absent.
///
/// Hand-written, not generated from openapi.yaml; `task_responses_match_the_contract` validates every form of it against
/// the contract.
#[derive(Debug, Serialize)]
pub(crate) struct TaskBody<'a> {
    id: &'a str,
    object: &'static str,
    model: &'a str,
    pub(crate) status: Status,
    pub(crate) progress: u8,
    created_at: i64,
    seconds: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    completed_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<i64>,
    size: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<TaskError<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<TaskMetadata>,
}

#[derive(Debug, Serialize)]
struct TaskError<'a> {
    message: &'a str,
    code: &'a str,
}

#[derive(Debug, Serialize)]
struct TaskMetadata {
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_frame_url: Option<String>,
}

impl<'a> TaskBody<'a> {
    pub(crate) fn new(task: &'a Task, status: Status, progress: u8, base: &Url) -> Self {
        let url = |token: &str, kind: &str| file_url(base, token, kind);
        let metadata = task.video.as_ref().map(|video| TaskMetadata {
            url: url(&video.token, "mp4"),
            last_frame_url: task.last_frame.as_ref().map(|frame| url(&frame.token, "png")),
        });
        Self {
            id: task.id.as_str(),
            object: "video",
            model: &task.spec.model,
            status,
            progress,
            created_at: task.created_at,
            seconds: task.spec.seconds_text(),
            completed_at: task.completed_at,
            expires_at: task.expires_at,
            size: task.spec.size.to_string(),
            error: task
                .failure
                .as_ref()
                .map(|failure| TaskError { message: &failure.message, code: &failure.code }),
            metadata,
        }
    }
}

/// The URL of a rendered file.
pub(super) fn file_url(base: &Url, token: &str, kind: &str) -> String {
    format!("{}/files/{token}.{kind}", base.as_str().trim_end_matches('/'))
}
