//! A search for what may be a task's id anywhere in an error, under names and in places that no contract describes. Too much is found
//! rather than too little: a submission that is wrongly taken for accepted waits for a person, one that is wrongly taken for refused is paid
//! for twice.

use serde_json::Value;

/// Deeper values are not searched.
const MAX_DEPTH: usize = 16;
/// Members whose value is the id of a task, in lower case without `_` and `-`.
const ID_NAMES: [&str; 12] = [
    "task",
    "taskid",
    "tasks",
    "taskids",
    "video",
    "videoid",
    "videos",
    "videoids",
    "job",
    "jobid",
    "generationid",
    "resourceid",
];
/// Members whose value is the id of what their object describes.
const OWN_ID_NAMES: [&str; 2] = ["id", "uuid"];
/// Members that describe the request, which has an id of its own.
const REQUEST_NAMES: [&str; 4] = ["request", "req", "trace", "span"];
/// Path segments below which services have tasks.
const COLLECTIONS: [&str; 5] = ["videos", "tasks", "jobs", "generations", "operations"];
/// What precedes an id in prose.
const LABELS: [&str; 5] = ["task", "video", "job", "generation", "operation"];
/// Digits and letters of an id behind such a word, at least: `video 480p` is none.
const MIN_ID_LENGTH: usize = 8;
/// Characters of an id with dashes, at least.
const MIN_UUID_LENGTH: usize = 20;

/// What may be the id of a task in a value.
pub(super) fn suspected_id(value: &Value) -> Option<String> {
    in_value(value, None, 0)
}

/// `name` is that of the member that the value is in.
fn in_value(value: &Value, name: Option<&str>, depth: usize) -> Option<String> {
    if depth > MAX_DEPTH {
        return None;
    }
    match value {
        Value::Object(object) => {
            let of_request = name.is_some_and(|name| REQUEST_NAMES.contains(&name));
            object.iter().find_map(|(name, value)| {
                let name = normalized(name);
                let is_own_id = depth > 0 && OWN_ID_NAMES.contains(&name.as_str()) && !of_request;
                let own = if is_own_id { id_text(value) } else { None };
                own.or_else(|| in_value(value, Some(&name), depth + 1))
            })
        }
        Value::Array(items) => items.iter().find_map(|item| in_value(item, name, depth + 1)),
        Value::String(text) => {
            let named = name.filter(|name| ID_NAMES.contains(name)).and_then(|_| id_text(value));
            named.or_else(|| has_prefix_of_ids(text).then(|| text.clone())).or_else(|| in_text(text))
        }
        Value::Number(_) => name.filter(|name| ID_NAMES.contains(name)).and_then(|_| id_text(value)),
        Value::Bool(_) | Value::Null => None,
    }
}

fn normalized(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// A text of one word, or a number.
fn id_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() && !text.trim().contains(char::is_whitespace) => {
            Some(text.clone())
        }
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Whether a text can only be an id: `task-17`, `vid_8f`, and not `task_id`, `video_url` or `task_limit_10`.
fn has_prefix_of_ids(text: &str) -> bool {
    let prefixes = ["task", "vid", "video", "job", "gen", "generation"];
    text.split_once(['_', '-']).is_some_and(|(prefix, rest)| {
        let is_one_word =
            !rest.contains(['_', '-', ' ']) || (rest.len() >= MIN_UUID_LENGTH && !rest.contains(' '));
        prefixes.contains(&prefix) && is_one_word && rest.contains(|c: char| c.is_ascii_digit())
    })
}

/// The id in a URL or behind a word such as `task`.
fn in_text(text: &str) -> Option<String> {
    text.split_whitespace().find_map(id_in_path).or_else(|| id_behind_label(text))
}

/// The segment of a path or URL that follows a collection of tasks, if it has a digit, as ids have and pages have not.
pub(super) fn id_in_path(url: &str) -> Option<String> {
    let marks = ['"', '\'', '`', '<', '(', '[', '>', ')', ']', ',', ';', '?', '#'];
    let path = url.trim_start_matches(marks).split(marks).next().unwrap_or_default();
    let mut segments = path.split('/').skip_while(|segment| !COLLECTIONS.contains(segment)).skip(1);
    let segment = segments.next()?.trim_end_matches(['.', ':']);
    segment.contains(|c: char| c.is_ascii_digit()).then(|| segment.to_owned())
}

fn id_behind_label(text: &str) -> Option<String> {
    let mut words =
        text.split_whitespace().map(|word| word.trim_matches(|c: char| "\"'`,;:.()[]".contains(c)));
    while let Some(word) = words.next() {
        let (label, joined) =
            word.split_once(['=', ':']).map_or((word, None), |(label, id)| (label, Some(id)));
        let label = normalized(label);
        if !LABELS.contains(&label.strip_suffix("id").unwrap_or(&label)) {
            continue;
        }
        let Some(id) = joined.map(str::to_owned).or_else(|| words.clone().next().map(str::to_owned)) else {
            continue;
        };
        let digits = id.chars().filter(char::is_ascii_digit).count();
        if digits >= 2 && id.len() >= MIN_ID_LENGTH {
            return Some(id);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::suspected_id;

    #[test]
    fn suspected_id_under_any_name_and_at_any_depth() {
        for value in [
            json!({"error": {"message": "busy", "type": "server_error", "task": "t1"}}),
            json!({"error": {"message": "busy", "video": "t1"}}),
            json!({"task": "t1", "error": {"message": "busy"}}),
            json!({"error": {"message": "busy", "tasks": [{"id": "t1"}]}}),
            json!({"error": {"message": "busy", "task_ids": ["t1"]}}),
            json!({"error": {"message": "busy", "details": [{"field": "x"}, {"TaskId": "t1"}]}}),
            json!({"error": {"message": "busy", "task-id": "t1"}}),
            json!({"error": {"message": "busy", "generationId": "t1"}}),
            json!({"error": {"message": "busy", "innererror": {"uuid": "t1"}}}),
            json!({"error": {"message": "busy", "context": {"info": {"id": "t1"}}}}),
            json!({"error": {"message": "busy", "url": "https://a.example/v1/videos/t1?x=1"}}),
            json!({"error": {"message": "poll /v1/videos/t1 for the result"}}),
        ] {
            assert_eq!(suspected_id(&value).as_deref(), Some("t1"), "{value}");
        }
        for (value, id) in [
            (json!({"error": {"code": "task-1"}}), "task-1"),
            (json!({"error": {"param": "vid_8f"}}), "vid_8f"),
            (json!({"error": {"message": "video vid8f120077 is rendered"}}), "vid8f120077"),
            (json!({"error": {"message": "job 8f120077-aa is queued"}}), "8f120077-aa"),
            (json!({"error": {"message": "busy", "job_id": 17}}), "17"),
        ] {
            assert_eq!(suspected_id(&value).as_deref(), Some(id), "{value}");
        }
    }

    #[test]
    fn suspected_id_is_none_in_ordinary_errors() {
        for value in [
            json!({"error": {"message": "too long", "type": "invalid_request_error", "param": "seconds", "code": "invalid_duration"}}),
            json!({"error": {"message": "slow down", "type": "rate_limit_error", "request_id": "req_8f120077"}}),
            json!({"error": {"message": "the task limit of 10 is reached", "code": "task_limit_10"}, "status": 429}),
            json!({"error": {"message": "video 480p is not available"}, "doc_url": "https://docs.example/videos/errors"}),
            json!({"error": {"message": "try again in 1.5 s", "retry_after": 2, "request": {"id": "r1"}}}),
            json!({"error": {"message": "no", "details": [{"field": "task_type", "issue": "unknown"}]}}),
            json!({"error": {"message": "a video of 10 seconds at 1920x1080 costs more", "param": "video_url"}}),
            json!([]),
            json!("task"),
        ] {
            assert_eq!(suspected_id(&value), None, "{value}");
        }
    }
}
