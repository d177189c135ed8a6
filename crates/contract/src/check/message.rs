//! What a violation says: for people first, with a code for programs.

use jsonschema::{
    ValidationError,
    error::{TypeKind, ValidationErrorKind},
};
use serde_json::Value;

use crate::spec::matches_digits_only;

/// Longer values are cut when they are repeated in a message: a field may hold an image.
const ECHO: usize = 48;

/// Names in backquotes, separated by commas.
pub(crate) fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// A value as it is repeated in a message: short, in backquotes, strings without their quotes.
pub(crate) fn echo(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(_) => return "a list".to_owned(),
        Value::Object(_) => return "an object".to_owned(),
        other => other.to_string(),
    };
    let mut short: String = text.chars().take(ECHO).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(ECHO).is_some() {
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
    let found = echo(error.instance());
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
            let values: Vec<String> = options.as_array().into_iter().flatten().map(echo).collect();
            let hint = nearest(error.instance(), options)
                .map(|value| format!("; did you mean `{value}`?"))
                .unwrap_or_default();
            let expected = match values.as_slice() {
                [only] => only.clone(),
                _ => format!("one of {}", values.join(", ")),
            };
            ("invalid_value", format!("{name} has to be {expected}, not {found}{hint}"))
        }
        ValidationErrorKind::Constant { expected_value } => {
            ("invalid_value", format!("{name} has to be {}, not {found}", echo(expected_value)))
        }
        ValidationErrorKind::Pattern { pattern } => {
            let example = schema.and_then(|schema| schema.pointer("/examples/0")).map(echo);
            let form = example.map_or_else(
                || format!("has to match `{pattern}`"),
                |example| format!("has to be of the form {example}"),
            );
            ("invalid_format", format!("{name} {form}, not {found}"))
        }
        ValidationErrorKind::Format { format } => {
            let form = if format == "uri" {
                "an absolute URI".to_owned()
            } else {
                format!("of the format {format}")
            };
            ("invalid_format", format!("{name} has to be {form}, not {found}"))
        }
        ValidationErrorKind::Minimum { limit } => {
            ("out_of_range", format!("{name} has to be at least {limit}, not {found}"))
        }
        ValidationErrorKind::Maximum { limit } => {
            ("out_of_range", format!("{name} has to be at most {limit}, not {found}"))
        }
        ValidationErrorKind::ExclusiveMinimum { limit } => {
            ("out_of_range", format!("{name} has to be greater than {limit}, not {found}"))
        }
        ValidationErrorKind::ExclusiveMaximum { limit } => {
            ("out_of_range", format!("{name} has to be less than {limit}, not {found}"))
        }
        ValidationErrorKind::Required { .. } => ("missing_parameter", format!("{name} is missing")),
        _ => ("invalid_value", format!("{name} does not fit: {}", error.masked_with("the value"))),
    }
}

/// Whether an error is about the value rather than about its type or its absence: only then a field's own error applies.
pub(crate) fn is_about_the_value(kind: &ValidationErrorKind) -> bool {
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
        other => format!("a {other}"),
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
        Value::Bool(_) | Value::Number(_) => echo(value),
        Value::String(_) => format!("the string {}", echo(value)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// The option that was surely meant, if any.
fn nearest<'a>(found: &Value, options: &'a Value) -> Option<&'a str> {
    let found = found.as_str().filter(|text| text.len() <= ECHO)?;
    options
        .as_array()?
        .iter()
        .filter_map(Value::as_str)
        .map(|option| (strsim::damerau_levenshtein(found, option), option))
        .filter(|(distance, option)| *distance <= option.chars().count() / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, option)| option)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{echo, param_of};

    #[test]
    fn parameters_are_named_as_in_the_document() {
        assert_eq!(param_of(""), None);
        assert_eq!(param_of("/seconds").as_deref(), Some("seconds"));
        assert_eq!(param_of("/metadata/duration").as_deref(), Some("metadata.duration"));
        assert_eq!(param_of("/metadata/content/12/role").as_deref(), Some("metadata.content[12].role"));
        assert_eq!(param_of("/a~1b").as_deref(), Some("a/b"));
    }

    #[test]
    fn long_and_odd_values_are_not_repeated_whole() {
        assert!(echo(&json!("x".repeat(1_000_000))).chars().count() < 60);
        assert_eq!(echo(&json!("a\u{1b}[2J")), "`a [2J`");
        assert_eq!(echo(&json!("")), "an empty string");
        assert_eq!(echo(&json!(5)), "`5`");
    }
}
