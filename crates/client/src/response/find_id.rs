//! Search for a task id in a body, also in malformed or truncated JSON.

use serde::de::IgnoredAny;
use serde_json::Value;

use super::first_json;
use super::json::Json;
use super::suspected_id::{suspected_id, suspected_id_in_text};

/// The members that hold a task id, the most reliable first.
pub(super) const NAMES: [&str; 5] = ["id", "task_id", "taskId", "video_id", "videoId"];
/// The members that gateways wrap a task in.
const WRAPPERS: [&str; 6] = ["data", "task", "video", "result", "response", "output"];
/// The members of an error in which services name the task that they accepted all the same.
const ERROR_WRAPPERS: [&str; 6] = ["error", "errors", "detail", "details", "metadata", "meta"];
/// Members that hold a task id in errors only.
const ERROR_NAMES: [&str; 4] = ["job_id", "jobId", "generation_id", "resource_id"];

/// The task id in a body: of the object itself, of an object that it wraps, or, in truncated or malformed JSON, of the first
/// member with a fitting name. Verbatim.
#[must_use]
pub fn find_task_id(body: &str) -> Option<String> {
    find_new_task_id(body, "")
}

/// As [`find_task_id`], in the response to a submission of `request`: without what is quoted from it.
pub(crate) fn find_new_task_id(body: &str, request: &str) -> Option<String> {
    let body = body.trim_start_matches('\u{feff}').trim_start();
    let is_whole = serde_json::from_str::<IgnoredAny>(body).is_ok();
    let in_json = Json::first_in(body).and_then(|json| {
        let values = || std::iter::once(&json.value).chain(&json.overridden);
        let mut ids = Vec::new();
        values().for_each(|value| collect(value, body, true, 0, &mut ids));
        // A member that is called a task's id counts whatever the request has: the seed may be equal to a number that counts up.
        ids.into_iter().next().or_else(|| values().find_map(|value| suspected_id(value, request)))
    });
    let in_text = || scan_truncated_json(body).or_else(|| suspected_id_in_text(body, request));
    in_json.or_else(|| if is_whole { None } else { in_text() })
}

/// The ids in a value and in what it wraps, the most reliable first. `body` is the text that the value was parsed from.
pub(super) fn ids_in(value: &Value, body: &str) -> Vec<String> {
    let mut ids = Vec::new();
    collect(value, body, false, 0, &mut ids);
    ids
}

/// Adds the ids of a value and of what it wraps; `in_errors` also of what an error holds.
fn collect(value: &Value, body: &str, in_errors: bool, depth: usize, ids: &mut Vec<String>) {
    match value {
        _ if depth > 4 => {}
        Value::Object(object) => {
            ids.extend(own_ids(object, body));
            if in_errors {
                ids.extend(ERROR_NAMES.iter().filter_map(|name| id_text(object.get(*name)?, body)));
            }
            let of_errors = if in_errors { &ERROR_WRAPPERS[..] } else { &[] };
            for inner in WRAPPERS.iter().chain(of_errors).filter_map(|name| object.get(*name)) {
                collect(inner, body, in_errors, depth + 1, ids);
            }
        }
        Value::Array(items) => {
            if let Some(item) = items.first() {
                collect(item, body, in_errors, depth + 1, ids);
            }
        }
        _ => {}
    }
}

/// The ids in the members of an object, without those of what it wraps.
pub(super) fn own_ids(object: &serde_json::Map<String, Value>, body: &str) -> Vec<String> {
    NAMES.iter().filter_map(|name| id_text(object.get(*name)?, body)).collect()
}

/// Whether every member of an object names a task: an answer that says nothing else.
pub(super) fn has_only_ids(object: &serde_json::Map<String, Value>) -> bool {
    !object.is_empty() && object.keys().all(|name| NAMES.contains(&name.as_str()))
}

/// The ids in members of an object, at any depth, that are called a task's by `is_named`.
pub(super) fn named_ids(object: &serde_json::Map<String, Value>, is_named: fn(&str) -> bool) -> Vec<String> {
    let mut ids = Vec::new();
    let mut objects = vec![object];
    while let Some(object) = objects.pop() {
        for (name, value) in object {
            match value {
                Value::Object(inner) => objects.push(inner),
                Value::Array(items) => {
                    objects.extend(items.iter().filter_map(Value::as_object));
                    ids.extend(items.iter().filter(|_| is_named(name)).filter_map(|item| id_text(item, "")));
                }
                // The digits of a number that is too large are known of the ids of a task only.
                Value::Number(number) if number.is_f64() => {}
                value if is_named(name) => ids.extend(id_text(value, "")),
                _ => {}
            }
        }
    }
    ids
}

/// An id as text, verbatim: a number as its digits in `body`, where it is too large for the type that it was parsed to.
fn id_text(value: &Value, body: &str) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) if number.is_f64() => digits_of(number, body),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The digits of a large number in the text that it was parsed from: those behind the name of an id, where several numbers are equal as `f64`.
/// Two such ids cannot be told apart.
fn digits_of(number: &serde_json::Number, body: &str) -> Option<String> {
    let digits_at = |text: &str| {
        let text = text.trim_start().strip_prefix(':').map_or(text, str::trim_start);
        let sign = usize::from(text.starts_with('-'));
        let digits = &text[..sign + text.bytes().skip(sign).take_while(u8::is_ascii_digit).count()];
        (digits.len() > 15 && digits.parse().ok() == number.as_f64()).then(|| digits.to_owned())
    };
    if let Some(first) = digits_at(body) {
        return Some(first);
    }
    let named = NAMES.iter().chain(&ERROR_NAMES).flat_map(|name| {
        let quoted = format!("\"{name}\"");
        let ends: Vec<usize> = body.match_indices(&quoted).map(|(index, name)| index + name.len()).collect();
        ends.into_iter().filter_map(|end| digits_at(&body[end..]))
    });
    let mut ids: Vec<String> = named.collect();
    ids.sort();
    ids.dedup();
    match ids.as_slice() {
        [only] => Some(only.clone()),
        [] => Some(number.to_string()),
        _ => None,
    }
}

/// Scans names and values in malformed JSON, such as the beginning of a truncated response. An outer object's id takes
/// precedence over an inner one's.
fn scan_truncated_json(body: &str) -> Option<String> {
    let mut best: Option<(usize, usize, String)> = None;
    let mut depth = 0_usize;
    let mut rest = body;
    while let Some(index) = rest.find(['{', '}', '[', ']', '"']) {
        let (token, after) = (rest.as_bytes()[index], &rest[index + 1..]);
        rest = after;
        match token {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {
                let Some(end) = end_of_string(after) else { break };
                let name = &after[..end];
                rest = &after[end + 1..];
                let rank = NAMES.iter().position(|candidate| *candidate == name);
                let value = rest.trim_start().strip_prefix(':').map(str::trim_start);
                if let (Some(rank), Some(value)) = (rank, value)
                    && !is_truncated_number(value)
                    && let Some(id) = first_json(value).and_then(|id| id_text(&id, value))
                    && best.as_ref().is_none_or(|(d, r, _)| (depth, rank) < (*d, *r))
                {
                    best = Some((depth, rank, id));
                }
            }
        }
    }
    best.map(|(_, _, id)| id)
}

/// Whether a number ends with the text: digits may be missing.
fn is_truncated_number(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte))
}

/// The index of a JSON string's closing quote, given the text after its opening quote.
fn end_of_string(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })
}

#[cfg(test)]
mod tests {
    use super::find_task_id;

    #[test]
    fn find_task_id_in_wrappers_and_truncated_json() {
        for body in [
            r#"{"id":"t1"}"#,
            r#"{"task_id":"t1","id":""}"#,
            r#"{"id":null,"data":{"id":"t1"}}"#,
            r#"{"data":[{"task_id":"t1"}]}"#,
            "\u{feff}  {\"id\":\"t1\"} trailing",
            r#"{"id":"t1","object":"vid"#,
            r#"{"object":"video","id" : "t1","x":<html>"#,
            r#"{"data":{"task":{"id":"t1"}}}"#,
            r#"HTTP garbage {"task_id":"t1"}"#,
            r#"{"metadata":{"id":"inner"},"id":"t1","x":"#,
            r#"{"note":"\\\"id\":\"no\"","id":"t1","x":"#,
            r#"{"error":{"message":"timeout","type":"server_error","task_id":"t1"}}"#,
            r#"{"error":{"message":"timeout","metadata":{"task_id":"t1"}}}"#,
            r#"{"detail":{"task_id":"t1"}}"#,
            r#"{"errors":[{"details":{"taskId":"t1"}}]}"#,
            r#"{"metadata":{"id":"t1"}}"#,
            r#"{"videoId":"t1"}"#,
            r#"{"error":{"message":"timeout","job_id":"t1"}}"#,
        ] {
            assert_eq!(find_task_id(body).as_deref(), Some("t1"), "{body}");
        }
        for (body, id) in [
            (r#"{"id":17}"#, "17"),
            (r#"{"object":"video","id":17,"#, "17"),
            (r#"{"id":12345678901234567890123}"#, "12345678901234567890123"),
            (r#"{"id":-9223372036854775809}"#, "-9223372036854775809"),
            (r#"{"error":{"message":"busy","task_id":"t1","task_id":""}}"#, "t1"),
            (r#"{"error":{"message":"busy","note":{"task":"t17"}},"error":{"message":"busy"}}"#, "t17"),
            (r#"{"x":{"id":12345678901234567890123},"y"#, "12345678901234567890123"),
            (r#"{"id":" spaced = +@é"}"#, " spaced = +@é"),
            (r#"{"error":{"message":"the task t17 is queued, its status is unknown"}}"#, "t17"),
            (r#"{"error":{"message":"try again (task_id=t17)"}}"#, "t17"),
            ("429 task vid8f120077 was accepted, slow down", "vid8f120077"),
            (r#"<html><a href="/v1/videos/8f120077">wait</a></html>"#, "8f120077"),
            ("{\"error\":{\"message\":\"busy\"}}\n{\"task_id\":\"t1\"}", "t1"),
            (r#"{"error":{"message":"timeout","type":"server_error","param":"task_8a"}}"#, "task_8a"),
            (r#"{"error":{"message":"lost the connection to task id \"task_7\"."}}"#, "task_7"),
            (
                r#"{"parent":123456789012345678912345,"id" : 123456789012345678912346}"#,
                "123456789012345678912346",
            ),
        ] {
            assert_eq!(find_task_id(body).as_deref(), Some(id), "{body}");
        }
    }

    #[test]
    fn find_task_id_without_id_is_none() {
        for body in [
            "",
            "null",
            "[]",
            r#"{"id":""}"#,
            r#"{"id":{}}"#,
            r#"{"id":"t"#,
            "<html>id</html>",
            r#""id":"#,
            r#"{"object":"video","id":10"#,
            r#"{"error":{"message":"the task limit of 10 is reached","type":"rate_limit_error"}}"#,
            r#"{"error":{"message":"10 tasks are running, 480p video is not available"}}"#,
            r#"{"error":{"message":"request req_123 of task queue is throttled"}}"#,
            r#"{"error":{"message":"the task text2video is rate limited"}}"#,
            r#"{"error":{"message":"unknown parameter","type":"invalid_request_error","param":"task_type"}}"#,
            r#"{"error":{"message":"too long","type":"invalid_request_error","param":"seconds"}}"#,
        ] {
            assert_eq!(find_task_id(body), None, "{body}");
        }
    }
}
