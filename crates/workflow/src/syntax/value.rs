//! Typed values: readers that report a value of another kind at its span and go on.

use std::time::Duration;

use super::keys::{KeySpec, Shape, nothing};
use super::plain_name;
use crate::diagnostic::{Diagnostic, Problems, nearest};
use crate::digit_groups::without_grouping;
use crate::duration::{parse_duration, suggested_duration};
use crate::letters::name_slug;
use crate::limits;
use crate::picture_size;
use crate::source::{Span, Spanned};
use crate::truth_words::suggested_truth;
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
    if let Some(help) = nothing(name, value) {
        return help;
    }
    match (&value.value, shape) {
        (YamlValue::Number(_) | YamlValue::Bool(_), Shape::Name)
            if plain_name(&scalar_text(value)).is_err() =>
        {
            let slug = name_slug(&scalar_text(value));
            if plain_name(&slug).is_ok() {
                format!("write `{name}: \"{slug}\"`")
            } else {
                format!("write `{}`", key.example)
            }
        }
        (YamlValue::Number(number), Shape::Text | Shape::Prose | Shape::Name | Shape::FileName) => {
            format!("put it in quotes: `{name}: \"{number}\"`")
        }
        (YamlValue::Bool(truth), Shape::Text | Shape::Prose | Shape::Name) => {
            format!("put it in quotes: `{name}: \"{truth}\"`")
        }
        (YamlValue::Text(text), Shape::Number | Shape::Seconds { .. })
            if let Some(number) = plain_number(text) =>
        {
            format!("write{} `{name}: {number}`", without_quotes(text, value))
        }
        (YamlValue::Text(_) | YamlValue::Number(_), Shape::Count { max }) => {
            count_suggestion(key, max, value)
        }
        (YamlValue::Text(_) | YamlValue::Number(_), Shape::Retry) => {
            count_suggestion(key, limits::MAX_ATTEMPTS, value)
        }
        (YamlValue::Text(_) | YamlValue::Number(_), Shape::FrameSize) => size_suggestion(key, value),
        (YamlValue::Text(text), Shape::Flag) => match text.to_ascii_lowercase().as_str() {
            truth @ ("true" | "false") => format!("write{} `{name}: {truth}`", without_quotes(text, value)),
            _ => match suggested_truth(name, text) {
                Some(truth) => format!("write `{name}: {truth}`: in YAML 1.2 `{text}` is text"),
                None => format!("write `{name}: true` or `{name}: false`"),
            },
        },
        (YamlValue::Number(number), Shape::Flag)
            if let Some(truth) = suggested_truth(name, &number.to_string()) =>
        {
            format!("write `{name}: {truth}`")
        }
        (_, Shape::Flag) => format!("write `{name}: true` or `{name}: false`"),
        (YamlValue::Text(_) | YamlValue::Number(_), Shape::Choice(values))
            if let Some(choice) = nearest(&scalar_text(value), values()) =>
        {
            format!("write `{name}: {choice}`")
        }
        (YamlValue::Text(_) | YamlValue::Number(_) | YamlValue::Bool(_), Shape::Choice(values)) => {
            let choices: Vec<String> =
                values().into_iter().map(|choice| format!("`{name}: {choice}`")).collect();
            format!("write {}", choices.join(" or "))
        }
        (YamlValue::List(items), Shape::Text | Shape::Prose | Shape::Name | Shape::Id | Shape::ShotRef)
            if matches!(items.as_slice(), [Yaml { value: YamlValue::Text(_), .. }]) =>
        {
            let only = items.first().and_then(Yaml::text).unwrap_or_default();
            format!("write it without the list: `{name}: {only}`")
        }
        _ => format!("write `{}`", key.example),
    }
}

/// A whole number within the bounds that is close to what is written, else the bound that it is beyond.
fn count_suggestion(key: &KeySpec, max: u64, value: &Yaml) -> String {
    let name = key.name;
    let (number, without_quotes) = match &value.value {
        YamlValue::Number(number) => (number.as_f64(), ""),
        YamlValue::Text(text) => match plain_number(text) {
            Some(number) => (number.parse().ok(), without_quotes(text, value)),
            // `2x`, `3 takes`.
            None => (count_in(text).map(f64::from), ""),
        },
        _ => (None, ""),
    };
    match number {
        Some(number) if number < 1.0 => format!("the least is `{name}: 1`"),
        Some(number) if number > max as f64 => format!("the most is `{name}: {max}`"),
        Some(number) if number.fract() == 0.0 => format!("write{without_quotes} `{name}: {number}`"),
        Some(number) => format!("write a whole number, such as `{name}: {}`", number.trunc()),
        None => format!("write `{}`", key.example),
    }
}

/// Says that the quotes around a text are wrong, if there are some: a number with leading zeros is text without them, too.
fn without_quotes(text: &str, value: &Yaml) -> &'static str {
    let is_quoted = value.span.end() - value.span.start() > text.len();
    if is_quoted { " it without quotes:" } else { "" }
}

/// The size that was meant, if a film can have it.
fn size_suggestion(key: &KeySpec, value: &Yaml) -> String {
    let text = scalar_text(value);
    match picture_size::suggested_size(&text).map(|(width, height)| (width & !1, height & !1)) {
        Some((width, height)) if width.max(height) <= limits::MAX_FILM_SIDE => {
            format!("write `{}: {width}x{height}`", key.name)
        }
        None if !text.contains(|c: char| c.is_ascii_digit()) => format!("write `{}`", key.example),
        _ => format!(
            "each side is an even number from 16 to {}: write `{}`",
            limits::MAX_FILM_SIDE,
            key.example
        ),
    }
}

/// The text of a scalar.
fn scalar_text(value: &Yaml) -> String {
    value.text().map_or_else(|| value.to_json().to_string(), str::to_owned)
}

/// The whole number that a text begins with, before a unit.
fn count_in(text: &str) -> Option<u32> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let is_unit = text[end..].trim_start().chars().all(|c| c.is_alphabetic() || c == '×');
    text[..end].parse().ok().filter(|number| *number > 0 && is_unit)
}

/// Whether a duration is within the bounds of those that a workflow has.
fn is_timeout(duration: Duration) -> bool {
    !duration.is_zero() && duration <= Duration::from_secs(limits::MAX_TIMEOUT_SECONDS)
}

/// The number in a text, as YAML writes it.
fn plain_number(text: &str) -> Option<String> {
    let number = without_grouping(text).unwrap_or_else(|| text.to_owned());
    let number = number.trim().parse::<f64>().ok().filter(|number| number.is_finite())?;
    Some(number.to_string())
}

/// Text.
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

/// A whole number from 1 to a bound that is lower than the key's own, such as the takes that a shot has.
pub(crate) fn expect_count_to(
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
    let number = value.text().and_then(plain_number).filter(|number| {
        let seconds = number.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        seconds.is_some_and(is_timeout)
    });
    let suggestion = match duration {
        Some(duration) => Some((String::new(), duration)),
        None => value.text().and_then(suggested_duration),
    };
    problems.push(
        Diagnostic::error(
            "bad-duration",
            value.span.or(fallback),
            format!("`{}` must be {}", key.name, key.shape),
        )
        .label(format!("this is {}", value.kind()))
        .help(match suggestion {
            _ if let Some(help) = nothing(key.name, value) => help,
            _ if let Some(number) = number => format!("write it without quotes: `{}: {number}`", key.name),
            Some((suggestion, duration)) if is_timeout(duration) => {
                format!("write `{}: {suggestion}`", key.name)
            }
            Some((_, duration)) if !duration.is_zero() => format!("a week at most: `{}: 168h`", key.name),
            _ => format!("write `{}`", key.example),
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
