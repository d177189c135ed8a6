//! Times and percentages in answers, in several units.

use serde_json::Value;

/// Milliseconds since the Unix epoch, from seconds, milliseconds, microseconds or nanoseconds, as a number or a string, or from a date (RFC 3339).
/// `None` for other values, and for 0, which services send for "not yet".
pub(super) fn milliseconds(value: &Value) -> Option<i64> {
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => match text.trim().parse::<f64>() {
            Ok(number) => number,
            Err(_) => {
                return text.trim().parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond);
            }
        },
        _ => return None,
    };
    // The units are three orders of magnitude apart, so the magnitude identifies the unit: seconds below 1e11 reach the year
    // 5138, milliseconds from 1e11 on begin in 1973.
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

/// A percentage from a number or from `"37%"`.
pub(super) fn percent(value: &Value) -> Option<u8> {
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().trim_end_matches('%').trim_end().parse::<f64>().ok()?,
        _ => return None,
    };
    (!number.is_nan()).then(|| number.clamp(0.0, 100.0) as u8)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::milliseconds;

    #[test]
    fn milliseconds_from_every_unit_are_equal() {
        for sent in [
            json!(1_795_225_551),
            json!(1_795_225_551.0),
            json!("1795225551"),
            json!(1_795_225_551_000_i64),
            json!("1795225551000"),
            json!("2026-11-21T01:45:51Z"),
            json!("2026-11-21T02:45:51.000+01:00"),
            json!(1_795_225_551_000_000_i64),
            json!(1_795_225_551_000_000_000_i64),
        ] {
            assert_eq!(milliseconds(&sent), Some(1_795_225_551_000), "{sent}");
        }
        for sent in [json!(0), json!(-1), json!(null), json!("soon"), json!(1e30), json!("NaN"), json!([])] {
            assert_eq!(milliseconds(&sent), None, "{sent}");
        }
    }
}
