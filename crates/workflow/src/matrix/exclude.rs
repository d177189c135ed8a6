//! Entries of `exclude` that match no cell, with what was probably meant.

use serde_json::Value;

use super::rules::Rule;
use super::zip::ZipGroup;
use crate::diagnostic::{Diagnostic, nearest};

/// Values of an axis that a misspelled one is compared with.
const MAX_COMPARED_VALUES: usize = 1_000;

/// The warning of an entry that excludes nothing; `None` for an empty one.
pub(super) fn unused(rule: &Rule, groups: &[ZipGroup]) -> Option<Diagnostic> {
    let (first, value) = rule.first()?;
    let message = "this excludes nothing: no cell has these values";
    let of_axis =
        |axis: &str| groups.iter().flatten().find(|(key, _)| key.value == axis).map(|(_, values)| values);
    let suggestion = rule.iter().find_map(|(axis, value)| {
        let values = of_axis(&axis.value)?;
        if values.iter().any(|other| other.value == value.value) {
            return None;
        }
        let values = || values.iter().take(MAX_COMPARED_VALUES).map(|other| &*other.value);
        let text = text_of(&value.value)?;
        let same = values().find(|other| text_of(other).as_ref() == Some(&text));
        let near = || {
            let near = nearest(&text, values().filter_map(Value::as_str))?.to_owned();
            values().find(|other| other.as_str() == Some(&near))
        };
        Some((axis, value, same.or_else(near)?))
    });
    Some(match suggestion {
        Some((axis, value, suggestion)) => {
            let help = match suggestion {
                Value::String(text) if value.value.is_string() => {
                    format!("did you mean `{}: {text}`?", axis.value)
                }
                Value::String(text) => format!("the axis has text: write `{}: \"{text}\"`", axis.value),
                other => format!("the axis has {}: write `{}: {other}`", kind(other), axis.value),
            };
            Diagnostic::warning("unused-exclude", value.span.or(axis.span), message).help(help)
        }
        None => Diagnostic::warning("unused-exclude", value.span.or(first.span), message)
            .help("give each axis a value that is among its values"),
    })
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn kind(value: &Value) -> &'static str {
    if value.is_number() { "numbers" } else { "`true` or `false`" }
}
