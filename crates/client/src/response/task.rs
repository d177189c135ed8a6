//! Task objects (spec 2.5).

use std::fmt;

use reqwest::header::HeaderMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::MAX_REPEATED_REQUEST_BYTES;
use super::header_id::certain_ids_in_headers;
use super::json::Json;
use super::suspected_id::{is_quoted, normalized};
use super::{ErrorObject, RateLimit, error::plain_text, find_id, text_of, time::milliseconds};

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
}

/// What a response answers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Call<'a> {
    /// A poll of the task with this id.
    Poll(&'a str),
    /// The submission of a request. The headers of the response may name a task too.
    Submission { request: &'a str, headers: &'a HeaderMap },
}

impl Call<'_> {
    /// Bytes of a request that the response may repeat. Of a poll that is not known.
    pub(crate) fn max_repeated_bytes(self) -> usize {
        match self {
            Self::Submission { request, .. } => request.len(),
            Self::Poll(_) => MAX_REPEATED_REQUEST_BYTES,
        }
    }
}

/// A body that is not a task, or in which several ids may be the task's.
#[derive(Debug)]
pub(crate) struct NotATask {
    /// Why.
    pub(crate) reason: String,
    /// Whether it names several ids, none of which can be suggested as the task's: what is next to be done with one is to adopt it.
    pub(crate) has_several_ids: bool,
}

impl From<String> for NotATask {
    fn from(reason: String) -> Self {
        Self { reason, has_several_ids: false }
    }
}

impl TaskResponse {
    /// Decodes a body. `polled_id` is the id of the poll that it answers; `None` for a submission.
    ///
    /// # Errors
    /// The body is not a task: it is not whole JSON, or says nothing of a task. To a poll: it is about other tasks only. To a submission: it
    /// contains no id, several that may be the task's, or one in an object that is not known to be a task, because it has neither `status` nor
    /// `object` and other members; [`crate::find_task_id`] gives such an id as a hint.
    pub fn decode(body: &str, polled_id: Option<&str>) -> Result<Self, String> {
        let headers = HeaderMap::new();
        let submission = Call::Submission { request: "", headers: &headers };
        Self::decode_in(body, polled_id.map_or(submission, Call::Poll)).map_err(|error| error.reason)
    }

    /// As [`Self::decode`], in the response to a call.
    pub(crate) fn decode_in(body: &str, call: Call<'_>) -> Result<Self, NotATask> {
        let body_text = body.trim_start_matches('\u{feff}').trim_start();
        let json = Json::first_in(body_text);
        let not_a_task = || {
            let text = ErrorObject::decode(body).map_or_else(|| plain_text(body), |error| error.to_string());
            Err(format!("the response contains no task: {text}").into())
        };
        let Some((json, task)) = json.as_ref().and_then(|json| Some((json, task_object(&json.value, 0)?)))
        else {
            return not_a_task();
        };
        let is_task = |name| has_text(task, name);
        let own = find_id::own_ids(task, body_text);
        // The ids of the object that is read; those around it only where it has none.
        let ids = if own.is_empty() { find_id::ids_in(&json.value, body_text) } else { own };
        let id = match call {
            Call::Poll(polled) if ids.iter().any(|id| id == polled) => polled.to_owned(),
            // A poll knows its id, but a `status` alone may be that of anything, such as a gateway.
            Call::Poll(polled) if ids.is_empty() && is_task("status") && is_video(task) => polled.to_owned(),
            Call::Poll(_) => match ids.first() {
                Some(id) => return Err(format!("the response is about another task, {id}").into()),
                None => return not_a_task(),
            },
            Call::Submission { request, headers }
                if is_task("status") || is_task("object") || find_id::has_only_ids(task) =>
            {
                let Some(id) = ids.first() else { return not_a_task() };
                let named = ids.iter().cloned().chain(rivals(&json.value, task, body_text));
                let overridden = json.overridden.iter().flat_map(|member| find_id::ids_in(member, body_text));
                let named = named.chain(overridden);
                let beside = ids_beside(task, id, headers).into_iter().filter(|id| !is_quoted(id, request));
                if let Some(rival) = named.chain(beside).find(|rival| rival != id) {
                    return Err(NotATask {
                        reason: format!(
                            "the response names {id} and {rival}, and which one is the task is not said"
                        ),
                        has_several_ids: true,
                    });
                }
                id.clone()
            }
            Call::Submission { .. } => return not_a_task(),
        };
        Ok(Self::from_object(id, task))
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

    fn from_object(id: String, task: &Map<String, Value>) -> Self {
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

/// The ids of other objects that may be the task as well: those that look as much like one, where the task looks like an envelope those that it
/// wraps, and those of JSON values behind the first.
fn rivals(value: &Value, task: &Map<String, Value>, body: &str) -> Vec<String> {
    let values = serde_json::Deserializer::from_str(body).into_iter::<Value>();
    let others: Vec<Value> = values.skip(1).map_while(Result::ok).collect();
    let (mut equals, mut inner) = (Vec::new(), Vec::new());
    for value in &others {
        collect_objects(value, 0, &mut inner);
    }
    collect_objects(value, 0, &mut equals);
    equals.retain(|object| likeness(object) >= likeness(task));
    if likeness(task) <= MAX_UNCLEAR {
        for wrapped in wrapped_in(task) {
            collect_objects(wrapped, 1, &mut inner);
        }
    }
    equals.into_iter().chain(inner).flat_map(|object| find_id::own_ids(object, body)).collect()
}

/// More members that services wrap tasks in, also several of a batch.
const OTHER_WRAPPERS: [&str; 7] = ["output", "response", "tasks", "videos", "jobs", "results", "items"];

/// What may be tasks in an object.
fn wrapped_in(object: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    WRAPPERS.iter().chain(&OTHER_WRAPPERS).filter_map(|name| object.get(*name))
}

/// The objects that a value wraps, and itself.
fn collect_objects<'a>(value: &'a Value, depth: usize, objects: &mut Vec<&'a Map<String, Value>>) {
    match value {
        _ if depth > 4 => {}
        Value::Object(object) => {
            objects.push(object);
            for wrapped in wrapped_in(object) {
                collect_objects(wrapped, depth + 1, objects);
            }
        }
        Value::Array(items) => {
            for item in items {
                collect_objects(item, depth + 1, objects);
            }
        }
        _ => {}
    }
}

/// The ids of tasks that are named beside the `id` of one: under other names in its object, and in the headers. Where the object is a video by the
/// contract, `id` is its id, and others may be anything.
fn ids_beside(task: &Map<String, Value>, id: &str, headers: &HeaderMap) -> Vec<String> {
    let mut others = certain_ids_in_headers(headers);
    // A URL may have more ids than one in its path.
    if others.iter().any(|other| other == id) {
        others.clear();
    }
    if !is_video(task) {
        let is_of_task =
            |name: &str| ["taskid", "videoid", "jobid", "generationid"].contains(&normalized(name).as_str());
        others.extend(find_id::named_ids(task, is_of_task));
    }
    others
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
