//! What a value has to be: readers that report anything else at its fallback and go on.

use std::time::Duration;

use crate::diagnostic::{Diagnostic, Problems};
use crate::limits;
use crate::source::{Span, Spanned};
use crate::yaml::{Yaml, YamlValue};

fn report_wrong_type(problems: &mut Problems, value: &Yaml, fallback: Span, what: &str, wanted: &str) {
    problems.push(
        Diagnostic::error("wrong-type", value.span.or(fallback), format!("`{what}` is {wanted}"))
            .label(format!("this is {}", value.kind())),
    );
}

/// Text.
pub(crate) fn expect_text(
    value: &Yaml,
    what: &str,
    fallback: Span,
    problems: &mut Problems,
) -> Option<Spanned<String>> {
    if let YamlValue::Text(text) = &value.value {
        return Some(Spanned::new(text.clone(), value.span));
    }
    if let YamlValue::Number(number) = &value.value {
        problems.push(
            Diagnostic::error("wrong-type", value.span, format!("`{what}` is text"))
                .label("this is a number")
                .help(format!("put it in quotes: \"{number}\"")),
        );
        return None;
    }
    report_wrong_type(problems, value, fallback, what, "text");
    None
}

/// A whole number from 1 up to a bound.
pub(crate) fn expect_count(
    value: &Yaml,
    what: &str,
    max: u64,
    fallback: Span,
    problems: &mut Problems,
) -> Option<u32> {
    let number = match &value.value {
        YamlValue::Number(number) => number.as_u64(),
        _ => None,
    };
    match number {
        Some(number) if (1..=max).contains(&number) => u32::try_from(number).ok(),
        _ => {
            let mut diagnostic = Diagnostic::error(
                "wrong-type",
                value.span.or(fallback),
                format!("`{what}` is a whole number from 1 to {max}"),
            );
            if !matches!(value.value, YamlValue::Number(_)) {
                diagnostic = diagnostic.label(format!("this is {}", value.kind()));
            }
            problems.push(diagnostic);
            None
        }
    }
}

/// The items of a list; a single value stands for a list of one.
pub(crate) fn one_or_many(value: &Yaml) -> &[Yaml] {
    match &value.value {
        YamlValue::List(items) => items,
        _ => std::slice::from_ref(value),
    }
}

/// Seconds as a number, or text such as `90s`, `10m`, `1h30m`.
pub(crate) fn expect_duration(
    value: &Yaml,
    what: &str,
    fallback: Span,
    problems: &mut Problems,
) -> Option<Duration> {
    let seconds = match &value.value {
        YamlValue::Number(number) => number.as_f64().filter(|seconds| *seconds > 0.0),
        YamlValue::Text(text) => parse_duration(text),
        _ => None,
    };
    match seconds {
        Some(seconds) if seconds <= limits::MAX_TIMEOUT_SECONDS as f64 => {
            Duration::try_from_secs_f64(seconds).ok()
        }
        _ => {
            problems.push(
                Diagnostic::error(
                    "bad-duration",
                    value.span.or(fallback),
                    format!("`{what}` is a length of time"),
                )
                .help("write seconds as a number, or `90s`, `10m`, `1h30m`; a week at most"),
            );
            None
        }
    }
}

fn parse_duration(text: &str) -> Option<f64> {
    let mut rest = text.trim();
    let mut seconds = 0.0;
    let mut last_unit = f64::INFINITY;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        let (unit, length) = match rest[digits..].chars().next()? {
            'h' => (3_600.0, 1),
            'm' => (60.0, 1),
            's' => (1.0, 1),
            _ => return None,
        };
        if unit >= last_unit {
            return None;
        }
        last_unit = unit;
        seconds += number * unit;
        rest = rest[digits + length..].trim_start();
    }
    (seconds > 0.0).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::parse_duration;

    #[test]
    fn durations_are_read_or_refused() {
        assert_eq!(parse_duration("10m"), Some(600.0));
        assert_eq!(parse_duration("1h30m"), Some(5_400.0));
        assert_eq!(parse_duration("1.5s"), Some(1.5));
        for wrong in ["", "10", "m", "0s", "5s5s", "1m1h", "-1s", "1x", "1..5s", "inf"] {
            assert_eq!(parse_duration(wrong), None, "{wrong}");
        }
    }
}
