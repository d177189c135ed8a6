//! How long a response asks to wait.

use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;

/// Upper bound on `Retry-After`.
const MAX_RETRY_AFTER: Duration = Duration::from_hours(24);

/// How long the response to a poll asks to wait before the next one: `openai-poll-after-ms`, or else `Retry-After`.
pub(crate) fn poll_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name)?.to_str().ok();
    let milliseconds = text("openai-poll-after-ms").and_then(|text| text.trim().parse().ok());
    let retry_after = || retry_after(text("retry-after"), text("date"), SystemTime::now());
    milliseconds.map(Duration::from_millis).or_else(retry_after)
}

/// `Retry-After` in seconds or as a date (RFC 9110, section 10.2.3). A date is relative to the response's `Date`, if present.
pub(crate) fn retry_after(header: Option<&str>, date: Option<&str>, now: SystemTime) -> Option<Duration> {
    let header = header?.trim();
    if let Ok(seconds) = header.parse::<f64>() {
        let wait = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(MAX_RETRY_AFTER);
        return (!seconds.is_nan()).then_some(wait.min(MAX_RETRY_AFTER));
    }
    let until = httpdate::parse_http_date(header).ok()?;
    let now = date.and_then(|date| httpdate::parse_http_date(date).ok()).unwrap_or(now);
    Some(until.duration_since(now).unwrap_or_default().min(MAX_RETRY_AFTER))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use reqwest::header::{HeaderMap, HeaderValue};

    use super::{poll_after, retry_after};

    #[test]
    fn poll_after_is_read_from_both_headers() {
        let wait = |headers: &[(&'static str, &'static str)]| {
            let headers = headers
                .iter()
                .map(|(name, value)| (name.parse().expect("a name"), HeaderValue::from_static(value)));
            poll_after(&headers.collect::<HeaderMap>())
        };
        let (milliseconds, seconds) = (("openai-poll-after-ms", "2500"), ("retry-after", "7"));
        assert_eq!(wait(&[seconds, milliseconds]), Some(Duration::from_millis(2_500)));
        assert_eq!(wait(&[seconds, ("openai-poll-after-ms", "soon")]), Some(Duration::from_secs(7)));
        assert_eq!(wait(&[]), None);
    }

    #[test]
    fn retry_after_reads_seconds_and_dates() {
        let now = SystemTime::UNIX_EPOCH;
        let wait = |header, date| retry_after(Some(header), date, now);
        assert_eq!(wait("30", None), Some(Duration::from_secs(30)));
        assert_eq!(wait(" 1.5 ", None), Some(Duration::from_millis(1500)));
        assert_eq!(wait("-3", None), Some(Duration::ZERO));
        assert_eq!(wait("1e300", None), Some(Duration::from_hours(24)));
        let (later, earlier) = ("Sat, 21 Nov 2026 02:00:30 GMT", "Sat, 21 Nov 2026 02:00:00 GMT");
        assert_eq!(wait(later, Some(earlier)), Some(Duration::from_secs(30)));
        assert_eq!(wait(earlier, Some(later)), Some(Duration::ZERO));
        for odd in ["", "soon", "NaN"] {
            assert_eq!(wait(odd, None), None, "{odd}");
        }
        assert_eq!(retry_after(None, None, now), None);
    }
}
