//! Canonical JSON: one text for equal values, from which request digests and node keys are computed.

use serde_json::Value;

/// JSON with object members sorted by name and no white space: equal values give equal texts, whatever their order and spacing. Numbers are
/// written as `serde_json` writes them.
pub fn canonical_json(value: &Value) -> String {
    let mut text = Vec::new();
    write(value, &mut text);
    // Cannot fail: only UTF-8 was written.
    String::from_utf8(text).unwrap_or_default()
}

fn write(value: &Value, text: &mut Vec<u8>) {
    match value {
        Value::Object(members) => {
            write_object(members.iter().map(|(name, value)| (name.as_str(), value)).collect(), text);
        }
        Value::Array(items) => {
            text.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(b',');
                }
                write(item, text);
            }
            text.push(b']');
        }
        scalar => write_scalar(scalar, text),
    }
}

fn write_object(mut members: Vec<(&str, &Value)>, text: &mut Vec<u8>) {
    members.sort_unstable_by_key(|(name, _)| *name);
    text.push(b'{');
    for (index, (name, value)) in members.into_iter().enumerate() {
        if index > 0 {
            text.push(b',');
        }
        write_string(name, text);
        text.push(b':');
        write(value, text);
    }
    text.push(b'}');
}

fn write_scalar(scalar: &Value, text: &mut Vec<u8>) {
    match scalar {
        Value::String(string) => write_string(string, text),
        scalar => {
            // Cannot fail: scalars always serialize, and a Vec accepts every write.
            let _: Result<(), serde_json::Error> = serde_json::to_writer(text, scalar);
        }
    }
}

fn write_string(string: &str, text: &mut Vec<u8>) {
    // Fast path: most strings need no escapes.
    if string.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
        text.reserve(string.len() + 2);
        text.push(b'"');
        text.extend_from_slice(string.as_bytes());
        text.push(b'"');
    } else {
        let _: Result<(), serde_json::Error> = serde_json::to_writer(text, string);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::canonical_json;

    #[test]
    fn canonical_json_ignores_member_order_only() {
        let canonical = canonical_json(&json!({"a": [1, {"c": 2, "b": "x"}], "d": null}));
        assert_eq!(canonical, canonical_json(&json!({"d": null, "a": [1, {"b": "x", "c": 2}]})));
        assert_eq!(canonical, r#"{"a":[1,{"b":"x","c":2}],"d":null}"#);
        assert_ne!(canonical, canonical_json(&json!({"d": null, "a": [{"b": "x", "c": 2}, 1]})));
        assert_ne!(canonical, canonical_json(&json!({"d": null, "a": [1, {"b": "x", "c": "2"}]})));
    }

    #[test]
    fn canonical_json_writes_text_and_numbers_as_serde_json_does() {
        let sorted = json!({"a": {"x": [true], "y": 1e300}, "b": -0.5, "c\\": "/\u{7f}é", "z": "a \"quote\", a \u{1}\n and a 🎬"});
        assert_eq!(canonical_json(&sorted), sorted.to_string());
    }
}
