//! Search for a task id in a body, also in malformed or truncated JSON.

use serde_json::Value;

use super::{first_json, text_of};

/// The members that hold a task id, the most reliable first.
const NAMES: [&str; 4] = ["id", "task_id", "taskId", "video_id"];
/// The members that gateways wrap a task in.
const WRAPPERS: [&str; 6] = ["data", "task", "video", "result", "response", "output"];

/// The task id in a body: of the object itself, of an object that it wraps, or, in truncated or malformed JSON, of the first
/// member with a fitting name.
#[must_use]
pub fn find_task_id(body: &str) -> Option<String> {
    let body = body.trim_start_matches('\u{feff}').trim_start();
    match first_json(body) {
        Some(value) => in_value(&value, 0),
        None => scan_truncated_json(body),
    }
}

pub(super) fn in_value(value: &Value, depth: usize) -> Option<String> {
    if depth > 4 {
        return None;
    }
    match value {
        Value::Object(object) => {
            let own = NAMES.iter().find_map(|name| text_of(object.get(*name)?));
            own.or_else(|| WRAPPERS.iter().find_map(|name| in_value(object.get(*name)?, depth + 1)))
        }
        Value::Array(items) => items.first().and_then(|item| in_value(item, depth + 1)),
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
                    && let Some(id) = first_json(value).as_ref().and_then(text_of)
                    && best.as_ref().is_none_or(|(d, r, _)| (depth, rank) < (*d, *r))
                {
                    best = Some((depth, rank, id));
                }
            }
        }
    }
    best.map(|(_, _, id)| id)
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
            r#"{"data":[{"task_id":" t1 "}]}"#,
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
        assert_eq!(find_task_id(r#"{"id":17}"#).as_deref(), Some("17"));
    }

    #[test]
    fn find_task_id_without_id_is_none() {
        for body in
            ["", "null", "[]", r#"{"id":""}"#, r#"{"id":{}}"#, r#"{"id":"t"#, "<html>id</html>", r#""id":"#]
        {
            assert_eq!(find_task_id(body), None, "{body}");
        }
    }
}
