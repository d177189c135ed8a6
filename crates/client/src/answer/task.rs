//! A task object (spec 2.5), as it is answered.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ApiError, error::readable, find_id, find_task_id, first_json, text_of, time::milliseconds};

/// Where a task stands (spec 3).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Accepted, not begun.
    Queued,
    /// At work.
    InProgress,
    /// The video is there.
    Completed,
    /// There will be no video.
    Failed,
    /// A word that the contract does not know, as it came; empty when there was none.
    Unknown(String),
}

impl Status {
    fn of(value: Option<&Value>) -> Self {
        let word = value.and_then(text_of).unwrap_or_default();
        let plain = word.to_ascii_lowercase().replace(['-', ' '], "_");
        match plain.as_str() {
            "queued" => Self::Queued,
            "in_progress" => Self::InProgress,
            "completed" => Self::Completed,
            "failed" => Self::Failed,
            _ => Self::Unknown(word),
        }
    }

    /// Whether no further poll will change it.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Queued => "queued",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Unknown(word) if word.is_empty() => "unknown",
            Self::Unknown(word) => word,
        })
    }
}

/// Why a task failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskFailure {
    /// For people; may be empty.
    pub message: String,
    /// For programs, where the service gave one.
    pub code: Option<String>,
}

/// A task as the service answered it, brought into one form.
///
/// A service may contradict itself, say complete without an address or with an error: nothing is smoothed over here, and
/// the reader decides what counts as done.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskAnswer {
    /// The task's id: that of the answer, or, where a poll's answer holds none, the one that was asked for.
    pub id: String,
    /// Where it stands.
    pub status: Status,
    /// Percent, 0 to 100.
    pub progress: Option<u8>,
    /// The model that runs it.
    pub model: Option<String>,
    /// When it was accepted, in milliseconds since the epoch, whatever unit came.
    pub created_at_ms: Option<i64>,
    /// When it was finished.
    pub completed_at_ms: Option<i64>,
    /// When the task and its file go away.
    pub expires_at_ms: Option<i64>,
    /// Where the video is: `metadata.url`, or `url` as gateways send it. As it came; it may be relative.
    pub url: Option<String>,
    /// Where the last frame is: `metadata.last_frame_url`.
    pub last_frame_url: Option<String>,
    /// Dimensions, `<width>x<height>`.
    pub size: Option<String>,
    /// Length in seconds, as text.
    pub seconds: Option<String>,
    /// Why it failed; may come with any status.
    pub error: Option<TaskFailure>,
    /// The body as it came, for the ledger; the key is blotted out.
    pub raw: String,
}

impl TaskAnswer {
    /// Reads a body. `asked` is the id that was polled for.
    ///
    /// # Errors
    /// Why the body is no task: it holds no id and none was asked for, or it is not about a task at all.
    pub fn decode(body: &str, asked: Option<&str>) -> Result<Self, String> {
        let value = first_json(body.trim_start_matches('\u{feff}').trim_start());
        let task = value.as_ref().and_then(|value| task_object(value, 0));
        let found = task
            .map(|task| Value::Object(task.clone()))
            .and_then(|task| find_id::in_value(&task, 0))
            .or_else(|| find_task_id(body));
        let empty = Map::new();
        let (id, task) = match (asked, found, task) {
            // A poll knows what it asked for; a body that says nothing of a task is no news of it.
            (Some(asked), found, Some(task)) if found.is_some() || task.contains_key("status") => {
                (asked.to_owned(), task)
            }
            (None, Some(found), task) => (found, task.unwrap_or(&empty)),
            _ => {
                let said = ApiError::decode(body).map_or_else(|| readable(body), |error| error.to_string());
                return Err(format!("the answer holds no task: {said}"));
            }
        };
        Ok(Self::of(id, task, body))
    }

    fn of(id: String, task: &Map<String, Value>, body: &str) -> Self {
        let metadata = task.get("metadata").and_then(Value::as_object);
        let in_metadata = |name: &str| metadata.and_then(|metadata| metadata.get(name));
        let text = |name: &str| task.get(name).and_then(text_of);
        let time = |name: &str| task.get(name).and_then(milliseconds);
        let address = |value: Option<&Value>| {
            value.and_then(Value::as_str).map(str::trim).filter(|url| !url.is_empty()).map(str::to_owned)
        };
        let status = Status::of(task.get("status"));
        let error = failure(task, &status);
        Self {
            id,
            progress: task.get("progress").and_then(percent),
            model: text("model"),
            created_at_ms: time("created_at"),
            completed_at_ms: time("completed_at"),
            expires_at_ms: time("expires_at"),
            url: address(in_metadata("url")).or_else(|| address(task.get("url"))),
            last_frame_url: address(in_metadata("last_frame_url"))
                .or_else(|| address(task.get("last_frame_url"))),
            size: text("size"),
            seconds: text("seconds"),
            status,
            error,
            raw: body.to_owned(),
        }
    }
}

/// What a task comes wrapped in.
const WRAPPERS: [&str; 4] = ["data", "task", "video", "result"];

/// The object that is the task: the value itself, or what it wraps.
fn task_object(value: &Value, depth: usize) -> Option<&Map<String, Value>> {
    if depth > 4 {
        return None;
    }
    match value {
        Value::Object(object) => {
            if object.get("status").and_then(text_of).is_some() && !wraps_a_task(object) {
                return Some(object);
            }
            let inner = WRAPPERS.iter().find_map(|name| task_object(object.get(*name)?, depth + 1));
            inner.or(Some(object))
        }
        Value::Array(items) => items.first().and_then(|item| task_object(item, depth + 1)),
        _ => None,
    }
}

/// Whether a `status` is the envelope's, such as `{"status":"success","data":{…}}`, rather than the task's.
fn wraps_a_task(object: &Map<String, Value>) -> bool {
    let has_id = |object: &Map<String, Value>| {
        object.get("id").or_else(|| object.get("task_id")).and_then(text_of).is_some()
    };
    let inner = WRAPPERS.iter().find_map(|name| object.get(*name)?.as_object());
    !has_id(object) && inner.is_some_and(has_id)
}

fn failure(task: &Map<String, Value>, status: &Status) -> Option<TaskFailure> {
    let said = task.get("error").map(|error| ApiError::of_value(error, 0)).unwrap_or_default();
    let mut failure = TaskFailure { message: said.message, code: said.code };
    if failure.message.is_empty() && failure.code.is_none() {
        if *status != Status::Failed {
            return None;
        }
        let flat = ["message", "fail_reason", "failure_reason"];
        failure.message = flat.iter().find_map(|name| text_of(task.get(*name)?)).unwrap_or_default();
        failure.code = task.get("code").and_then(text_of);
    }
    (!failure.message.is_empty() || failure.code.is_some()).then_some(failure)
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
