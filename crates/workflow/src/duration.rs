//! Durations as people write them: the "friendly" format of jiff.

use std::time::Duration;

use jiff::fmt::friendly::SpanParser;

static PARSER: SpanParser = SpanParser::new();

/// A duration such as `90s`, `10m`, `1h30m`, `2 hours, 5 min` or `01:30:00`; `None` if the text is not one, or zero.
pub(crate) fn parse_duration(text: &str) -> Option<Duration> {
    PARSER.parse_unsigned_duration(text.trim()).ok().filter(|duration| !duration.is_zero())
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
}
