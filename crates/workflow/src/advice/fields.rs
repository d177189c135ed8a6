//! Violations of a single field's schema for a workflow's author: what the value must be, and the line of YAML to write. The contract's own
//! messages are for those who send JSON.

use contract::{Contract, Family, Field, FieldKind, Violation, Word};
use serde_json::Value;

use super::frame_shapes::{lines_in, nearest_ratio, ratio_in, ratio_of};
use crate::diagnostic::{did_you_mean, shortened};
use crate::duration::parse_duration;

/// A message and help.
pub(crate) struct FieldMessage {
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

/// The message of a violation that concerns one field; `None` if the contract's own message is used. `written` is a number as the file has it.
pub(crate) fn field_message(
    violation: &Violation,
    value: Option<&Value>,
    written: Option<&str>,
    family: &Family,
    contract: &Contract,
) -> Option<FieldMessage> {
    if violation.rule.is_some() || !violation.related.is_empty() {
        return None;
    }
    let field = field_at(&violation.pointer, family, contract)?;
    // The error of a service may name another field than the one that is written.
    let param = path(&violation.pointer);
    if violation.code == "missing_parameter" {
        let help = example(&field).map(|value| format!("add `{}: {value}`", field.name));
        return Some(FieldMessage { message: format!("`{param}` is missing"), help });
    }
    // The bounds of 64-bit numbers are worded by the contract.
    if violation.code == "out_of_range" && field.kind == FieldKind::Integer && whole_range(&field).is_none() {
        return None;
    }
    let value = value?;
    let is_size = field.pattern.as_deref() == Some("^[0-9]+x[0-9]+$");
    if is_size {
        return Some(FieldMessage {
            message: format!(
                "`{param}` must be width and height such as `1280x720`, not {}",
                display_value(value, written, &field)
            ),
            help: Some(format!("write `{}: 1280x720`", field.name)),
        });
    }
    // Text that is not of the right form: the contract says which form that is.
    let is_text = field.kind == FieldKind::String
        && field.values.is_empty()
        && value.is_string()
        && !field.is_digit_string;
    if violation.code == "invalid_format" || is_text {
        return None;
    }
    let expected = expected(&field)?;
    Some(FieldMessage {
        message: format!("`{param}` must be {expected}, not {}", display_value(value, written, &field)),
        help: suggestion(&field, value, written),
    })
}

/// The field that a JSON pointer refers to; `None` if it refers to an item of a list.
fn field_at(pointer: &str, family: &Family, contract: &Contract) -> Option<Field> {
    let mut tokens = pointer.split('/').skip(1).peekable();
    let mut field = contract.field(family, tokens.next()?)?.clone();
    while let Some(token) = tokens.next() {
        if token.bytes().all(|byte| byte.is_ascii_digit()) {
            tokens.peek()?;
            continue;
        }
        let fields = contract.component_fields(field.component.as_deref()?).ok()?;
        field = fields.into_iter().find(|field| field.name == token)?;
    }
    Some(field)
}

/// A JSON pointer as the path of a value: `metadata.content[0]`.
fn path(pointer: &str) -> String {
    let mut path = String::new();
    for token in pointer.split('/').skip(1) {
        if !path.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit()) {
            path.extend(["[", token, "]"]);
        } else {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(token);
        }
    }
    path
}

fn display_value(value: &Value, written: Option<&str>, field: &Field) -> String {
    let is_number = matches!(field.kind, FieldKind::Integer | FieldKind::Number);
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a mapping".to_owned(),
        Value::String(text) if text.is_empty() => "empty".to_owned(),
        Value::String(text)
            if field.kind == FieldKind::Boolean || is_number && text.trim().parse::<f64>().is_ok() =>
        {
            format!("the text `\"{}\"`", shortened(text))
        }
        Value::String(text) => format!("`{}`", shortened(text)),
        Value::Number(number) => format!("`{}`", written.map_or_else(|| number.to_string(), shortened)),
        other => format!("`{other}`"),
    }
}

/// The expected values of a field; `None` if only its pattern determines them.
fn expected(field: &Field) -> Option<String> {
    if let Some((min, max)) = whole_range(field) {
        return Some(if min == max {
            min.to_string()
        } else {
            format!("a whole number from {min} to {max}")
        });
    }
    let values: Vec<String> = texts(field).map(|value| format!("`{value}`")).collect();
    match values.as_slice() {
        [] => {}
        [only] => return Some(only.clone()),
        values => return Some(format!("one of {}", values.join(", "))),
    }
    let expected = match field.kind {
        FieldKind::String if field.pattern.is_some() => return None,
        FieldKind::String => "text",
        FieldKind::Integer => "a whole number",
        FieldKind::Number => match (field.minimum, field.maximum) {
            (Some(min), Some(max)) => return Some(format!("a number from {min} to {max}")),
            _ => "a number",
        },
        FieldKind::Boolean => "`true` or `false`",
        FieldKind::Array => "a list",
        FieldKind::Object => "a mapping",
    };
    Some(expected.to_owned())
}

/// The whole numbers that a field takes, where they are a range that people count in.
fn whole_range(field: &Field) -> Option<(i64, i64)> {
    if let Some(numbers) = &field.numbers() {
        let (first, last) = (i64::from(*numbers.first()?), i64::from(*numbers.last()?));
        return (last - first + 1 == numbers.len() as i64).then_some((first, last));
    }
    let (min, max) = (field.minimum?, field.maximum?);
    (field.kind == FieldKind::Integer && min.abs() < 1e15 && max < 1e15).then_some((min as i64, max as i64))
}

fn texts(field: &Field) -> impl Iterator<Item = &str> {
    field.values.iter().filter_map(Value::as_str)
}

/// A value of the field, as YAML.
fn example(field: &Field) -> Option<String> {
    if field.name == Word::Prompt.as_str() {
        return Some("a quiet harbor at dawn".to_owned());
    }
    if let Some((min, max)) = whole_range(field) {
        return Some(5_i64.clamp(min, max).to_string());
    }
    match (texts(field).next(), field.kind) {
        (Some(first), _) => Some(as_yaml(first)),
        (None, FieldKind::Integer | FieldKind::Number) => Some("7".to_owned()),
        (None, FieldKind::Boolean) => Some("true".to_owned()),
        _ => None,
    }
}

/// The line of YAML that was probably meant, else one that is right.
fn suggestion(field: &Field, value: &Value, written: Option<&str>) -> Option<String> {
    let name = &field.name;
    let write = |value: &str| format!("write `{name}: {value}`");
    if whole_range(field).is_some() || matches!(field.kind, FieldKind::Integer | FieldKind::Number) {
        return number_suggestion(field, value);
    }
    if let Some(near) = nearest_text(field, value) {
        return Some(write(&as_yaml(near)));
    }
    match (field.kind, value) {
        (FieldKind::Boolean, Value::String(text)) if matches!(text.trim(), "true" | "false") => {
            Some(format!("write it without quotes: `{name}: {}`", text.trim()))
        }
        (FieldKind::Boolean, _) => Some(format!("write `{name}: true` or `{name}: false`")),
        (FieldKind::String, Value::Number(_) | Value::Bool(_)) if field.values.is_empty() => {
            let text = written.map_or_else(|| value.to_string(), str::to_owned);
            Some(format!("put it in quotes: `{name}: \"{text}\"`"))
        }
        (FieldKind::String, Value::Array(_)) if field.values.is_empty() => {
            Some(format!("write one text; `{name}: >-` joins the lines below it"))
        }
        (FieldKind::String, Value::Object(members)) if field.values.is_empty() => {
            if let Some(text) = members.get("text").and_then(Value::as_str) {
                return Some(write(&as_yaml(text)));
            }
            Some("put text with `: ` in quotes".to_owned())
        }
        (FieldKind::Array, _) => Some(format!("write each item below `{name}:`, after a dash")),
        (FieldKind::Object, _) => Some(format!("write its fields below `{name}:`, indented")),
        // A shape that nobody wrote would be wrong as likely as not.
        (FieldKind::String, _) if texts(field).any(|value| ratio_of(value).is_some()) => {
            Some(format!("write width and height, such as `{name}: \"16:9\"`"))
        }
        _ => example(field).map(|value| write(&value)),
    }
}

/// The nearest number that the field takes.
fn number_suggestion(field: &Field, value: &Value) -> Option<String> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => number_in(text),
        _ => None,
    };
    let nearest =
        number.filter(|number| number.abs() < 1e15).map(|number| match (whole_range(field), field.kind) {
            (Some((min, max)), _) => (number.round() as i64).clamp(min, max).to_string(),
            (None, FieldKind::Integer) => (number.round() as i64).to_string(),
            (None, _) => {
                number.max(field.minimum.unwrap_or(number)).min(field.maximum.unwrap_or(number)).to_string()
            }
        });
    let number = nearest.or_else(|| example(field))?;
    let line = format!("`{}: {number}`", field.name);
    // Digits in quotes, where the wire has a number.
    let only_quotes = !field.is_digit_string && value.as_str().is_some_and(|text| text.trim() == number);
    Some(if only_quotes { format!("write it without quotes: {line}") } else { format!("write {line}") })
}

/// The number at the beginning of a text such as `5`, `5s` or `5 seconds`.
fn number_in(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Some(duration) = parse_duration(text) {
        return Some(duration.as_secs_f64());
    }
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text[..end].parse().ok()
}

/// The listed value that was probably meant.
fn nearest_text<'f>(field: &'f Field, value: &Value) -> Option<&'f str> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    if texts(field).any(|value| ratio_of(value).is_some())
        && let Some(ratio) = ratio_in(&text)
    {
        return nearest_ratio(ratio, texts(field));
    }
    // `4k` is nearest to `1080p`.
    let by_lines = || {
        let target = lines_in(&text)?;
        let lines = |value: &str| value.strip_suffix('p')?.parse::<f64>().ok();
        let all = texts(field).filter_map(|value| Some((value, (lines(value)? / target).ln().abs())));
        all.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(value, _)| value)
    };
    let is_near = |value: &&str| value.eq_ignore_ascii_case(&text) || did_you_mean(&text, [*value]).is_some();
    by_lines().or_else(|| texts(field).find(is_near))
}

/// A text as a YAML scalar.
fn as_yaml(text: &str) -> String {
    if text.contains(':') { format!("\"{text}\"") } else { text.to_owned() }
}
