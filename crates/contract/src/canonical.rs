//! One text for equal values: what requests are recognised and keyed by.

use serde_json::Value;

/// JSON with the members of objects sorted by name and no white space: equal values give equal texts, whatever order and
/// spacing they came in. Numbers are written as `serde_json` writes them.
#[must_use]
pub fn canonical_json(value: &Value) -> String {
    let mut text = Vec::new();
    write(value, &mut text);
    into_string(text)
}

/// [`canonical_json`] of an object that is given by its members, each name once.
#[must_use]
pub fn canonical_object<'a>(members: impl IntoIterator<Item = (&'a str, &'a Value)>) -> String {
    let mut text = Vec::new();
    write_object(members.into_iter().collect(), &mut text);
    into_string(text)
}

fn into_string(text: Vec<u8>) -> String {
    // JSON that was written from text is text.
    String::from_utf8(text).unwrap_or_default()
}

fn write(value: &Value, text: &mut Vec<u8>) {
    match value {
        Value::Object(members) => {
            write_object(members.iter().map(|(name, value)| (name.as_str(), value)).collect(), text);
        }
        Value::Array(items) => {
            text.push(b'[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
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
    for (at, (name, value)) in members.into_iter().enumerate() {
        if at > 0 {
            text.push(b',');
        }
        write_text(name, text);
        text.push(b':');
        write(value, text);
    }
    text.push(b'}');
}

fn write_scalar(scalar: &Value, text: &mut Vec<u8>) {
    match scalar {
        Value::String(words) => write_text(words, text),
        other => {
            // Neither scalars nor memory can refuse.
            let _: Result<(), serde_json::Error> = serde_json::to_writer(text, other);
        }
    }
}

fn write_text(words: &str, text: &mut Vec<u8>) {
    // Most text has nothing in it to escape, and to see that much is quick.
    if words.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
        text.reserve(words.len() + 2);
        text.push(b'"');
        text.extend_from_slice(words.as_bytes());
        text.push(b'"');
    } else {
        let _: Result<(), serde_json::Error> = serde_json::to_writer(text, words);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{canonical_json, canonical_object};

    #[test]
    fn the_order_of_members_does_not_matter_and_everything_else_does() {
        let one = canonical_json(&json!({"a": [1, {"c": 2, "b": "x"}], "d": null}));
        assert_eq!(one, canonical_json(&json!({"d": null, "a": [1, {"b": "x", "c": 2}]})));
        assert_eq!(one, r#"{"a":[1,{"b":"x","c":2}],"d":null}"#);
        assert_ne!(one, canonical_json(&json!({"d": null, "a": [{"b": "x", "c": 2}, 1]})));
        assert_ne!(one, canonical_json(&json!({"d": null, "a": [1, {"b": "x", "c": "2"}]})));
    }

    #[test]
    fn members_make_the_text_of_their_object() {
        let sorted = json!({"a": {"x": [true], "y": 1e300}, "b": -0.5, "c\\": "/\u{7f}é", "z": "a \"quote\", a \u{1}\n and a 🎬"});
        let members = sorted.as_object().into_iter().flatten().rev();
        let text = canonical_object(members.map(|(name, value)| (name.as_str(), value)));
        assert_eq!((text.as_str(), text.as_str()), (&*canonical_json(&sorted), &*sorted.to_string()));
    }
}
