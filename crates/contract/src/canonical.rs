//! One text for equal values: what requests are recognised and keyed by.

use serde_json::Value;

/// JSON with the members of objects sorted by name and no white space: equal values give equal texts, whatever order and
/// spacing they came in. Numbers are written as `serde_json` writes them.
#[must_use]
pub fn canonical_json(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Object(members) => {
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            members.sort_unstable_by_key(|(name, _)| *name);
            text.push('{');
            for (at, (name, value)) in members.into_iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push(':');
                write(value, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                write(item, text);
            }
            text.push(']');
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::canonical_json;

    #[test]
    fn the_order_of_members_does_not_matter_and_everything_else_does() {
        let one = canonical_json(&json!({"a": [1, {"c": 2, "b": "x"}], "d": null}));
        assert_eq!(one, canonical_json(&json!({"d": null, "a": [1, {"b": "x", "c": 2}]})));
        assert_eq!(one, r#"{"a":[1,{"b":"x","c":2}],"d":null}"#);
        assert_ne!(one, canonical_json(&json!({"d": null, "a": [{"b": "x", "c": 2}, 1]})));
        assert_ne!(one, canonical_json(&json!({"d": null, "a": [1, {"b": "x", "c": "2"}]})));
    }
}
