//! Redaction of the API key in what a service sends: some echo it in messages, codes or URLs.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use secrecy::{ExposeSecret, SecretString};

use crate::task_id;

const REDACTED: &str = "[redacted]";
/// Shorter keys may be ordinary words: they are replaced only where they stand alone, and in no encoding.
const MIN_UNIQUE_LEN: usize = 8;

/// Replaces the key in a text: as it is, percent-encoded, and in Base64, also as a part of what is encoded, such as `user:key`.
pub(crate) fn redact_key(text: &str, key: &SecretString) -> String {
    let key = key.expose_secret();
    if key.len() < MIN_UNIQUE_LEN {
        return redact_word(text, key);
    }
    forms(key).iter().fold(text.to_owned(), |text, form| text.replace(form, REDACTED))
}

/// Whether a URL contains the key; a short one only in the query, because a host or a file may have its name.
pub(crate) fn url_has_key(url: &str, key: &SecretString) -> bool {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    has_long_key(url, key) || redact_key(query, key) != query
}

/// Whether a text contains a key that is too long to be an ordinary word.
pub(crate) fn has_long_key(text: &str, key: &SecretString) -> bool {
    key.expose_secret().len() >= MIN_UNIQUE_LEN && redact_key(text, key) != text
}

/// The forms of a key that are redacted.
fn forms(key: &str) -> Vec<String> {
    let mut forms = vec![key.to_owned()];
    let encoded = task_id::percent_encoded(key);
    forms.extend([lower_case_escapes(&encoded), encoded]);
    // The key begins at one of three places in a group of four characters, of which those count that it determines alone.
    for shift in 0..3 {
        let bytes = [&[0; 2][..shift], key.as_bytes()].concat();
        let determined = (shift * 8).div_ceil(6)..bytes.len() * 8 / 6;
        forms.extend(
            [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD]
                .map(|engine| engine.encode(&bytes).get(determined.clone()).unwrap_or_default().to_owned()),
        );
    }
    forms
}

/// `%2f` for `%2F`.
fn lower_case_escapes(encoded: &str) -> String {
    let mut parts = encoded.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let (digits, rest) = part.split_at_checked(2).unwrap_or((part, ""));
        format!("{text}%{}{rest}", digits.to_ascii_lowercase())
    })
}

/// Replaces a word where it is not a part of another one.
fn redact_word(text: &str, word: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let (mut redacted, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(start) = rest.find(word).filter(|_| !word.is_empty()) {
        let (before, after) = (&rest[..start], &rest[start + word.len()..]);
        // What precedes is in `redacted` where the rest begins with the word.
        let is_whole = !after.starts_with(is_part)
            && !before.chars().next_back().or_else(|| redacted.chars().next_back()).is_some_and(is_part);
        redacted.push_str(before);
        redacted.push_str(if is_whole { REDACTED } else { word });
        rest = after;
    }
    redacted.push_str(rest);
    redacted
}

#[cfg(test)]
mod tests {
    use super::{has_long_key, redact_key, url_has_key};

    #[test]
    fn key_is_redacted_as_it_is_percent_encoded_and_in_base64() {
        let key = "sk-ab/0123456789+def".to_owned().into();
        for text in [
            "wrong key sk-ab/0123456789+def, sorry",
            "wrong key sk-ab%2f0123456789%2bdef, sorry",
            "wrong key sk-ab%2F0123456789%2Bdef, sorry",
        ] {
            assert_eq!(redact_key(text, &key), "wrong key [redacted], sorry", "{text}");
            assert!(has_long_key(text, &key), "{text}");
        }
        let doubled = "sk-ab/0123456789+defsk-ab/0123456789+def";
        assert_eq!(redact_key(doubled, &key), "[redacted][redacted]");
        // The key, `Bearer KEY`, `user:KEY` and `users:KEY:x`, but for characters that hold a part of a byte.
        for (text, redacted) in [
            ("c2stYWIvMDEyMzQ1Njc4OStkZWY=", "[redacted]Y="),
            ("QmVhcmVyIHNrLWFiLzAxMjM0NTY3ODkrZGVm", "QmVhcmVyIH[redacted]"),
            ("dXNlcjpzay1hYi8wMTIzNDU2Nzg5K2RlZg==", "dXNlcjp[redacted]g=="),
            ("dXNlcnM6c2stYWIvMDEyMzQ1Njc4OStkZWY6eA==", "dXNlcnM6[redacted]Y6eA=="),
        ] {
            assert_eq!(redact_key(text, &key), redacted);
        }
        let special = "k3y>>>???~~~secret".to_owned().into();
        for text in ["azN5Pj4-Pz8_fn5-c2VjcmV0", "azN5Pj4+Pz8/fn5+c2VjcmV0"] {
            assert_eq!(redact_key(text, &special), "[redacted]", "{text}");
        }
        for text in ["", "sk-ab/0123456789+de", "SK-AB/0123456789+DEF", "sk-ab/01é23456789+def"] {
            assert_eq!(redact_key(text, &key), text);
            assert!(!has_long_key(text, &key), "{text}");
        }
    }

    #[test]
    fn short_key_is_redacted_as_a_whole_word() {
        let word = "test".to_owned().into();
        assert_eq!(redact_key("the latest tests, a test", &word), "the latest tests, a [redacted]");
        assert_eq!(redact_key("testtest test", &word), "testtest [redacted]");
        assert!(url_has_key("https://cdn/v.mp4?api_key=test&x=1", &word));
        assert!(!url_has_key("http://test/test.mp4?x=tests", &word));
        assert!(!has_long_key("test", &word));
        let key = "k3y-secret".to_owned().into();
        assert!(url_has_key("https://cdn/k3y-secret/v.mp4", &key));
    }
}
