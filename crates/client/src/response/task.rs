//! Task objects (spec 2.5).

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ErrorObject, json, places, text_of, time::milliseconds};

/// A task's status (spec 3).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Accepted, not started.
    Queued,
    InProgress,
    /// Finished with a video.
    Completed,
    /// Finished without a video.
    Failed,
    /// A value that the contract does not define, as received; empty when there was none.
    Unknown(String),
}

impl Status {
    fn parse(text: Option<String>) -> Self {
        let text = text.unwrap_or_default();
        let normalized = text.to_ascii_lowercase().replace(['-', ' '], "_");
        match normalized.as_str() {
            "queued" => Self::Queued,
            "in_progress" => Self::InProgress,
            "completed" => Self::Completed,
            "failed" => Self::Failed,
            _ => Self::Unknown(text),
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Queued => "queued",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Unknown(text) if text.is_empty() => "unknown",
            Self::Unknown(text) => text,
        })
    }
}

/// Why a task failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskFailure {
    /// The message for people; may be empty.
    pub message: String,
    pub code: Option<String>,
}

/// A task object, normalized.
///
/// Contradictions, such as `completed` without a URL or with an error, are kept: the caller decides what they mean.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskResponse {
    /// The task's id: the one in the response, or the polled one where a response that is a video's has none.
    pub id: String,
    pub status: Status,
    /// Percent, 0 to 100.
    pub progress: Option<u8>,
    /// The model that runs it.
    pub model: Option<String>,
    /// When it was accepted, in milliseconds since the Unix epoch, whatever unit was received.
    pub created_at_ms: Option<i64>,
    /// When it finished, in the same unit.
    pub completed_at_ms: Option<i64>,
    /// When the task and its file are deleted, in the same unit.
    pub expires_at_ms: Option<i64>,
    /// URL of the video. As received; may be relative.
    pub url: Option<String>,
    /// URL of the last frame.
    pub last_frame_url: Option<String>,
    /// Dimensions, `<width>x<height>`.
    pub size: Option<String>,
    /// Length in seconds, as text.
    pub seconds: Option<String>,
    /// Why it failed; may be present with any status.
    pub error: Option<TaskFailure>,
    /// How long the response asks to wait before the next poll; of polls only.
    pub poll_after: Option<Duration>,
}

impl TaskResponse {
    /// Decodes a body. `polled_id` is the id of the poll that it answers; `None` for a submission.
    ///
    /// # Errors
    /// The body is not a task: it is empty or not JSON as a whole, or has no id where ids stand. To a poll: it is about other tasks only. To a
    /// submission: it has several ids.
    pub fn decode(body: &str, polled_id: Option<&str>) -> Result<Self, String> {
        if body.trim().is_empty() {
            return Err("the response is empty".to_owned());
        }
        let not_a_task = || "the response contains no task".to_owned();
        let answer = json(body).ok_or_else(not_a_task)?;
        let ids = places::ids(&answer);
        let id = match (polled_id, ids.as_slice()) {
            (Some(polled), ids) if ids.iter().any(|id| id == polled) => polled.to_owned(),
            (Some(_), [other, ..]) => return Err(format!("the response is about another task, {other}")),
            // A poll knows its id, but a state alone may be that of anything, such as a gateway.
            (Some(polled), []) if places::tasks(&answer).any(is_video_with_state) => polled.to_owned(),
            (None, [id]) => id.clone(),
            (None, [first, second, ..]) => {
                return Err(format!(
                    "the response names {first} and {second}, and does not say which one is the task"
                ));
            }
            (_, []) => return Err(not_a_task()),
        };
        let of_id = places::tasks(&answer).find(|task| places::ids_of(task).any(|own| own == id));
        let task = of_id.or_else(|| places::tasks(&answer).find(|task| is_video_with_state(task)));
        Ok(Self::from_task(id, task.unwrap_or(&answer)))
    }

    /// Redacts the key in everything that is shown or stored. A URL with the key in it is dropped: the content endpoint has the video too.
    pub(crate) fn redact(&mut self, redact: impl Fn(&str) -> String, url_has_key: impl Fn(&str) -> bool) {
        let texts = [&mut self.model, &mut self.size, &mut self.seconds].into_iter().flatten();
        let failure = self.error.iter_mut();
        let failure = failure.flat_map(|error| [Some(&mut error.message), error.code.as_mut()]).flatten();
        for text in texts.chain(failure) {
            *text = redact(text);
        }
        if let Status::Unknown(status) = &mut self.status {
            *status = redact(status);
        }
        for url in [&mut self.url, &mut self.last_frame_url] {
            *url = url.take().filter(|url| !url_has_key(url));
        }
    }

    fn from_task(id: String, task: &Value) -> Self {
        let text = |name: &str| task.get(name).and_then(text_of);
        let time = |name: &str| task.get(name).and_then(milliseconds);
        let status = Status::parse(places::state(task));
        Self {
            id,
            progress: task.get("progress").and_then(percent),
            model: text("model"),
            created_at_ms: time("created_at"),
            completed_at_ms: time("completed_at"),
            expires_at_ms: time("expires_at"),
            url: places::url(task),
            last_frame_url: places::last_frame_url(task),
            size: text("size"),
            seconds: text("seconds"),
            error: failure(task, &status),
            status,
            poll_after: None,
        }
    }
}

/// Whether an object has a state, and says that it is a video's (spec 2.5) or has the URL of one.
fn is_video_with_state(task: &Value) -> bool {
    let is_video = task["object"].as_str().is_some_and(|name| name.starts_with("video"));
    places::state(task).is_some() && (is_video || places::url(task).is_some())
}

/// Why a task failed, or what its `error` says; the members of the task itself only where it has failed.
fn failure(task: &Value, status: &Status) -> Option<TaskFailure> {
    let error = if *status == Status::Failed { task } else { &task["error"] };
    let ErrorObject { message, code, .. } = ErrorObject::from_value(error, 0);
    (!message.is_empty() || code.is_some()).then_some(TaskFailure { message, code })
}

/// A percentage from a number or from `"37%"`.
fn percent(value: &Value) -> Option<u8> {
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().trim_end_matches('%').trim_end().parse::<f64>().ok()?,
        _ => return None,
    };
    (!number.is_nan()).then(|| number.clamp(0.0, 100.0) as u8)
}
