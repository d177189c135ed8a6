//! Messages and codes of violations.

use jsonschema::{
    ValidationError,
    error::{TypeKind, ValidationErrorKind},
};
use serde_json::Value;

use crate::spec::matches_digits_only;

/// Characters of a value that a message repeats: a field may hold an image.
const MAX_VALUE_CHARS: usize = 48;

/// Names in backquotes, separated by commas.
pub(crate) fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// A value as a message repeats it: truncated, in backquotes, strings without quotes.
pub(crate) fn truncate_for_display(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(_) => return "a list".to_owned(),
        Value::Object(_) => return "an object".to_owned(),
        scalar => scalar.to_string(),
    };
    let mut short: String =
        text.chars().take(MAX_VALUE_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(MAX_VALUE_CHARS).is_some() {
        short.push('…');
    }
    if short.is_empty() { "an empty string".to_owned() } else { format!("`{short}`") }
}

/// The parameter that a pointer leads to, such as `metadata.content[0].role`; `None` for the whole.
pub(crate) fn param_of(pointer: &str) -> Option<String> {
    let mut name = String::new();
    for part in pointer.split('/').skip(1) {
        if part.bytes().all(|byte| byte.is_ascii_digit()) && !part.is_empty() && !name.is_empty() {
            name.extend(["[", part, "]"]);
        } else {
            if !name.is_empty() {
                name.push('.');
            }
            name.push_str(&part.replace("~1", "/").replace("~0", "~"));
        }
    }
    (!name.is_empty()).then_some(name)
}

/// Code and message of an error of a single field. `schema` is the field's own.
pub(crate) fn describe(
    error: &ValidationError<'_>,
    name: &str,
    schema: Option<&Value>,
) -> (&'static str, String) {
    let value = truncate_for_display(error.instance());
    match error.kind() {
        ValidationErrorKind::Type { kind } => {
            let pattern = schema.and_then(|schema| schema.get("pattern")?.as_str());
            let digits = error.instance().is_u64() && pattern.is_some_and(matches_digits_only);
            let hint = if digits { format!(": write \"{}\"", error.instance()) } else { String::new() };
            (
                "invalid_type",
                format!("{name} has to be {}, not {}{hint}", kinds(kind), kind_of(error.instance())),
            )
        }
        ValidationErrorKind::Enum { options } => {
            let values: Vec<String> =
                options.as_array().into_iter().flatten().map(truncate_for_display).collect();
            let hint = nearest(error.instance(), options)
                .map(|value| format!("; did you mean `{value}`?"))
                .unwrap_or_default();
            let expected = match values.as_slice() {
                [only] => only.clone(),
                _ => format!("one of {}", values.join(", ")),
            };
            ("invalid_value", format!("{name} has to be {expected}, not {value}{hint}"))
        }
        ValidationErrorKind::Constant { expected_value } => (
            "invalid_value",
            format!("{name} has to be {}, not {value}", truncate_for_display(expected_value)),
        ),
        ValidationErrorKind::Pattern { pattern } => {
            let example = schema.and_then(|schema| schema.pointer("/examples/0")).map(truncate_for_display);
            let form = example.map_or_else(
                || format!("has to match `{pattern}`"),
                |example| format!("has to be of the form {example}"),
            );
            ("invalid_format", format!("{name} {form}, not {value}"))
        }
        ValidationErrorKind::Format { format } => {
            let form = if format == "uri" {
                "an absolute URI".to_owned()
            } else {
                format!("of the format {format}")
            };
            ("invalid_format", format!("{name} has to be {form}, not {value}"))
        }
        ValidationErrorKind::Minimum { limit } => {
            ("out_of_range", format!("{name} has to be at least {limit}, not {value}"))
        }
        ValidationErrorKind::Maximum { limit } => {
            ("out_of_range", format!("{name} has to be at most {limit}, not {value}"))
        }
        ValidationErrorKind::ExclusiveMinimum { limit } => {
            ("out_of_range", format!("{name} has to be greater than {limit}, not {value}"))
        }
        ValidationErrorKind::ExclusiveMaximum { limit } => {
            ("out_of_range", format!("{name} has to be less than {limit}, not {value}"))
        }
        ValidationErrorKind::Required { .. } => ("missing_parameter", format!("{name} is missing")),
        _ => ("invalid_value", format!("{name} does not fit: {}", error.masked_with("the value"))),
    }
}

/// Whether an error concerns the value, rather than its type or absence: only then the field's `x-error` applies.
pub(crate) fn constrains_value(kind: &ValidationErrorKind) -> bool {
    matches!(
        kind,
        ValidationErrorKind::Pattern { .. }
            | ValidationErrorKind::Enum { .. }
            | ValidationErrorKind::Minimum { .. }
            | ValidationErrorKind::Maximum { .. }
            | ValidationErrorKind::ExclusiveMinimum { .. }
            | ValidationErrorKind::ExclusiveMaximum { .. }
    )
}

fn kinds(kind: &TypeKind) -> String {
    let article = |name: &str| match name {
        "array" => "a list".to_owned(),
        "boolean" => "true or false".to_owned(),
        "integer" => "a whole number".to_owned(),
        "object" => "an object".to_owned(),
        "null" => "null".to_owned(),
        name => format!("a {name}"),
    };
    match kind {
        TypeKind::Single(kind) => article(kind.as_str()),
        TypeKind::Multiple(kinds) => {
            let mut names: Vec<String> = kinds.iter().map(|kind| article(kind.as_str())).collect();
            names.sort_by_key(|name| name == "null");
            names.join(" or ")
        }
    }
}

fn kind_of(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => truncate_for_display(value),
        Value::String(_) => format!("the string {}", truncate_for_display(value)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// The option closest to a misspelled value, if any is close.
fn nearest<'a>(value: &Value, options: &'a Value) -> Option<&'a str> {
    let text = value.as_str().filter(|text| text.len() <= MAX_VALUE_CHARS)?;
    options
        .as_array()?
        .iter()
        .filter_map(Value::as_str)
        .map(|option| (strsim::damerau_levenshtein(text, option), option))
        .filter(|(distance, option)| *distance <= option.chars().count() / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, option)| option)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{param_of, truncate_for_display};

    #[test]
    fn param_of_pointer_is_named_as_in_the_contract() {
        assert_eq!(param_of(""), None);
        assert_eq!(param_of("/seconds").as_deref(), Some("seconds"));
        assert_eq!(param_of("/metadata/duration").as_deref(), Some("metadata.duration"));
        assert_eq!(param_of("/metadata/content/12/role").as_deref(), Some("metadata.content[12].role"));
        assert_eq!(param_of("/a~1b").as_deref(), Some("a/b"));
    }

    #[test]
    fn truncate_for_display_bounds_length_and_control_characters() {
        assert!(truncate_for_display(&json!("x".repeat(1_000_000))).chars().count() < 60);
        assert_eq!(truncate_for_display(&json!("a\u{1b}[2J")), "`a [2J`");
        assert_eq!(truncate_for_display(&json!("")), "an empty string");
        assert_eq!(truncate_for_display(&json!(5)), "`5`");
    }
}
