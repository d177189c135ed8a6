//! Durations as people write them: the "friendly" format of jiff.

use std::time::Duration;

use jiff::fmt::friendly::SpanParser;

static PARSER: SpanParser = SpanParser::new();

/// A duration such as `90s`, `10m`, `1h30m`, `2 hours, 5 min` or `01:30:00`; `None` if the text is not one, or zero.
#[must_use]
pub(crate) fn parse_duration(text: &str) -> Option<Duration> {
    PARSER.parse_unsigned_duration(text.trim()).ok().filter(|duration| !duration.is_zero())
}

/// The duration that was probably meant by a text that is none, and how to write it: `1h30` without its last unit, `PT20M` (ISO 8601), `30M`,
/// `1:30`, `2d`, `-5m`.
#[must_use]
pub(crate) fn suggested_duration(text: &str) -> Option<(String, Duration)> {
    let text = text.trim().to_ascii_lowercase();
    let bare = text.strip_prefix("pt").unwrap_or(&text).trim_start_matches(['-', '+', ' ']);
    let has_unit = bare.contains(|c: char| c.is_alphabetic());
    let with_unit = |unit| has_unit.then(|| format!("{bare}{unit}"));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit());
    let clock = bare.split_once(':').filter(|(minutes, seconds)| is_number(minutes) && is_number(seconds));
    let clock = clock.map(|(minutes, seconds)| format!("{minutes}m{seconds}s"));
    let days = bare.trim_end_matches(|c: char| c.is_alphabetic() || c == ' ');
    let hours = days.parse::<u32>().ok().filter(|_| bare[days.len()..].trim_start().starts_with('d'));
    let hours = hours.map(|days| format!("{}h", u64::from(days) * 24));
    [Some(bare.to_owned()), with_unit("m"), with_unit("s"), clock, hours]
        .into_iter()
        .flatten()
        .find_map(|suggestion| parse_duration(&suggestion).map(|duration| (suggestion, duration)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_parsed_or_refused() {
        for (text, seconds) in [
            ("10m", 600.0),
            ("1h30m", 5_400.0),
            (" 1h 30m ", 5_400.0),
            ("1.5s", 1.5),
            ("90 s", 90.0),
            ("2 hours, 5 min", 7_500.0),
            ("01:30:00", 5_400.0),
        ] {
            assert_eq!(parse_duration(text), Some(Duration::from_secs_f64(seconds)), "{text}");
        }
        for wrong in
            ["", "10", "m", "0s", "5s5s", "1m1h", "-1s", "1s ago", "1x", "1..5s", "inf", "1d", "1 month"]
        {
            assert_eq!(parse_duration(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn duration_meant_is_what_was_probably_meant() {
        for (text, suggestion) in [
            ("1h30", "1h30m"),
            ("1h 30", "1h 30m"),
            ("1m30", "1m30s"),
            ("PT20M", "20m"),
            ("pt1h30m", "1h30m"),
            ("30M", "30m"),
            ("-5m", "5m"),
            ("+ 5m", "5m"),
            ("1:30", "1m30s"),
            ("2d", "48h"),
            ("2 days", "48h"),
            ("400h30", "400h30m"),
        ] {
            let suggested = suggested_duration(text).map(|(suggestion, _)| suggestion);
            assert_eq!(suggested.as_deref(), Some(suggestion), "{text}");
        }
        for nothing in ["", "soon", "-", "pt", "d", "0s", "30x", "1:", ":30", "99999999999d", "1 month", "é"]
        {
            assert_eq!(suggested_duration(nothing), None, "{nothing}");
        }
    }
}
