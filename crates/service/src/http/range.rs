//! Parts of a file: the headers `Range` and `If-Range`, and the conditions that save a download (RFC 9110,
//! sections 13 and 14).

use std::{ops::RangeInclusive, time::SystemTime};

use axum::http::{HeaderMap, HeaderName, Method, header};

/// What a request wants of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    /// All of it.
    Whole,
    /// These bytes, all within the file.
    Part(RangeInclusive<u64>),
    /// Bytes that the file does not have: 416.
    Unsatisfiable,
    /// Nothing: what the caller has is still right: 304.
    NotModified,
}

/// Reads a request's headers against a file of that length, tag (with its quotes) and time of change.
pub(super) fn wanted(
    method: &Method,
    headers: &HeaderMap,
    length: u64,
    etag: &str,
    modified: SystemTime,
) -> Wanted {
    if not_modified(headers, etag, modified) {
        return Wanted::NotModified;
    }
    let Some(range) = text(headers, &header::RANGE) else { return Wanted::Whole };
    // Ranges are defined for GET alone; what is left of the methods here is HEAD.
    if method != Method::GET || !same_file(headers, etag, modified) {
        return Wanted::Whole;
    }
    part(range, length)
}

fn not_modified(headers: &HeaderMap, etag: &str, modified: SystemTime) -> bool {
    if headers.contains_key(header::IF_NONE_MATCH) {
        // The weak comparison: a `W/` in front does not matter here.
        return headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok()).any(
            |value| {
                value.split(',').map(str::trim).any(|tag| tag == "*" || tag.trim_start_matches("W/") == etag)
            },
        );
    }
    date(headers, &header::IF_MODIFIED_SINCE).is_some_and(|since| seconds(modified) <= seconds(since))
}

/// Whether `If-Range`, when given, names this very file.
fn same_file(headers: &HeaderMap, etag: &str, modified: SystemTime) -> bool {
    match text(headers, &header::IF_RANGE) {
        None => !headers.contains_key(header::IF_RANGE),
        Some(value) if value.starts_with('"') || value.starts_with("W/") => value == etag,
        Some(_) => date(headers, &header::IF_RANGE).is_some_and(|at| seconds(at) == seconds(modified)),
    }
}

/// One range of bytes. Several at once, another unit, or what cannot be read is answered with the whole file, as
/// the RFC allows.
fn part(range: &str, length: u64) -> Wanted {
    let Some(("bytes", set)) = range.split_once('=').map(|(unit, set)| (unit.trim(), set.trim())) else {
        return Wanted::Whole;
    };
    let Some((first, last)) = set.split_once('-').filter(|_| !set.contains(',')) else {
        return Wanted::Whole;
    };
    let number = |text: &str| -> Option<u64> {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // More digits than fit are farther than any file reaches.
        digits.then(|| text.parse().unwrap_or(u64::MAX))
    };
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first > last => Wanted::Whole,
        (Some(first), _) if first >= length => Wanted::Unsatisfiable,
        (Some(first), Some(last)) => Wanted::Part(first..=last.min(length - 1)),
        (Some(first), None) if last.is_empty() => Wanted::Part(first..=length - 1),
        (None, Some(0)) if first.is_empty() => Wanted::Unsatisfiable,
        (None, Some(_)) if first.is_empty() && length == 0 => Wanted::Unsatisfiable,
        (None, Some(last)) if first.is_empty() => Wanted::Part(length.saturating_sub(last)..=length - 1),
        _ => Wanted::Whole,
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

/// HTTP's dates know no fractions.
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

    fn ask(length: u64, headers: &[(HeaderName, &str)]) -> Wanted {
        let modified = SystemTime::UNIX_EPOCH + Duration::from_millis(784_111_777_900);
        let headers = headers.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect();
        wanted(&Method::GET, &headers, length, "\"tag\"", modified)
    }

    #[test]
    fn ranges() {
        let range = |text| ask(10, &[(header::RANGE, text)]);
        assert_eq!(range("bytes=0-0"), Wanted::Part(0..=0));
        assert_eq!(range("bytes=2-5"), Wanted::Part(2..=5));
        assert_eq!(range("bytes=2-"), Wanted::Part(2..=9));
        assert_eq!(range("bytes=2-99"), Wanted::Part(2..=9));
        assert_eq!(range("bytes=-3"), Wanted::Part(7..=9));
        assert_eq!(range("bytes=-99"), Wanted::Part(0..=9));
        assert_eq!(range("bytes = 2-5"), Wanted::Part(2..=5));
        assert_eq!(range("bytes=0-99999999999999999999999"), Wanted::Part(0..=9));
        for beyond in ["bytes=10-", "bytes=10-12", "bytes=-0", "bytes=99999999999999999999999-"] {
            assert_eq!(range(beyond), Wanted::Unsatisfiable, "{beyond}");
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
            assert_eq!(range(odd), Wanted::Whole, "{odd}");
        }
        assert_eq!(ask(0, &[(header::RANGE, "bytes=0-")]), Wanted::Unsatisfiable);
        assert_eq!(ask(0, &[(header::RANGE, "bytes=-1")]), Wanted::Unsatisfiable);
        assert_eq!(ask(0, &[]), Wanted::Whole);
    }

    #[test]
    fn a_range_of_another_version_is_the_whole_file() {
        let ranged = |tag| ask(10, &[(header::RANGE, "bytes=1-2"), (header::IF_RANGE, tag)]);
        assert_eq!(ranged("\"tag\""), Wanted::Part(1..=2));
        assert_eq!(ranged(DATE), Wanted::Part(1..=2));
        for other in ["\"other\"", "W/\"tag\"", LATER, EARLIER, "nonsense"] {
            assert_eq!(ranged(other), Wanted::Whole, "{other}");
        }
    }

    #[test]
    fn what_the_caller_has_is_not_sent_again() {
        let conditional = |name: HeaderName, value| ask(10, &[(name, value), (header::RANGE, "bytes=0-1")]);
        for same in ["\"tag\"", "*", "W/\"tag\"", "\"other\", \"tag\""] {
            assert_eq!(conditional(header::IF_NONE_MATCH, same), Wanted::NotModified, "{same}");
        }
        assert_eq!(conditional(header::IF_NONE_MATCH, "\"other\""), Wanted::Part(0..=1));
        assert_eq!(conditional(header::IF_MODIFIED_SINCE, DATE), Wanted::NotModified);
        assert_eq!(conditional(header::IF_MODIFIED_SINCE, LATER), Wanted::NotModified);
        assert_eq!(conditional(header::IF_MODIFIED_SINCE, EARLIER), Wanted::Part(0..=1));
        // The tag decides when both are given.
        let both = [(header::IF_NONE_MATCH, "\"other\""), (header::IF_MODIFIED_SINCE, LATER)];
        assert_eq!(ask(10, &both), Wanted::Whole);
    }
}
