//! What a service reports of its own limit on requests: the `RateLimit` header of draft-ietf-httpapi-ratelimit-headers, the separate headers
//! of its earlier versions, and the `X-` ones that services send.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::header::HeaderMap;

use super::time::milliseconds;

/// Upper bound of the time until the reset.
const MAX_RESET: Duration = Duration::from_hours(24);
/// Larger numbers are times since the Unix epoch, in any unit.
const MIN_EPOCH: f64 = 1e9;
/// Pairs of headers with the remaining requests and the time until the reset.
const PAIRS: [(&str, &str); 3] = [
    ("ratelimit-remaining", "ratelimit-reset"),
    ("x-ratelimit-remaining", "x-ratelimit-reset"),
    ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
];

/// The requests that a service accepts until a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimit {
    /// Requests that it accepts until the reset.
    pub remaining: u32,
    /// Time until the reset, at most a day.
    pub reset: Duration,
}

impl RateLimit {
    /// From the headers of a response that arrived at `now`. `None` where they do not say both.
    pub(crate) fn read(headers: &HeaderMap, now: SystemTime) -> Option<Self> {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        if let Some(limit) = text("ratelimit").and_then(one_header) {
            return Some(limit);
        }
        PAIRS.iter().find_map(|(remaining, reset)| {
            Some(Self {
                remaining: text(remaining)?.trim().parse().ok()?,
                reset: time_until_reset(text(reset)?.trim(), now)?,
            })
        })
    }
}

/// `"name";r=50;t=30`, or `limit=100, remaining=50, reset=30` in versions up to the seventh. Of several limits, the one that is used up first.
fn one_header(text: &str) -> Option<RateLimit> {
    let number = |parameters: &str, name: &str| {
        parameters.split([';', ',']).find_map(|part| {
            let (key, value) = part.split_once('=')?;
            (key.trim() == name).then(|| value.trim().parse::<u32>().ok())?
        })
    };
    let limit = |text: &str, remaining, reset| {
        let reset = Duration::from_secs(u64::from(number(text, reset)?)).min(MAX_RESET);
        Some(RateLimit { remaining: number(text, remaining)?, reset })
    };
    let listed = text.split(',').filter_map(|item| limit(item, "r", "t"));
    listed.min_by_key(|limit| limit.remaining).or_else(|| limit(text, "remaining", "reset"))
}

/// Seconds, a time since the Unix epoch, or a duration such as `6m0s` or `250ms`.
fn time_until_reset(text: &str, now: SystemTime) -> Option<Duration> {
    let seconds = match text.parse::<f64>() {
        Ok(seconds) if !seconds.is_finite() => return None,
        Ok(number) if number >= MIN_EPOCH => {
            milliseconds(&number.into())? as f64 / 1e3 - now.duration_since(UNIX_EPOCH).ok()?.as_secs_f64()
        }
        Ok(seconds) => seconds,
        Err(_) => units(text)?,
    };
    let reset = Duration::try_from_secs_f64(seconds.max(0.0)).ok();
    reset.map(|reset| reset.min(MAX_RESET))
}

/// The seconds of a duration with units.
fn units(text: &str) -> Option<f64> {
    let (mut seconds, mut rest) = (0.0, text);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(digits);
        let letters = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, next) = after.split_at(letters);
        let factor = match unit {
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3_600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        seconds += number.parse::<f64>().ok()? * factor;
        rest = next;
    }
    (!text.is_empty()).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderName;

    use super::*;

    fn read(headers: &[(&str, &str)]) -> Option<(u32, Duration)> {
        let now = UNIX_EPOCH + Duration::from_hours(500_000);
        let headers = headers.iter().map(|(name, value)| {
            (name.parse::<HeaderName>().expect("a name"), value.parse().expect("a value"))
        });
        RateLimit::read(&headers.collect(), now).map(|limit| (limit.remaining, limit.reset))
    }

    #[test]
    fn rate_limit_is_read_from_every_form() {
        let seconds = Duration::from_secs;
        for (headers, expected) in [
            (&[("RateLimit", "\"default\";r=50;t=30")] as &[_], (50, seconds(30))),
            (&[("RateLimit", "\"day\";r=900;t=7200, \"second\";r=3;t=1")], (3, seconds(1))),
            (&[("RateLimit", "limit=100, remaining=50, reset=5")], (50, seconds(5))),
            (&[("RateLimit-Remaining", "0"), ("RateLimit-Reset", "7")], (0, seconds(7))),
            (&[("X-RateLimit-Remaining", "4"), ("X-RateLimit-Reset", "1800000060")], (4, seconds(60))),
            (&[("X-RateLimit-Remaining", "4"), ("X-RateLimit-Reset", "1800000060000")], (4, seconds(60))),
            (&[("X-RateLimit-Remaining", "4"), ("X-RateLimit-Reset", "1700000000")], (4, seconds(0))),
            (
                &[("x-ratelimit-remaining-requests", "59"), ("x-ratelimit-reset-requests", "6m0.5s")],
                (59, Duration::from_millis(360_500)),
            ),
            (&[("RateLimit-Remaining", "0"), ("RateLimit-Reset", "9000000")], (0, MAX_RESET)),
        ] {
            assert_eq!(read(headers), Some(expected), "{headers:?}");
        }
    }

    #[test]
    fn incomplete_and_malformed_headers_say_nothing() {
        for headers in [
            &[] as &[_],
            &[("RateLimit", "\"default\";r=50")],
            &[("RateLimit", "soon")],
            &[("RateLimit-Remaining", "3")],
            &[("RateLimit-Remaining", "-1"), ("RateLimit-Reset", "7")],
            &[("RateLimit-Remaining", "3"), ("RateLimit-Reset", "NaN")],
            &[("X-RateLimit-Remaining", "3"), ("X-RateLimit-Reset", "5 parsecs")],
            &[("X-RateLimit-Remaining", "3"), ("X-RateLimit-Reset", "")],
        ] {
            assert_eq!(read(headers), None, "{headers:?}");
        }
    }
}
