//! URLs of clips (RFC 3986).

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The last step of a path or URL.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// A relative reference. Without a leading `./`: some editors do not resolve it.
pub(super) fn relative(path: &str) -> String {
    encoded(path)
}

/// A `file:` URL of an absolute path, of Windows as well.
pub(super) fn absolute(path: &str) -> String {
    let is_windows = path.as_bytes().get(1) == Some(&b':');
    if !is_windows {
        return format!("file://{}", encoded(path));
    }
    let (drive, rest) = path.split_at(2);
    format!("file:///{drive}{}", encoded(&rest.replace('\\', "/")))
}

/// Everything but unreserved characters and `/` is percent-encoded, as UTF-8.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

fn encoded(path: &str) -> String {
    utf8_percent_encode(path, ESCAPED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_percent_encoded() {
        assert_eq!(relative("clips/a=1,b#2 é.mp4"), "clips/a%3D1%2Cb%232%20%C3%A9.mp4");
        assert_eq!(absolute("/films/a b.mp4"), "file:///films/a%20b.mp4");
        assert_eq!(absolute(r"C:\films\a b.mp4"), "file:///C:/films/a%20b.mp4");
        assert_eq!(absolute("é:/x"), "file://%C3%A9%3A/x");
        assert_eq!(
            (file_name("a/b.mp4"), file_name(r"a\b"), file_name("a"), file_name("")),
            ("b.mp4", "b", "a", "")
        );
    }
}
