//! Task objects (spec 2.5).

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ErrorObject, RateLimit, error::plain_text, find_id, first_json, text_of, time::milliseconds};

/// A task's status (spec 3).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Accepted, not started.
    Queued,
    /// Running.
    InProgress,
    /// Finished with a video.
    Completed,
    /// Finished without a video.
    Failed,
    /// A value that the contract does not define, as received; empty when there was none.
    Unknown(String),
}

impl Status {
    fn parse(value: Option<&Value>) -> Self {
        let text = value.and_then(text_of).unwrap_or_default();
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
    /// The machine-readable code.
    pub code: Option<String>,
}

/// A task object, normalized.
///
/// Contradictions, such as `completed` without a URL or with an error, are kept: the caller decides what they mean.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskResponse {
    /// The task's id: the one in the response, or the polled one where a response that is a video's has none.
    pub id: String,
    /// The status.
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
    /// URL of the video: `metadata.url`, or `url` as gateways send it. As received; may be relative.
    pub url: Option<String>,
    /// URL of the last frame: `metadata.last_frame_url`.
    pub last_frame_url: Option<String>,
    /// Dimensions, `<width>x<height>`.
    pub size: Option<String>,
    /// Length in seconds, as text.
    pub seconds: Option<String>,
    /// Why it failed; may be present with any status.
    pub error: Option<TaskFailure>,
    /// What the headers report of the service's limit on requests; of submissions only.
    pub rate_limit: Option<RateLimit>,
    /// The body as received, for the ledger; the key is redacted.
    pub raw: String,
}

impl TaskResponse {
    /// Decodes a body. `polled_id` is the id of the poll that it answers; `None` for a submission.
    ///
    /// # Errors
    /// The body is not a task: it is not whole JSON, or says nothing of a task. To a poll: it is about other tasks only. To a submission: it
    /// contains no id, or one in an object that is not known to be a task, because it has neither `status` nor `object` and other members;
    /// [`crate::find_task_id`] gives such an id as a hint.
    pub fn decode(body: &str, polled_id: Option<&str>) -> Result<Self, String> {
        let body_text = body.trim_start_matches('\u{feff}').trim_start();
        let value = first_json(body_text);
        let not_a_task = || {
            let text = ErrorObject::decode(body).map_or_else(|| plain_text(body), |error| error.to_string());
            Err(format!("the response contains no task: {text}"))
        };
        let Some((value, task)) = value.as_ref().and_then(|value| Some((value, task_object(value, 0)?)))
        else {
            return not_a_task();
        };
        let is_task = |name| has_text(task, name);
        let own = find_id::own_ids(task, body_text);
        // The ids of the object that is read; those around it only where it has none.
        let ids = if own.is_empty() { find_id::ids_in(value, body_text) } else { own };
        let id = match polled_id {
            Some(polled) if ids.iter().any(|id| id == polled) => polled.to_owned(),
            // A poll knows its id, but a `status` alone may be that of anything, such as a gateway.
            Some(polled) if ids.is_empty() && is_task("status") && is_video(task) => polled.to_owned(),
            Some(_) => match ids.first() {
                Some(other) => return Err(format!("the response is about another task, {other}")),
                None => return not_a_task(),
            },
            None if is_task("status") || is_task("object") || find_id::has_only_ids(task) => {
                match (ids.into_iter().next(), rival(task)) {
                    (Some(id), None) => id,
                    (Some(id), Some(other)) => {
                        return Err(format!(
                            "the response names {id} and {other}, and which one is the task is not said"
                        ));
                    }
                    (None, _) => return not_a_task(),
                }
            }
            None => return not_a_task(),
        };
        Ok(Self::from_object(id, task, body))
    }

    /// Redacts the key in everything that is shown or stored. A URL with the key in it is dropped: the content endpoint has the video too.
    pub(crate) fn redact(&mut self, redact: impl Fn(&str) -> String, url_has_key: impl Fn(&str) -> bool) {
        let texts = [&mut self.model, &mut self.size, &mut self.seconds].into_iter().flatten();
        let failure = self.error.iter_mut();
        let failure = failure.flat_map(|error| [Some(&mut error.message), error.code.as_mut()]).flatten();
        for text in texts.chain(failure).chain([&mut self.raw]) {
            *text = redact(text);
        }
        if let Status::Unknown(status) = &mut self.status {
            *status = redact(status);
        }
        for url in [&mut self.url, &mut self.last_frame_url] {
            *url = url.take().filter(|url| !url_has_key(url));
        }
    }

    fn from_object(id: String, task: &Map<String, Value>, body: &str) -> Self {
        let metadata = task.get("metadata").and_then(Value::as_object);
        let in_metadata = |name: &str| metadata.and_then(|metadata| metadata.get(name));
        let text = |name: &str| task.get(name).and_then(text_of);
        let time = |name: &str| task.get(name).and_then(milliseconds);
        let url = |value: Option<&Value>| {
            value.and_then(Value::as_str).map(str::trim).filter(|url| !url.is_empty()).map(str::to_owned)
        };
        let status = Status::parse(task.get("status"));
        let error = failure(task, &status);
        Self {
            id,
            progress: task.get("progress").and_then(percent),
            model: text("model"),
            created_at_ms: time("created_at"),
            completed_at_ms: time("completed_at"),
            expires_at_ms: time("expires_at"),
            url: url(in_metadata("url")).or_else(|| url(task.get("url"))),
            last_frame_url: url(in_metadata("last_frame_url")).or_else(|| url(task.get("last_frame_url"))),
            size: text("size"),
            seconds: text("seconds"),
            status,
            error,
            rate_limit: None,
            raw: body.to_owned(),
        }
    }
}

/// The members that gateways wrap a task in.
const WRAPPERS: [&str; 4] = ["data", "task", "video", "result"];

/// The task object: the value itself, or an object that it wraps. The inner one counts where it looks more like a task.
fn task_object(value: &Value, depth: usize) -> Option<&Map<String, Value>> {
    if depth > 4 {
        return None;
    }
    match value {
        Value::Object(object) => {
            let inner = WRAPPERS.iter().find_map(|name| task_object(object.get(*name)?, depth + 1));
            Some(inner.filter(|inner| likeness(inner) > likeness(object)).unwrap_or(object))
        }
        Value::Array(items) => items.first().and_then(|item| task_object(item, depth + 1)),
        _ => None,
    }
}

/// The id of a wrapped object that looks as much like a task as the object around it.
fn rival(object: &Map<String, Value>) -> Option<String> {
    let inner = WRAPPERS.iter().find_map(|name| task_object(object.get(*name)?, 0))?;
    let id_of = |object: &Map<String, Value>| find_id::own_ids(object, "").into_iter().next();
    id_of(inner).filter(|id| likeness(object) <= MAX_UNCLEAR && Some(id) != id_of(object).as_ref())
}

/// The greatest [`likeness`] of an object that may be an envelope as well.
const MAX_UNCLEAR: u8 = 2;

/// How much an object looks like a task (spec 2.5) rather than like an envelope with an id and a `status` of its own, such as
/// `{"id":"req-1","status":"success","data":{…}}`.
fn likeness(object: &Map<String, Value>) -> u8 {
    let has_status = has_text(object, "status");
    let is_defined = has_status && !matches!(Status::parse(object.get("status")), Status::Unknown(_));
    match (is_video(object), has_id(object)) {
        (true, true) => 5,
        (_, true) if is_defined => 4,
        (true, false) => 3,
        (_, true) if has_status || has_text(object, "object") => 2,
        (_, true) => 1,
        _ if is_defined => 1,
        _ => 0,
    }
}

/// Whether an object says that it is a task or has what only one has: the value of `object` (spec 2.5), or the URL of a video.
fn is_video(object: &Map<String, Value>) -> bool {
    let is_named = object.get("object").and_then(text_of).is_some_and(|name| name.starts_with("video"));
    let metadata = object.get("metadata").and_then(Value::as_object);
    is_named || metadata.is_some_and(|metadata| has_text(metadata, "url"))
}

fn has_text(object: &Map<String, Value>, name: &str) -> bool {
    object.get(name).and_then(text_of).is_some()
}

fn has_id(object: &Map<String, Value>) -> bool {
    find_id::NAMES.iter().any(|name| has_text(object, name))
}

fn failure(task: &Map<String, Value>, status: &Status) -> Option<TaskFailure> {
    let error = task.get("error").map(|error| ErrorObject::from_value(error, 0)).unwrap_or_default();
    let mut failure = TaskFailure { message: error.message, code: error.code };
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
