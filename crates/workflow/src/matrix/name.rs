//! Names of cells: made of characters that shells and file systems take, stable, and different for different cells.

use std::collections::HashMap;

use serde_json::Value;

use super::Cell;
use crate::plan::Hasher;
use crate::template::slug;

/// The longest value that stands in a name as it is.
const LONGEST: usize = 40;

/// How a value shows in a name; a map by its `name`, `id`, `label` or `title`, or else by its first value, where that is text. Odd characters become dashes; what is cut or says nothing gets a few digits of its
/// hash, so that a name does not depend on its neighbours.
pub(super) fn of_value(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => of_text(text, value),
        Value::Object(members) => ["name", "id", "label", "title"]
            .iter()
            .find_map(|key| members.get(*key)?.as_str())
            .or_else(|| members.values().next()?.as_str())
            .map_or_else(|| hash(value), |text| of_text(text, value)),
        Value::Array(_) => hash(value),
    }
}

fn of_text(text: &str, value: &Value) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !text.is_empty() && text.len() <= LONGEST && text.chars().all(plain) {
        return text.to_owned();
    }
    let mut short = slug(text);
    if short.is_empty() {
        return hash(value);
    }
    if short.len() > LONGEST {
        short.truncate(LONGEST);
        return format!("{}-{}", short.trim_end_matches('-'), hash(value));
    }
    short
}

fn hash(value: &Value) -> String {
    let mut hasher = Hasher::new("axis-value/1");
    hasher.json(value);
    hex::encode(&hasher.finish()[..3])
}

/// Gives cells whose names have come out the same the hashes of all their values.
pub(crate) fn tell_apart(cells: &mut [Cell]) {
    let mut count: HashMap<String, usize> = HashMap::new();
    for cell in cells.iter() {
        *count.entry(cell.label()).or_default() += 1;
    }
    let mut again: HashMap<String, usize> = HashMap::new();
    for cell in cells {
        if count.get(&cell.label()).is_some_and(|count| *count > 1) {
            let whole: Value =
                cell.values.iter().map(|(axis, value)| (axis.clone(), value.value.clone())).collect();
            let hash = hash(&whole);
            // Cells that are the same in every value are counted.
            let seen = again.entry(format!("{}/{hash}", cell.label())).or_default();
            *seen += 1;
            let text = if *seen == 1 { hash } else { format!("{hash}-{seen}") };
            cell.label.push(("cell".to_owned(), text));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::of_value;

    #[test]
    fn names_hold_only_plain_characters() {
        assert_eq!(of_value(&json!("24mm")), "24mm");
        assert_eq!(of_value(&json!("golden hour, low sun")), "golden-hour-low-sun");
        assert_eq!(of_value(&json!(-1.5)), "-1.5");
        assert_eq!(of_value(&json!({"name": "Keeper", "coat": "yellow"})), "Keeper");
        for odd in [json!("—"), json!([1, 2]), json!({"a": 1}), json!("x".repeat(500)), json!("../../etc")]
        {
            let name = of_value(&odd);
            assert!(!name.is_empty() && name.len() < 50, "{name}");
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)), "{name}");
            assert!(!name.contains(".."), "{name}");
        }
    }
}
