//! The parts of a node's key, stored with each attempt so that `explain` can show which of them changed.

use contract::canonical_json;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::key::{Hasher, said};
use super::{Input, InputIdentity, Node};

/// Longer values are truncated, in characters.
const VALUE_CHARS: usize = 1_000;
/// Text with a longer run without whitespace is taken for data and not stored, in bytes.
const UNBROKEN_CHARS: usize = 200;

/// One part of a key: its name, a hash of its value, and the value itself if it may be stored.
///
/// A stored value is bounded text without data or possible secrets: data URIs, query strings and end users are only hashed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyPart {
    /// The part's name: `service`, `model`, `prompt`, `request.watermark`, `input first_frame`, `salt`.
    pub name: String,
    /// The first 16 hex digits of the SHA-256 of the whole value.
    pub hash: String,
    /// The value, if it may be stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PartChange {
    pub name: String,
    /// The old value; `None` if the part is new.
    pub before: Option<PartValue>,
    /// The new value; `None` if the part was removed.
    pub now: Option<PartValue>,
}

/// A part's value as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PartValue {
    pub hash: String,
    pub value: Option<String>,
}

/// The parts of a node's key, in a fixed order. `inputs[i]` is the identity of `node.inputs[i]`; an unknown identity gives no part.
pub fn key_parts(node: &Node, service_identity: &str, inputs: &[Option<InputIdentity>]) -> Vec<KeyPart> {
    let mut parts = vec![part("service", &Value::from(service_identity), false)];
    parts.push(part("model", &Value::from(&*node.model), false));
    // Without what is not known yet: the inputs are parts of their own.
    let known = said(node).filter(|(_, _, value)| !value.is_null());
    parts.extend(known.map(|(said, name, value)| part(&name, &value, said.is_private)));
    for (input, identity) in node.inputs.iter().zip(inputs) {
        if let Some(identity) = identity {
            parts.push(part(&input_name(input), &Value::from(identity.as_str()), false));
        }
    }
    if let Some(salt) = &node.salt {
        parts.push(part("salt", &Value::from(salt.as_str()), false));
    }
    parts
}

/// The differences between two lists of parts, in the order of the new one; removed parts come last. Parts named in `unknown` are
/// skipped.
pub fn part_changes(before: &[KeyPart], now: &[KeyPart], unknown: &[String]) -> Vec<PartChange> {
    let value = |part: &KeyPart| PartValue { hash: part.hash.clone(), value: part.value.clone() };
    let find = |parts: &[KeyPart], name: &str| parts.iter().find(|part| part.name == name).cloned();
    let mut changes: Vec<PartChange> = now
        .iter()
        .filter_map(|part| {
            let earlier = find(before, &part.name);
            (earlier.as_ref().map(|earlier| &earlier.hash) != Some(&part.hash)).then(|| PartChange {
                name: part.name.clone(),
                before: earlier.as_ref().map(value),
                now: Some(value(part)),
            })
        })
        .collect();
    changes.extend(before.iter().filter(|part| find(now, &part.name).is_none()).map(|part| PartChange {
        name: part.name.clone(),
        before: Some(value(part)),
        now: None,
    }));
    changes.retain(|change| !unknown.contains(&change.name));
    changes
}

/// The name of an input's part.
pub fn input_name(input: &Input) -> String {
    format!("input {}", input.word.as_str())
}

fn part(name: &str, value: &Value, is_private: bool) -> KeyPart {
    let mut hasher = Hasher::new("key-part/1");
    hasher.json(value);
    let hash = hex::encode(hasher.finish()).chars().take(16).collect();
    let value = if is_private { None } else { display_value(value) };
    KeyPart { name: name.to_owned(), hash, value }
}

/// A value as text that may be stored, if any.
fn display_value(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => keepable(text)?,
        value => canonical_json(&harmless(value)?),
    };
    if text.chars().count() <= VALUE_CHARS {
        return Some(text);
    }
    Some(text.chars().take(VALUE_CHARS - 1).chain("…".chars()).collect())
}

fn harmless(value: &Value) -> Option<Value> {
    Some(match value {
        Value::String(text) => Value::String(keepable(text)?),
        Value::Array(items) => Value::Array(items.iter().map(harmless).collect::<Option<_>>()?),
        Value::Object(members) => {
            let harmless_members = members.iter().map(|(name, value)| Some((name.clone(), harmless(value)?)));
            Value::Object(harmless_members.collect::<Option<Map<_, _>>>()?)
        }
        value => value.clone(),
    })
}

/// Plain text unchanged, a URL without credentials, query and fragment; `None` for data.
fn keepable(text: &str) -> Option<String> {
    let lower = text.trim_start().get(..8).unwrap_or(text).to_ascii_lowercase();
    if lower.starts_with("data:") || text.split_whitespace().any(|word| word.len() > UNBROKEN_CHARS) {
        return None;
    }
    if !(lower.starts_with("http://") || lower.starts_with("https://")) {
        return Some(text.to_owned());
    }
    let bare = text.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = bare.split_once("://")?;
    let (host, path) = rest.split_once('/').map_or((rest, None), |(host, path)| (host, Some(path)));
    let host = host.rsplit('@').next().unwrap_or_default();
    Some(path.map_or_else(|| format!("{scheme}://{host}"), |path| format!("{scheme}://{host}/{path}")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn key_part_values_omit_data_and_secrets() {
        assert_eq!(display_value(&json!("a pier")), Some("a pier".to_owned()));
        assert_eq!(display_value(&json!(5)), Some("5".to_owned()));
        assert_eq!(display_value(&json!("data:image/png;base64,AAAA")), None);
        assert_eq!(display_value(&json!(" DATA:image/png;base64,AAAA")), None);
        assert_eq!(display_value(&json!("A".repeat(201))), None);
        assert_eq!(display_value(&json!({ "content": [{ "image_url": { "url": "data:,x" } }] })), None);
        assert_eq!(
            display_value(&json!("https://me:pw@x.example/a.png?sig=secret#top")),
            Some("https://x.example/a.png".to_owned())
        );
        assert_eq!(
            display_value(&json!([{ "url": "HTTPS://u@x.example?sig=1" }])),
            Some("[{\"url\":\"HTTPS://x.example\"}]".to_owned())
        );
        let long = display_value(&json!("word ".repeat(1_000))).unwrap();
        assert_eq!(long.chars().count(), VALUE_CHARS);
        assert_eq!(part("request.user", &json!("alice"), true).value, None);
    }

    #[test]
    fn part_changes_lists_changed_added_and_removed_parts() {
        let parts = |list: &[(&str, i64)]| -> Vec<KeyPart> {
            list.iter().map(|(name, value)| part(name, &json!(value), false)).collect()
        };
        let changes = part_changes(
            &parts(&[("a", 1), ("b", 1), ("gone", 1), ("waits", 1)]),
            &parts(&[("a", 1), ("b", 2), ("new", 1)]),
            &["waits".to_owned()],
        );
        let names: Vec<_> = changes
            .iter()
            .map(|change| (change.name.as_str(), change.before.is_some(), change.now.is_some()))
            .collect();
        assert_eq!(names, [("b", true, true), ("new", false, true), ("gone", true, false)]);
    }
}
