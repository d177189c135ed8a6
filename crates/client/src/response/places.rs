//! Where the id, the state, the error and the URL of a task stand: where the contract says (spec 2.5 and 7), and where other services have them.
//!
//! This is the only list of such places. An id anywhere else, in prose or in a header, is none.

use serde_json::Value;

use super::text_of;

/// The objects of an answer that may be the task: the answer, and what new-api, `MiniMax` and `DashScope` wrap it in.
const TASKS: [&str; 4] = ["", "/data", "/task", "/output"];
/// The id, in a task. `task_id` is the name that the same services use.
const IDS: [&str; 2] = ["/id", "/task_id"];
/// The state, in a task. `task_status` is that of `DashScope`.
const STATES: [&str; 2] = ["/status", "/task_status"];
/// The URL of the video, in a task: of the contract, of gateways, of new-api and its forks, and of Ark.
const URLS: [&str; 5] = ["/metadata/url", "/url", "/result_url", "/video_url", "/content/video_url"];
/// The URL of the last frame, in a task.
const LAST_FRAME_URLS: [&str; 3] = ["/metadata/last_frame_url", "/last_frame_url", "/content/last_frame_url"];

/// What an error may be nested in: `detail` is that of fal and Replicate.
pub(super) const ERRORS: [&str; 2] = ["error", "detail"];
/// The message, in an error: `msg` is that of fal, `title` that of Replicate, `fail_reason` that of new-api.
pub(super) const MESSAGES: [&str; 4] = ["message", "msg", "fail_reason", "title"];

/// The objects of an answer that may be the task, the most likely first.
pub(super) fn tasks(answer: &Value) -> impl Iterator<Item = &Value> {
    TASKS.iter().filter_map(|place| answer.pointer(place)).filter(|task| task.is_object())
}

/// The ids of a task, verbatim; a number as its digits.
pub(super) fn ids_of(task: &Value) -> impl Iterator<Item = String> {
    IDS.iter().filter_map(|place| match task.pointer(place)? {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        // The digits of a number that is too large for an integer are not known.
        Value::Number(number) if !number.is_f64() => Some(number.to_string()),
        _ => None,
    })
}

/// The ids in an answer, each once.
pub(super) fn ids(answer: &Value) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for id in tasks(answer).flat_map(ids_of) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

/// The state of a task.
pub(super) fn state(task: &Value) -> Option<String> {
    STATES.iter().find_map(|place| text_of(task.pointer(place)?))
}

/// The URL of a task's video. As received; may be relative.
pub(super) fn url(task: &Value) -> Option<String> {
    url_at(&URLS, task)
}

/// The URL of the last frame of a task's video.
pub(super) fn last_frame_url(task: &Value) -> Option<String> {
    url_at(&LAST_FRAME_URLS, task)
}

fn url_at(places: &[&str], task: &Value) -> Option<String> {
    let texts = places.iter().filter_map(|place| task.pointer(place)?.as_str());
    texts.map(str::trim).find(|url| !url.is_empty()).map(str::to_owned)
}
