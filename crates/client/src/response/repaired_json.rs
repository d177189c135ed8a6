//! Repairs JSON that common programs write and that no JSON parser reads: Python's `NaN` and `Infinity`, numbers beyond all bounds, half of a
//! surrogate pair in a text that was cut, control characters in strings, commas behind the last member, and values that are nested too deeply.
//!
//! Invariant: a value is as it was, or `null`. A part of an id is no id.

use serde_json::Value;

/// Characters of a number, and of names that stand for one.
fn is_in_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')
}

/// Objects and lists in each other, at most: `serde_json` reads 127.
const MAX_DEPTH: usize = 100;

/// The text with `null` in the place of each number, name or string that JSON does not have and of each value that is nested too deeply, without
/// commas behind the last member. `None` if it does not begin with an object or a list.
pub(super) fn repair(text: &str) -> Option<String> {
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let mut repaired = String::with_capacity(text.len());
    let (mut rest, mut depth) = (text, 0_usize);
    while let Some(first) = rest.chars().next() {
        let (length, is_value) = match first {
            '"' => (string_length(rest), true),
            c if is_in_token(c) => (rest.find(|c| !is_in_token(c)).unwrap_or(rest.len()), true),
            c => (c.len_utf8(), false),
        };
        let (part, after) = rest.split_at(length);
        rest = after;
        let is_too_deep = depth > MAX_DEPTH;
        match first {
            '{' | '[' => {
                depth += 1;
                if depth == MAX_DEPTH + 1 {
                    repaired.push_str("null");
                }
            }
            '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if is_too_deep || depth > MAX_DEPTH || (first == ',' && after.trim_start().starts_with(['}', ']'])) {
            continue;
        }
        let is_json = !is_value || serde_json::from_str::<Value>(part).is_ok();
        repaired.push_str(if is_json { part } else { "null" });
    }
    Some(repaired)
}

/// The length of the string that a text begins with, with its quotes; all of the text if it has no end.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (index, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return index + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(text: &str) -> Option<Value> {
        serde_json::from_str(&repair(text)?).ok()
    }

    #[test]
    fn what_is_almost_json_is_repaired() {
        for (text, expected) in [
            (r#"{"id":"a","eta":NaN}"#, json!({ "id": "a", "eta": null })),
            (
                r#"{"a":[Infinity,-Infinity, 1e999,-1e999,1.5]}"#,
                json!({ "a": [null, null, null, null, 1.5] }),
            ),
            (r#"{"prompt":"a sea \ud83d"}"#, json!({ "prompt": null })),
            (r#"{"prompt":"\ude00 \ud83d\ude00\ud83d"}"#, json!({ "prompt": null })),
            ("{\"prompt\":\"a\nb\tc\"}", json!({ "prompt": null })),
            (r#"{"NaN":"NaN, \" Infinity","b":true}"#, json!({ "NaN": "NaN, \" Infinity", "b": true })),
            (r#"{"a":nan,"b":undefined,"c":0x1F}"#, json!({ "a": null, "b": null, "c": null })),
            (r#"{"a":"\\","b":NaN}"#, json!({ "a": "\\", "b": null })),
            ("{\"id\":\"a,}\",\"list\":[1,2,\n],\n}", json!({ "id": "a,}", "list": [1, 2] })),
        ] {
            assert_eq!(read(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_nested_too_deeply_is_null() {
        for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
            let deep = |depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
            let text = |depth: usize| format!(r#"{{"deep":{},"id":"]}}","more":{{}}}}"#, deep(depth));
            for depth in [101, 128, 100_000] {
                let value = read(&text(depth)).unwrap();
                assert_eq!((&value["id"], &value["more"]), (&json!("]}"), &json!({})), "{depth}");
            }
            assert_eq!(repair(&text(99)), Some(text(99)), "it is unchanged");
        }
    }

    #[test]
    fn what_is_cut_or_no_json_stays_so() {
        for text in [
            r#"{"id":"a","eta":Na"#,
            r#"{"id":"a\"#,
            r#"{"id":"a\ud8"#,
            "NaN",
            "<html>",
            "",
            r#"{"a\ud8":1}"#,
            "{'a':1}",
            "{\"a\":1,,}",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn json_is_unchanged() {
        let text = r#"{"a":[1,-2.5e3,"\n\u00e9\ud83d\ude00é"],"b":{"c":null,"d":18446744073709551616}}"#;
        assert_eq!(repair(text).as_deref(), Some(text));
    }
}
