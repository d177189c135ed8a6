//! Cell labels: safe in shells and file names, stable, and distinct for distinct cells.

use std::collections::HashMap;

use serde_json::Value;

use super::MatrixCell;
use crate::letters;
use crate::plan::Hasher;

/// Longer values are slugged, truncated and hashed, in characters.
const MAX_LABEL_CHARS: usize = 40;
/// The same in bytes of UTF-8.
const MAX_LABEL_BYTES: usize = 80;

/// The label of a value, by its text. Other characters become dashes; a label that is truncated or empty gets the first digits of the
/// value's hash, so that it does not depend on the other cells.
pub(super) fn value_label(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(_) | Value::Object(_) | Value::Array(_) => {
            value_text(value).map_or_else(|| hash(value), |text| text_label(text, value))
        }
    }
}

/// The text that a value of an axis goes by, if it has one: of a map, such as the row of a table, its `name`, `id`, `label` or `title`, else
/// its first value.
#[must_use]
pub fn value_text(value: &Value) -> Option<&str> {
    let Value::Object(members) = value else { return value.as_str() };
    let named = ["name", "id", "label", "title"].iter().find_map(|key| members.get(*key)?.as_str());
    named.or_else(|| members.values().next()?.as_str())
}

fn text_label(text: &str, value: &Value) -> String {
    let text = &*letters::normalized(text);
    let plain = |c: char| letters::is_name_letter(c) || matches!(c, '-' | '_' | '.');
    if !text.is_empty() && fits(text) && text.chars().all(plain) && !text.starts_with(letters::is_mark) {
        return text.to_owned();
    }
    let slug = letters::name_slug(text);
    if slug.is_empty() {
        return hash(value);
    }
    if !fits(&slug) {
        let short = letters::truncated(&slug, MAX_LABEL_CHARS, MAX_LABEL_BYTES);
        return format!("{}-{}", short.trim_end_matches('-'), hash(value));
    }
    slug
}

fn fits(label: &str) -> bool {
    label.len() <= MAX_LABEL_BYTES && label.chars().count() <= MAX_LABEL_CHARS
}

fn hash(value: &Value) -> String {
    let mut hasher = Hasher::new("axis-value/1");
    hasher.json(value);
    hex::encode(&hasher.finish()[..3])
}

/// Appends a hash of all values to the labels of cells that have equal labels.
pub(crate) fn disambiguate(cells: &mut [MatrixCell]) {
    let mut count: HashMap<String, usize> = HashMap::new();
    for cell in cells.iter() {
        *count.entry(cell.label()).or_default() += 1;
    }
    let mut repeats: HashMap<String, usize> = HashMap::new();
    for cell in cells {
        if count.get(&cell.label()).is_some_and(|count| *count > 1) {
            let cell_value: Value = cell
                .values
                .iter()
                .map(|(axis, value)| (axis.to_string(), Value::clone(&value.value)))
                .collect();
            let hash = hash(&cell_value);
            // Cells with equal values are numbered.
            let seen = repeats.entry(format!("{}/{hash}", cell.label())).or_default();
            *seen += 1;
            let text = if *seen == 1 { hash } else { format!("{hash}-{seen}") };
            cell.label.push(("cell".into(), text.into()));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::value_label;

    #[test]
    fn cell_labels_contain_safe_characters_only() {
        assert_eq!(value_label(&json!("24mm")), "24mm");
        assert_eq!(value_label(&json!("golden hour, low sun")), "golden-hour-low-sun");
        assert_eq!(value_label(&json!(-1.5)), "-1.5");
        assert_eq!(value_label(&json!({"name": "Keeper", "coat": "yellow"})), "Keeper");
        for (value, label) in
            [("東京", "東京"), ("Strøm og lys", "strøm-og-lys"), ("cafe\u{301}", "café"), ("🌊", "c3aa7f")]
        {
            assert_eq!(value_label(&json!(value)), label);
        }
        let long = value_label(&json!("あ".repeat(500)));
        assert!(long.starts_with("あああ") && long.len() <= 87, "{long}");
        for odd in [json!("—"), json!([1, 2]), json!({"a": 1}), json!("x".repeat(500)), json!("../../etc")]
        {
            let name = value_label(&odd);
            assert!(!name.is_empty() && name.len() < 50, "{name}");
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)), "{name}");
            assert!(!name.contains(".."), "{name}");
        }
    }
}
