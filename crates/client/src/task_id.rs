//! Task ids as a path segment: any string can be one (spec 2.5), so it is percent-encoded.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::CallError;

/// What RFC 3986 calls unreserved stays as it is.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// The longest encoded id. URLs end at 64 KiB in the HTTP library.
const MAX_ENCODED_LEN: usize = 60_000;

/// An id as a path segment.
///
/// # Errors
/// Ids that no URL can contain: an empty one, `.` and `..` (a URL parser removes them, encoded or not), and ones that are too long.
pub(crate) fn path_segment(task_id: &str) -> Result<String, CallError> {
    let encoded = percent_encoded(task_id);
    if matches!(task_id, "" | "." | "..") || encoded.len() > MAX_ENCODED_LEN {
        let shown: String = task_id.chars().take(64).collect();
        return Err(CallError::not_sent(format!("the task id {shown:?} cannot be part of a URL")));
    }
    Ok(encoded)
}

/// A text with everything percent-encoded that is not unreserved.
pub(crate) fn percent_encoded(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

#[cfg(test)]
mod tests {
    use super::path_segment;

    #[test]
    fn any_id_is_one_path_segment() {
        for (id, segment) in [
            ("task_01HZX", "task_01HZX"),
            ("video-1.2:3~4", "video-1.2%3A3~4"),
            ("...", "..."),
            ("dGFzazE=", "dGFzazE%3D"),
            ("a+b@1", "a%2Bb%401"),
            ("a/../b", "a%2F..%2Fb"),
            ("a\\b", "a%5Cb"),
            ("%2e%2e", "%252e%252e"),
            ("a?b#c d\n", "a%3Fb%23c%20d%0A"),
            ("tâche", "t%C3%A2che"),
        ] {
            assert_eq!(path_segment(id).expect("an id"), segment);
            let url: url::Url = format!("https://example.com/v1/videos/{segment}").parse().expect("a URL");
            assert_eq!(url.path(), format!("/v1/videos/{segment}"), "{id}");
        }
        assert!(path_segment(&"x".repeat(20_000)).is_ok());
        for id in ["", ".", "..", &"x".repeat(60_001)] {
            assert!(path_segment(id).is_err(), "{id}");
        }
    }
}
