//! Bodies as a person reads them.

/// Bytes of a body that are shown.
const MAX_SHOWN_BYTES: usize = 500;

/// The beginning of a body on one line, of an HTML page without its tags.
pub(crate) fn plain_text(body: &str) -> String {
    if is_binary(body) {
        return "(data that is not text)".to_owned();
    }
    let is_page = body.trim_start().starts_with('<');
    let mut text = String::new();
    let mut in_tag = false;
    for c in body.chars().take(16 * MAX_SHOWN_BYTES) {
        match c {
            '<' if is_page => in_tag = true,
            '>' if in_tag => {
                in_tag = false;
                text.push(' ');
            }
            _ if in_tag => {}
            c if c.is_whitespace() || c.is_control() => text.push(' '),
            c => text.push(c),
        }
    }
    let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.len() > MAX_SHOWN_BYTES {
        text.truncate(text.floor_char_boundary(MAX_SHOWN_BYTES));
        text.push('…');
    }
    text
}

/// Whether a body is compressed or otherwise not text: an eighth of its first characters could not be decoded.
fn is_binary(body: &str) -> bool {
    let (unreadable, total) = body.chars().take(64).fold((0, 0), |(unreadable, total), c| {
        (unreadable + usize::from(c == '\0' || c == char::REPLACEMENT_CHARACTER), total + 1)
    });
    unreadable * 8 > total
}

#[cfg(test)]
mod tests {
    use super::plain_text;

    #[test]
    fn plain_text_of_html_is_one_line() {
        for (body, line) in [
            ("<html><head><title>502 Bad Gateway</title></head>\n<body></body></html>", "502 Bad Gateway"),
            ("upstream\u{1b}[31m  failed", "upstream [31m failed"),
            ("", ""),
            // gzip, and a page in Windows-1252.
            (
                &String::from_utf8_lossy(b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xabV\xcaLQ\xb2"),
                "(data that is not text)",
            ),
            ("Diese Seite ist \u{fffd}berlastet", "Diese Seite ist \u{fffd}berlastet"),
        ] {
            assert_eq!(plain_text(body), line);
        }
        assert_eq!(plain_text(&"é".repeat(10_000)).chars().count(), 251);
    }
}
