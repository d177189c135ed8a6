//! Search for a task id in a body, also in malformed or truncated JSON.

use serde_json::Value;

use super::first_json;

/// The members that hold a task id, the most reliable first.
const NAMES: [&str; 4] = ["id", "task_id", "taskId", "video_id"];
/// The members that gateways wrap a task in.
const WRAPPERS: [&str; 6] = ["data", "task", "video", "result", "response", "output"];

/// The task id in a body: of the object itself, of an object that it wraps, or, in truncated or malformed JSON, of the first
/// member with a fitting name. Verbatim.
#[must_use]
pub fn find_task_id(body: &str) -> Option<String> {
    let body = body.trim_start_matches('\u{feff}').trim_start();
    match first_json(body) {
        Some(value) => ids_in(&value, body).into_iter().next(),
        None => scan_truncated_json(body),
    }
}

/// The ids in a value and in what it wraps, the most reliable first. `body` is the text that the value was parsed from.
pub(super) fn ids_in(value: &Value, body: &str) -> Vec<String> {
    let mut ids = Vec::new();
    collect(value, body, 0, &mut ids);
    ids
}

fn collect(value: &Value, body: &str, depth: usize, ids: &mut Vec<String>) {
    match value {
        _ if depth > 4 => {}
        Value::Object(object) => {
            ids.extend(own_ids(object, body));
            for inner in WRAPPERS.iter().filter_map(|name| object.get(*name)) {
                collect(inner, body, depth + 1, ids);
            }
        }
        Value::Array(items) => {
            if let Some(item) = items.first() {
                collect(item, body, depth + 1, ids);
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

/// An id as text, verbatim: a number as its digits in `body`, where it is too large for the type that it was parsed to.
fn id_text(value: &Value, body: &str) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) if number.is_f64() => body
            .split(|c: char| !c.is_ascii_digit())
            .find(|digits| digits.len() > 15 && digits.parse().ok() == number.as_f64())
            .map(str::to_owned)
            .or_else(|| Some(number.to_string())),
        Value::Number(number) => Some(number.to_string()),
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
                let rank = NAMES.iter().position(|known| *known == name);
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
        ] {
            assert_eq!(find_task_id(body).as_deref(), Some("t1"), "{body}");
        }
        for (body, id) in [
            (r#"{"id":17}"#, "17"),
            (r#"{"object":"video","id":17,"#, "17"),
            (r#"{"id":12345678901234567890123}"#, "12345678901234567890123"),
            (r#"{"x":{"id":12345678901234567890123},"y"#, "12345678901234567890123"),
            (r#"{"id":" spaced = +@é"}"#, " spaced = +@é"),
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
        ] {
            assert_eq!(find_task_id(body), None, "{body}");
        }
    }
}
