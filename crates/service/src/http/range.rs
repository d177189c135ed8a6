//! Range and conditional requests for a file: `Range`, `If-Range`, `If-None-Match`, `If-Modified-Since` (RFC 9110,
//! sections 13 and 14).
//!
//! Own code, because the libraries deviate: `tower-http`'s `ServeFile` ignores `If-Range`, derives its `ETag` from size and
//! modification time, and answers several ranges with 416; `http-range-header` and `headers` reject or drop valid ranges
//! (a suffix longer than the file, a last position beyond 64 bits), and `headers` takes any later date in `If-Range`.

use std::{ops::RangeInclusive, time::SystemTime};

use axum::http::{HeaderMap, HeaderName, Method, header};

/// The part of a file to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FileRange {
    /// The whole file.
    Whole,
    /// These bytes, within the file: 206.
    Part(RangeInclusive<u64>),
    /// The range is outside the file: 416.
    Unsatisfiable,
    /// Nothing, the client's copy is current: 304.
    NotModified,
}

/// Evaluates request headers for a file of this length, entity tag (with quotes) and modification time.
pub(super) fn select_range(
    method: &Method,
    headers: &HeaderMap,
    length: u64,
    etag: &str,
    modified: SystemTime,
) -> FileRange {
    if not_modified(headers, etag, modified) {
        return FileRange::NotModified;
    }
    let Some(range) = text(headers, &header::RANGE) else { return FileRange::Whole };
    // Ranges are defined for GET only; the other method here is HEAD.
    if method != Method::GET || !same_file(headers, etag, modified) {
        return FileRange::Whole;
    }
    part(range, length)
}

fn not_modified(headers: &HeaderMap, etag: &str, modified: SystemTime) -> bool {
    if headers.contains_key(header::IF_NONE_MATCH) {
        // Weak comparison: `W/` is ignored.
        return headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok()).any(
            |value| {
                value.split(',').map(str::trim).any(|tag| tag == "*" || tag.trim_start_matches("W/") == etag)
            },
        );
    }
    date(headers, &header::IF_MODIFIED_SINCE).is_some_and(|since| seconds(modified) <= seconds(since))
}

/// Whether `If-Range`, if present, matches this file.
fn same_file(headers: &HeaderMap, etag: &str, modified: SystemTime) -> bool {
    match text(headers, &header::IF_RANGE) {
        None => !headers.contains_key(header::IF_RANGE),
        Some(value) if value.starts_with('"') || value.starts_with("W/") => value == etag,
        Some(_) => date(headers, &header::IF_RANGE).is_some_and(|date| seconds(date) == seconds(modified)),
    }
}

/// A single byte range. Several ranges, another unit and malformed values give the whole file, as the RFC allows.
fn part(range: &str, length: u64) -> FileRange {
    let Some(("bytes", set)) = range.split_once('=').map(|(unit, set)| (unit.trim(), set.trim())) else {
        return FileRange::Whole;
    };
    let Some((first, last)) = set.split_once('-').filter(|_| !set.contains(',')) else {
        return FileRange::Whole;
    };
    let number = |text: &str| -> Option<u64> {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // Numbers beyond 64 bits are beyond the end of any file.
        digits.then(|| text.parse().unwrap_or(u64::MAX))
    };
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first > last => FileRange::Whole,
        (Some(first), _) if first >= length => FileRange::Unsatisfiable,
        (Some(first), Some(last)) => FileRange::Part(first..=last.min(length - 1)),
        (Some(first), None) if last.is_empty() => FileRange::Part(first..=length - 1),
        (None, Some(0)) if first.is_empty() => FileRange::Unsatisfiable,
        (None, Some(_)) if first.is_empty() && length == 0 => FileRange::Unsatisfiable,
        (None, Some(last)) if first.is_empty() => FileRange::Part(length.saturating_sub(last)..=length - 1),
        _ => FileRange::Whole,
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok().map(str::trim),
        _ => None,
    }
}

fn date(headers: &HeaderMap, name: &HeaderName) -> Option<SystemTime> {
    httpdate::parse_http_date(text(headers, name)?).ok()
}

/// HTTP dates have whole seconds.
fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    const LATER: &str = "Sun, 06 Nov 1994 08:49:38 GMT";
    const EARLIER: &str = "Sun, 06 Nov 1994 08:49:36 GMT";

    fn select(length: u64, headers: &[(HeaderName, &str)]) -> FileRange {
        let modified = SystemTime::UNIX_EPOCH + Duration::from_millis(784_111_777_900);
        let headers = headers.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect();
        select_range(&Method::GET, &headers, length, "\"tag\"", modified)
    }

    #[test]
    fn single_ranges_are_selected() {
        let range = |text| select(10, &[(header::RANGE, text)]);
        assert_eq!(range("bytes=0-0"), FileRange::Part(0..=0));
        assert_eq!(range("bytes=2-5"), FileRange::Part(2..=5));
        assert_eq!(range("bytes=2-"), FileRange::Part(2..=9));
        assert_eq!(range("bytes=2-99"), FileRange::Part(2..=9));
        assert_eq!(range("bytes=-3"), FileRange::Part(7..=9));
        assert_eq!(range("bytes=-99"), FileRange::Part(0..=9));
        assert_eq!(range("bytes = 2-5"), FileRange::Part(2..=5));
        assert_eq!(range("bytes=0-99999999999999999999999"), FileRange::Part(0..=9));
        for beyond in ["bytes=10-", "bytes=10-12", "bytes=-0", "bytes=99999999999999999999999-"] {
            assert_eq!(range(beyond), FileRange::Unsatisfiable, "{beyond}");
        }
        for odd in [
            "bytes=5-2",
            "bytes=0-1,3-4",
            "items=0-1",
            "bytes=",
            "bytes=-",
            "bytes=a-b",
            "bytes",
            "bytes=+1-2",
        ] {
            assert_eq!(range(odd), FileRange::Whole, "{odd}");
        }
        assert_eq!(select(0, &[(header::RANGE, "bytes=0-")]), FileRange::Unsatisfiable);
        assert_eq!(select(0, &[(header::RANGE, "bytes=-1")]), FileRange::Unsatisfiable);
        assert_eq!(select(0, &[]), FileRange::Whole);
    }

    #[test]
    fn range_with_stale_if_range_is_whole_file() {
        let ranged = |tag| select(10, &[(header::RANGE, "bytes=1-2"), (header::IF_RANGE, tag)]);
        assert_eq!(ranged("\"tag\""), FileRange::Part(1..=2));
        assert_eq!(ranged(DATE), FileRange::Part(1..=2));
        for validator in ["\"other\"", "W/\"tag\"", LATER, EARLIER, "nonsense"] {
            assert_eq!(ranged(validator), FileRange::Whole, "{validator}");
        }
    }

    #[test]
    fn matching_conditional_request_is_not_modified() {
        let conditional =
            |name: HeaderName, value| select(10, &[(name, value), (header::RANGE, "bytes=0-1")]);
        for same in ["\"tag\"", "*", "W/\"tag\"", "\"other\", \"tag\""] {
            assert_eq!(conditional(header::IF_NONE_MATCH, same), FileRange::NotModified, "{same}");
        }
        assert_eq!(conditional(header::IF_NONE_MATCH, "\"other\""), FileRange::Part(0..=1));
        assert_eq!(conditional(header::IF_MODIFIED_SINCE, DATE), FileRange::NotModified);
        assert_eq!(conditional(header::IF_MODIFIED_SINCE, LATER), FileRange::NotModified);
        assert_eq!(conditional(header::IF_MODIFIED_SINCE, EARLIER), FileRange::Part(0..=1));
        // If-None-Match takes precedence.
        let both = [(header::IF_NONE_MATCH, "\"other\""), (header::IF_MODIFIED_SINCE, LATER)];
        assert_eq!(select(10, &both), FileRange::Whole);
    }
}
