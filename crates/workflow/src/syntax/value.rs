//! Typed values: readers that report a value of another kind at its span and go on.

use std::time::Duration;

use super::keys::{KeySpec, Shape};
use super::plain_name;
use crate::diagnostic::{Diagnostic, Problems, nearest};
use crate::duration::parse_duration;
use crate::limits;
use crate::source::{Span, Spanned};
use crate::yaml::{Yaml, YamlValue};

/// Reports a value that its key does not accept, with help. `fallback` is the span to use if the value is empty.
pub(crate) fn report_wrong_type(key: &KeySpec, value: &Yaml, fallback: Span, problems: &mut Problems) {
    problems.push(
        Diagnostic::error(
            "wrong-type",
            value.span.or(fallback),
            format!("`{}` must be {}", key.name, key.shape),
        )
        .label(format!("this is {}", value.kind()))
        .help(suggestion(key, key.shape, value)),
    );
}

/// The line of YAML that was probably meant, which the key accepts; else an example of one. `shape` has the bounds that hold here.
fn suggestion(key: &KeySpec, shape: Shape, value: &Yaml) -> String {
    let name = key.name;
    let written = value.text().map_or_else(|| value.to_json().to_string(), str::to_owned);
    let is_quoted = value.text().is_some_and(|text| value.span.end() - value.span.start() > text.len());
    match (&value.value, shape) {
        (YamlValue::Number(_) | YamlValue::Bool(_), Shape::Text | Shape::Prose | Shape::FileName) => {
            format!("put it in quotes: `{name}: \"{written}\"`")
        }
        (YamlValue::Number(_) | YamlValue::Bool(_), Shape::Name) if plain_name(&written).is_ok() => {
            format!("put it in quotes: `{name}: \"{written}\"`")
        }
        (YamlValue::Text(_) | YamlValue::Number(_), Shape::Count { max }) => {
            count_suggestion(key, max, &written, is_quoted)
        }
        (YamlValue::Text(_) | YamlValue::Number(_), Shape::Retry) => {
            count_suggestion(key, limits::MAX_ATTEMPTS, &written, is_quoted)
        }
        (YamlValue::Text(text), Shape::Number | Shape::Seconds { .. })
            if is_quoted && text.parse::<f64>().is_ok_and(f64::is_finite) =>
        {
            format!("write it without quotes: `{name}: {text}`")
        }
        (YamlValue::Text(text), Shape::Flag) if is_quoted && matches!(text.as_str(), "true" | "false") => {
            format!("write it without quotes: `{name}: {text}`")
        }
        (_, Shape::Flag) => format!("write `{name}: true` or `{name}: false`"),
        (YamlValue::Text(_) | YamlValue::Number(_), Shape::Choice(values))
            if let Some(choice) = nearest(&written, values()) =>
        {
            format!("write `{name}: {choice}`")
        }
        _ => format!("write `{}`", key.example()),
    }
}

/// The whole number within the bounds that is nearest to what is written.
fn count_suggestion(key: &KeySpec, max: u64, written: &str, is_quoted: bool) -> String {
    let name = key.name;
    match written.parse::<f64>() {
        Ok(number) if number < 1.0 => format!("the least is `{name}: 1`"),
        Ok(number) if number > max as f64 => format!("the most is `{name}: {max}`"),
        Ok(number) if is_quoted && number.fract() == 0.0 => {
            format!("write it without quotes: `{name}: {number}`")
        }
        Ok(number) => format!("write a whole number, such as `{name}: {}`", number.trunc()),
        Err(_) => format!("write `{}`", key.example()),
    }
}

/// Whether a duration is within the bounds of those that a workflow has.
fn is_timeout(duration: Duration) -> bool {
    !duration.is_zero() && duration <= Duration::from_secs(limits::MAX_TIMEOUT_SECONDS)
}

pub(crate) fn expect_text(
    value: &Yaml,
    key: &KeySpec,
    fallback: Span,
    problems: &mut Problems,
) -> Option<Spanned<String>> {
    if let YamlValue::Text(text) = &value.value {
        return Some(Spanned::new(text.clone(), value.span));
    }
    report_wrong_type(key, value, fallback, problems);
    None
}

/// A whole number within the bounds that the key states.
pub(crate) fn expect_count(
    value: &Yaml,
    key: &KeySpec,
    fallback: Span,
    problems: &mut Problems,
) -> Option<u32> {
    match key.shape {
        Shape::Count { max } => expect_count_to(max, value, key, fallback, problems),
        Shape::Retry => expect_count_to(limits::MAX_ATTEMPTS, value, key, fallback, problems),
        _ => {
            debug_assert!(false, "`{}` is not a count", key.name);
            None
        }
    }
}

/// A whole number from 1 to a bound.
fn expect_count_to(
    max: u64,
    value: &Yaml,
    key: &KeySpec,
    fallback: Span,
    problems: &mut Problems,
) -> Option<u32> {
    let number = match &value.value {
        YamlValue::Number(number) => number.as_u64(),
        _ => None,
    };
    if let Some(number) = number.filter(|number| (1..=max).contains(number)) {
        return u32::try_from(number).ok();
    }
    let shape = match key.shape {
        Shape::Count { .. } => Shape::Count { max },
        shape => shape,
    };
    let mut diagnostic =
        Diagnostic::error("wrong-type", value.span.or(fallback), format!("`{}` must be {shape}", key.name));
    if !matches!(value.value, YamlValue::Number(_)) {
        diagnostic = diagnostic.label(format!("this is {}", value.kind()));
    }
    problems.push(diagnostic.help(suggestion(key, shape, value)));
    None
}

/// `true` or `false`.
pub(crate) fn expect_flag(
    value: &Yaml,
    key: &KeySpec,
    fallback: Span,
    problems: &mut Problems,
) -> Option<bool> {
    if let YamlValue::Bool(truth) = &value.value {
        return Some(*truth);
    }
    report_wrong_type(key, value, fallback, problems);
    None
}

/// One of the choices of a key.
pub(crate) fn expect_choice<T: Copy>(
    value: &Yaml,
    key: &KeySpec,
    choices: &[(&'static str, T)],
    fallback: Span,
    problems: &mut Problems,
) -> Option<T> {
    let choice = value.text().and_then(|text| choices.iter().find(|(name, _)| *name == text));
    if choice.is_none() {
        report_wrong_type(key, value, fallback, problems);
    }
    choice.map(|(_, choice)| *choice)
}

/// Seconds as a number, in whole microseconds, within the bounds of the key.
pub(crate) fn expect_seconds(
    value: &Yaml,
    key: &KeySpec,
    fallback: Span,
    problems: &mut Problems,
) -> Option<Duration> {
    let seconds = match (&value.value, key.shape) {
        (YamlValue::Number(number), Shape::Seconds { max }) => {
            number.as_f64().filter(|seconds| *seconds <= max as f64)
        }
        _ => None,
    };
    let micros = seconds.map(|seconds| (seconds * 1e6).round()).filter(|micros| *micros >= 1.0);
    if micros.is_none() {
        report_wrong_type(key, value, fallback, problems);
    }
    micros.map(|micros| Duration::from_micros(micros as u64))
}

/// Seconds as a number, or text such as `90s`, `10m`, `1h30m`.
pub(crate) fn expect_duration(
    value: &Yaml,
    key: &KeySpec,
    fallback: Span,
    problems: &mut Problems,
) -> Option<Duration> {
    let duration = match &value.value {
        YamlValue::Number(number) => {
            number.as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        }
        YamlValue::Text(text) => parse_duration(text),
        _ => None,
    };
    if let Some(duration) = duration.filter(|duration| is_timeout(*duration)) {
        return Some(duration);
    }
    problems.push(
        Diagnostic::error(
            "bad-duration",
            value.span.or(fallback),
            format!("`{}` must be {}", key.name, key.shape),
        )
        .label(format!("this is {}", value.kind()))
        .help(match duration {
            Some(duration) if !duration.is_zero() => format!("a week at most: `{}: 168h`", key.name),
            _ => format!("write `{}`", key.example()),
        }),
    );
    None
}

/// The items of a list; a single value stands for a list of one.
pub(crate) fn one_or_many(value: &Yaml) -> &[Yaml] {
    match &value.value {
        YamlValue::List(items) => items,
        _ => std::slice::from_ref(value),
    }
}
