//! Times as services send them.

use std::time::{Duration, SystemTime};

use serde_json::Value;

/// Waits longer than this are cut: a service that asks for more is asking to be given up.
const LONGEST_WAIT: Duration = Duration::from_hours(24);

/// Milliseconds since the epoch, from seconds, milliseconds, microseconds or nanoseconds, as numbers or digits. `None` for
/// what is no time; 0 is what services send for "not yet".
pub(super) fn milliseconds(value: &Value) -> Option<i64> {
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse::<f64>().ok()?,
        _ => return None,
    };
    // The units are three orders of magnitude apart, and so are the years they make of one number: seconds below 1e11
    // reach the year 5138, milliseconds from 1e11 on begin in 1973.
    let milliseconds = match number {
        n if !n.is_finite() || n <= 0.0 => return None,
        n if n < 1e11 => n * 1e3,
        n if n < 1e14 => n,
        n if n < 1e17 => n / 1e3,
        n if n < 1e20 => n / 1e6,
        _ => return None,
    };
    Some(milliseconds.round() as i64)
}

/// `Retry-After`, in seconds or as a date; a date counts from the service's own clock where it sent one.
pub(crate) fn retry_after(header: Option<&str>, date: Option<&str>, now: SystemTime) -> Option<Duration> {
    let header = header?.trim();
    if let Ok(seconds) = header.parse::<f64>() {
        let wait = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(LONGEST_WAIT);
        return (!seconds.is_nan()).then_some(wait.min(LONGEST_WAIT));
    }
    let until = httpdate::parse_http_date(header).ok()?;
    let now = date.and_then(|date| httpdate::parse_http_date(date).ok()).unwrap_or(now);
    Some(until.duration_since(now).unwrap_or_default().min(LONGEST_WAIT))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use serde_json::json;

    use super::{milliseconds, retry_after};

    #[test]
    fn every_unit_gives_the_same_time() {
        for sent in [
            json!(1_795_225_551),
            json!(1_795_225_551.0),
            json!("1795225551"),
            json!(1_795_225_551_000_i64),
            json!("1795225551000"),
            json!(1_795_225_551_000_000_i64),
            json!(1_795_225_551_000_000_000_i64),
        ] {
            assert_eq!(milliseconds(&sent), Some(1_795_225_551_000), "{sent}");
        }
        for sent in [json!(0), json!(-1), json!(null), json!("soon"), json!(1e30), json!("NaN"), json!([])] {
            assert_eq!(milliseconds(&sent), None, "{sent}");
        }
    }

    #[test]
    fn waits_are_read_from_seconds_and_dates() {
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
