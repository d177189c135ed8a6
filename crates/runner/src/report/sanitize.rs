//! Sanitizes untrusted text (messages of a service, names from a file) for display: no control characters, no secrets in URLs, no data URIs,
//! bounded length.

use std::borrow::Cow;

/// Maximum length of a message, in characters: the 500 bytes that are shown of a response, and what is reported of them.
pub(crate) const MAX_MESSAGE_CHARS: usize = 600;

/// Schemes of URLs that may contain a secret.
const WEB: [&str; 2] = ["https://", "http://"];

/// Text on one line: control characters and bidirectional formatting are replaced by U+FFFD.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    if text.chars().any(is_control) {
        Cow::Owned(text.chars().map(|c| if is_control(c) { '\u{fffd}' } else { c }).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// Whether a terminal would act on a character instead of showing it.
pub(crate) fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

/// An untrusted message: on one line, with URLs and data URIs redacted, at most [`MAX_MESSAGE_CHARS`] characters.
pub(crate) fn message(text: &str) -> String {
    // Bounded work for messages of any length: redaction only shortens them.
    let considered: String = text.chars().take(MAX_MESSAGE_CHARS * 8).collect();
    let mut message = redact_urls(&line(considered.trim()));
    if message.chars().count() > MAX_MESSAGE_CHARS || text.chars().nth(MAX_MESSAGE_CHARS * 8).is_some() {
        message = message.chars().take(MAX_MESSAGE_CHARS - 1).collect();
        message.push('…');
    }
    message
}

/// The text with URLs and data URIs redacted.
pub(crate) fn redact_urls(text: &str) -> String {
    let mut redacted = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, address, after)) = next_url(rest) {
        redacted.push_str(before);
        redacted.push_str(&redact_url(address));
        rest = after;
    }
    redacted.push_str(rest);
    redacted
}

/// The first URL or data URI in a text, with the text before and after it.
fn next_url(text: &str) -> Option<(&str, &str, &str)> {
    // Byte offsets are unchanged: only ASCII cs change case.
    let lower = text.to_ascii_lowercase();
    let start = ["https://", "http://", "data:"].iter().filter_map(|begin| lower.find(begin)).min()?;
    let (before, from) = text.split_at(start);
    let ends = |c: char| c.is_whitespace() || "\"'`<>()[]{}|\\^".contains(c);
    let (address, after) = from.split_at(from.find(ends).unwrap_or(from.len()));
    Some((before, address, after))
}

fn redact_url(address: &str) -> String {
    let lower = address.to_ascii_lowercase();
    if !WEB.iter().any(|begin| lower.starts_with(begin)) {
        // `data: none` is not a data URI: it has no comma.
        return match address.split_once(',') {
            Some((head, _)) => format!("{},…", head.chars().take(60).collect::<String>()),
            None => address.to_owned(),
        };
    }
    let (path, is_cut) = match address.find(['?', '#']) {
        Some(end) => (&address[..end], true),
        None => (address, false),
    };
    let (scheme, rest) = path.split_once("://").unwrap_or(("", path));
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    format!("{scheme}://{host}{path}{}", if is_cut { "?…" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_replaced() {
        assert_eq!(line("harbor@look=noir"), "harbor@look=noir");
        assert_eq!(line("灯台\u{1b}[2Jx\n\u{202e}y"), "灯台\u{fffd}[2Jx\u{fffd}\u{fffd}y");
    }

    #[test]
    fn urls_and_data_uris_are_redacted() {
        for (input, text) in [
            ("cannot fetch https://cdn.test/a.mp4?sig=SECRET&x=1.", "cannot fetch https://cdn.test/a.mp4?…"),
            (
                r#"{"url":"https://me:SECRET@cdn.test?sig=SECRET","n":1}"#,
                r#"{"url":"https://cdn.test?…","n":1}"#,
            ),
            ("HTTPS://cdn.test/#SECRET and http://b.test/x", "HTTPS://cdn.test/?… and http://b.test/x"),
            (
                "image data:image/png;base64,SECRETSECRET is too small",
                "image data:image/png;base64,… is too small",
            ),
            ("no data: nothing came", "no data: nothing came"),
        ] {
            assert_eq!(message(input), text);
        }
    }

    #[test]
    fn long_messages_are_truncated() {
        assert_eq!(message(&"x".repeat(MAX_MESSAGE_CHARS)).chars().count(), MAX_MESSAGE_CHARS);
        for long in ["ä".repeat(MAX_MESSAGE_CHARS + 1), "data:,x ".repeat(100_000)] {
            let text = message(&long);
            assert!(text.chars().count() <= MAX_MESSAGE_CHARS && text.ends_with('…'), "{text}");
        }
    }
}
