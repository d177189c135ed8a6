//! Range and conditional requests for a file: `Range`, `If-Range`, `If-None-Match` (RFC 9110, sections 13 and 14). Every
//! file has an entity tag, so dates are no conditions.
//!
//! Own code, because the libraries deviate: `tower-http`'s `ServeFile` ignores `If-Range`, derives its `ETag` from size and
//! modification time, and answers several ranges with 416; `http-range-header` and `headers` reject or drop valid ranges
//! (a suffix longer than the file, a last position beyond 64 bits).

use std::ops::RangeInclusive;

use axum::http::{HeaderMap, Method, header};

/// The part of a file to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FileRange {
    Whole,
    /// These bytes, within the file: 206.
    Part(RangeInclusive<u64>),
    /// The range is outside the file: 416.
    Unsatisfiable,
    /// Nothing, the client's copy is current: 304.
    NotModified,
}

/// Evaluates request headers for a file of this length and entity tag (with quotes).
pub(super) fn select_range(method: &Method, headers: &HeaderMap, length: u64, etag: &str) -> FileRange {
    let mut tags = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    // Weak comparison: `W/` is ignored.
    let is_current = |tag: &str| tag == "*" || tag.trim_start_matches("W/") == etag;
    if tags.any(|value| value.split(',').map(str::trim).any(is_current)) {
        return FileRange::NotModified;
    }
    // Ranges are defined for GET only; the other method here is HEAD.
    let is_same_file = headers.get(header::IF_RANGE).is_none_or(|value| value.as_bytes() == etag.as_bytes());
    let mut ranges = headers.get_all(header::RANGE).iter().filter_map(|value| value.to_str().ok());
    match (ranges.next(), ranges.next()) {
        (Some(range), None) if method == Method::GET && is_same_file => part(range.trim(), length),
        _ => FileRange::Whole,
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

#[cfg(test)]
mod tests {
    use axum::http::HeaderName;

    use super::*;

    fn select(length: u64, headers: &[(HeaderName, &str)]) -> FileRange {
        let headers = headers.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect();
        select_range(&Method::GET, &headers, length, "\"tag\"")
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
        for validator in ["\"other\"", "W/\"tag\"", "Sun, 06 Nov 1994 08:49:37 GMT", "nonsense"] {
            assert_eq!(ranged(validator), FileRange::Whole, "{validator}");
        }
    }

    #[test]
    fn matching_conditional_request_is_not_modified() {
        let conditional = |value| select(10, &[(header::IF_NONE_MATCH, value), (header::RANGE, "bytes=0-1")]);
        for same in ["\"tag\"", "*", "W/\"tag\"", "\"other\", \"tag\""] {
            assert_eq!(conditional(same), FileRange::NotModified, "{same}");
        }
        assert_eq!(conditional("\"other\""), FileRange::Part(0..=1));
    }
}
