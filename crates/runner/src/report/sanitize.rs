//! Text of others (a service's messages, names from a file) as it may be shown: no control over the terminal, no addresses with signatures, no
//! pictures in text, and not without end.

use std::borrow::Cow;

/// The longest message that is passed on, in characters.
pub(crate) const MAX_MESSAGE_CHARS: usize = 500;

/// What begins an address that may carry a secret.
const WEB: [&str; 2] = ["https://", "http://"];

/// Text on one line that a terminal takes for text: what would steer it, or turn the direction of reading, is replaced.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    if text.chars().any(is_control) {
        Cow::Owned(text.chars().map(|letter| if is_control(letter) { '\u{fffd}' } else { letter }).collect())
    } else {
        Cow::Borrowed(text)
    }
}

fn is_control(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

/// A message of others: on one line, without the secret parts of addresses and without data URIs, and at most [`MAX_MESSAGE_CHARS`] characters.
pub(crate) fn message(text: &str) -> String {
    // A message is looked at as far as it may be shown, however long it is: what is taken out only makes it shorter.
    let looked_at: String = text.chars().take(MAX_MESSAGE_CHARS * 8).collect();
    let mut told = without_addresses(&line(looked_at.trim()));
    if told.chars().count() > MAX_MESSAGE_CHARS || text.chars().nth(MAX_MESSAGE_CHARS * 8).is_some() {
        told = told.chars().take(MAX_MESSAGE_CHARS - 1).collect();
        told.push('…');
    }
    told
}

/// A text without the secret parts of the addresses in it, and without data URIs; otherwise as it is.
pub(crate) fn without_addresses(text: &str) -> String {
    let mut told = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, address, after)) = next_address(rest) {
        told.push_str(before);
        told.push_str(&without_secrets(address));
        rest = after;
    }
    told.push_str(rest);
    told
}

/// The first address in a text, with what stands before and behind it.
fn next_address(text: &str) -> Option<(&str, &str, &str)> {
    // Offsets stay the same: only ASCII changes its case.
    let lower = text.to_ascii_lowercase();
    let at = ["https://", "http://", "data:"].iter().filter_map(|begin| lower.find(begin)).min()?;
    let (before, from) = text.split_at(at);
    let ends = |letter: char| letter.is_whitespace() || "\"'`<>()[]{}|\\^".contains(letter);
    let (address, after) = from.split_at(from.find(ends).unwrap_or(from.len()));
    Some((before, address, after))
}

fn without_secrets(address: &str) -> String {
    let lower = address.to_ascii_lowercase();
    if !WEB.iter().any(|begin| lower.starts_with(begin)) {
        // What only looks like a data URI ("data: none") has nothing after it.
        return match address.split_once(',') {
            Some((head, _)) => format!("{},…", head.chars().take(60).collect::<String>()),
            None => address.to_owned(),
        };
    }
    let (path, is_cut) = match address.find(['?', '#']) {
        Some(at) => (&address[..at], true),
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
        for (given, told) in [
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
            assert_eq!(message(given), told);
        }
    }

    #[test]
    fn long_messages_are_truncated() {
        assert_eq!(message(&"x".repeat(MAX_MESSAGE_CHARS)).chars().count(), MAX_MESSAGE_CHARS);
        for long in ["ä".repeat(MAX_MESSAGE_CHARS + 1), "data:,x ".repeat(100_000)] {
            let told = message(&long);
            assert!(told.chars().count() <= MAX_MESSAGE_CHARS && told.ends_with('…'), "{told}");
        }
    }
}
