//! Redaction of the API key in what a service sends: some echo it in messages, codes or URLs.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use secrecy::{ExposeSecret, SecretString};

const REDACTED: &str = "[redacted]";
/// Shorter keys may be ordinary words, unless they mix letters and digits: words are replaced only where they stand alone.
const MIN_UNIQUE_LEN: usize = 12;
/// The same for keys with letters and digits.
const MIN_MIXED_LEN: usize = 8;
/// How often a character may be escaped again, such as `%25252F`.
const MAX_ESCAPES: usize = 8;

/// Replaces the key in a text, also in other letter case, in base64 or in hex, and where JSON (`\/`, `\u002f`), a URL (`%2F`) or HTML
/// (`&#x2F;`) escapes some of its characters, once or several times. Works on truncated JSON too, so it needs not be decoded before.
pub(crate) fn redact_key(text: &str, key: &SecretString) -> String {
    let key = key.expose_secret().as_bytes();
    if key.is_empty() {
        return text.to_owned();
    }
    let forms = forms(key);
    let mut may_begin = [false; 256];
    for byte in forms.iter().filter_map(|form| form.bytes.first()).chain(b"\\%&") {
        may_begin[usize::from(byte.to_ascii_lowercase())] = true;
        may_begin[usize::from(byte.to_ascii_uppercase())] = true;
    }
    let mut redacted = String::with_capacity(text.len());
    let (mut copied, mut index) = (0, 0);
    while let Some(byte) = text.as_bytes().get(index) {
        // Most bytes of a response begin no form of the key.
        if may_begin[usize::from(*byte)] {
            let before = text[copied..index].chars().next_back();
            let len = forms.iter().find_map(|form| {
                let len = form.match_len(&text.as_bytes()[index..])?;
                (form.encoding != Encoding::Plain || is_whole(before, &text[index + len..], key))
                    .then_some(len)
            });
            if let Some(len) = len {
                redacted.push_str(&text[copied..index]);
                redacted.push_str(REDACTED);
                index += len;
                copied = index;
                continue;
            }
        }
        index += 1;
    }
    redacted.push_str(&text[copied..]);
    redacted
}

/// Whether a URL contains the key; a short one only in the query, because a host or a file may have its name.
pub(crate) fn url_has_key(url: &str, key: &SecretString) -> bool {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    has_long_key(url, key) || redact_key(query, key) != query
}

/// Whether a text contains a key that is too long to be an ordinary word.
pub(crate) fn has_long_key(text: &str, key: &SecretString) -> bool {
    is_unique(key.expose_secret().as_bytes()) && redact_key(text, key) != text
}

/// Whether a key is no ordinary word.
fn is_unique(key: &[u8]) -> bool {
    let is_mixed = key.iter().any(u8::is_ascii_digit) && key.iter().any(u8::is_ascii_alphabetic);
    key.len() >= if is_mixed { MIN_MIXED_LEN } else { MIN_UNIQUE_LEN }
}

fn is_whole(before: Option<char>, after: &str, key: &[u8]) -> bool {
    is_unique(key) || !before.into_iter().chain(after.chars().next()).any(|c| c.is_alphanumeric() || c == '_')
}

/// How a text has the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Plain,
    Hex,
    /// With the number of its bits that are not in [`Form::bytes`], because they share a character with what follows.
    Base64 {
        bits_left: usize,
    },
}

/// The key in an encoding.
#[derive(Debug)]
struct Form {
    bytes: Vec<u8>,
    encoding: Encoding,
    ignores_case: bool,
}

/// The forms of a key that are redacted. A key of less than [`MIN_MIXED_LEN`] characters is too short for other ones than its own.
fn forms(key: &[u8]) -> Vec<Form> {
    let is_long = key.len() >= MIN_MIXED_LEN;
    let mut forms = vec![Form { bytes: key.to_vec(), encoding: Encoding::Plain, ignores_case: is_long }];
    if !is_long {
        return forms;
    }
    forms.push(Form { bytes: hex::encode(key).into_bytes(), encoding: Encoding::Hex, ignores_case: true });
    // A header such as `user:key` is encoded as a whole: the key begins at one of three places in a group of characters.
    for shift in 0..3 {
        let bytes = [&[0; 2][..shift], key].concat();
        let bits = bytes.len() * 8;
        let determined = (shift * 8).div_ceil(6)..bits / 6;
        for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            let Some(encoded) =
                engine.encode(&bytes).get(determined.clone()).map(|text| text.as_bytes().to_vec())
            else {
                continue;
            };
            if forms.iter().all(|form| form.bytes != encoded) {
                let encoding = Encoding::Base64 { bits_left: bits % 6 };
                forms.push(Form { bytes: encoded, encoding, ignores_case: false });
            }
        }
    }
    forms
}

impl Form {
    /// The length of the key at the beginning of a text; `None` where the text does not begin with it. The key is ASCII.
    fn match_len(&self, text: &[u8]) -> Option<usize> {
        let mut len = 0;
        for byte in &self.bytes {
            len += char_len(text.get(len..)?, *byte, self.ignores_case)?;
        }
        if let Encoding::Base64 { bits_left } = self.encoding {
            let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte);
            len += usize::from(bits_left > 0 && text.get(len).is_some_and(is_digit));
            len += text[len..].iter().take(2).take_while(|byte| **byte == b'=').count();
        }
        (len > 0).then_some(len)
    }
}

/// The length of one character of the key at the beginning of a text, escaped or not.
fn char_len(text: &[u8], byte: u8, ignores_case: bool) -> Option<usize> {
    let is_same = |other: u8| other == byte || (ignores_case && other.eq_ignore_ascii_case(&byte));
    let is_code = |digits: Option<&[u8]>, radix| {
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.and_then(|digits| u32::from_str_radix(digits, radix).ok());
        code.and_then(|code| u8::try_from(code).ok()).is_some_and(is_same)
    };
    // The end of repetitions of `escape` from `start` on.
    let skip = |start: usize, escape: &[u8]| {
        let mut end = start;
        while text[end..].starts_with(escape) && end < start + MAX_ESCAPES * escape.len() {
            end += escape.len();
        }
        end
    };
    match text {
        // Signs of escapes that are in the key itself.
        [b'\\', b'\\', ..] if byte == b'\\' => return Some(2),
        [b'%', b'2', b'5', ..] if byte == b'%' => return Some(3),
        _ => {}
    }
    match text.first()? {
        first if is_same(*first) => Some(1),
        // JSON within JSON doubles backslashes.
        b'\\' => {
            let end = skip(0, b"\\");
            match text.get(end)? {
                b'u' | b'U' if is_code(text.get(end + 1..end + 5), 16) => Some(end + 5),
                escaped => is_same(*escaped).then_some(end + 1),
            }
        }
        b'%' => {
            let end = skip(1, b"25");
            is_code(text.get(end..end + 2), 16).then_some(end + 2)
        }
        b'&' => {
            let digits = skip(1, b"amp;");
            let end = digits + text[digits..].iter().take(10).position(|byte| *byte == b';')?;
            let is_entity = match text.get(digits..end)? {
                [b'#', b'x' | b'X', hex @ ..] => is_code(Some(hex), 16),
                [b'#', decimal @ ..] => is_code(Some(decimal), 10),
                name => NAMED_ENTITIES.contains(&(name, byte)),
            };
            is_entity.then_some(end + 1)
        }
        _ => None,
    }
}

/// Names that HTML has for the signs of keys.
const NAMED_ENTITIES: [(&[u8], u8); 8] = [
    (b"sol", b'/'),
    (b"plus", b'+'),
    (b"equals", b'='),
    (b"lowbar", b'_'),
    (b"period", b'.'),
    (b"colon", b':'),
    (b"num", b'#'),
    (b"amp", b'&'),
];

#[cfg(test)]
mod tests {
    use super::{has_long_key, redact_key, url_has_key};

    #[test]
    fn key_is_redacted_in_every_encoding() {
        let key = "sk-ab/0123456789+def".to_owned().into();
        for text in [
            "wrong key sk-ab/0123456789+def, sorry",
            r"wrong key sk-ab\/0123456789+def, sorry",
            r"wrong key sk-ab\u002f0123456789\u002Bdef, sorry",
            "wrong key sk-ab%2f0123456789%2Bdef, sorry",
            r"wrong key \u0073k-ab/0123456789+def, sorry",
            r"wrong key sk-ab\\/0123456789\\\u002bdef, sorry",
            "wrong key sk-ab%252F0123456789%25252bdef, sorry",
            "wrong key sk-ab&#x2F;0123456789&#43;def, sorry",
            "wrong key sk-ab&sol;0123456789&amp;#x2b;def, sorry",
        ] {
            assert_eq!(redact_key(text, &key), "wrong key [redacted], sorry", "{text}");
            assert!(has_long_key(text, &key), "{text}");
        }
        let signs = r"sk%ab\0123456789".to_owned().into();
        for text in [r"sk%ab\0123456789", r"sk%ab\\0123456789", r"sk%25ab%5C0123456789"] {
            assert_eq!(redact_key(text, &signs), "[redacted]", "{text}");
        }
        let doubled = "sk-ab/0123456789+defsk-ab/0123456789+def";
        assert_eq!(redact_key(doubled, &key), "[redacted][redacted]");
        for text in
            ["", "sk-ab/0123456789+de", "%", r"\u00", "é%2", "&#", "&amp;", "%2525", "sk-ab/01é23456789+def"]
        {
            assert_eq!(redact_key(text, &key), text);
            assert!(!has_long_key(text, &key), "{text}");
        }
    }

    #[test]
    fn key_is_redacted_in_other_case_base64_and_hex() {
        let key = "sk-ab/0123456789+def".to_owned().into();
        for text in [
            "wrong key SK-AB/0123456789+DEF, sorry",
            "wrong key SK-AB%2F0123456789%2bDEF, sorry",
            "wrong key 736b2d61622f303132333435363738392b646566, sorry",
            "wrong key 736B2D61622F303132333435363738392B646566, sorry",
            "wrong key c2stYWIvMDEyMzQ1Njc4OStkZWY=, sorry",
            "wrong key c2stYWIvMDEyMzQ1Njc4OStkZWY, sorry",
        ] {
            assert_eq!(redact_key(text, &key), "wrong key [redacted], sorry", "{text}");
            assert!(has_long_key(text, &key), "{text}");
        }
        // `Bearer KEY`, `user:KEY` and `users:KEY:x`: but for a character on each side, which holds a part of a byte.
        for (text, redacted) in [
            ("QmVhcmVyIHNrLWFiLzAxMjM0NTY3ODkrZGVm", "QmVhcmVyIH[redacted]"),
            ("dXNlcjpzay1hYi8wMTIzNDU2Nzg5K2RlZg==", "dXNlcjp[redacted]"),
            ("dXNlcnM6c2stYWIvMDEyMzQ1Njc4OStkZWY6eA==", "dXNlcnM6[redacted]6eA=="),
        ] {
            assert_eq!(redact_key(text, &key), redacted);
        }
        // URL-safe signs, and JSON's escape of a sign.
        let signs = "k3y>>>???~~~secret".to_owned().into();
        for text in
            ["azN5Pj4-Pz8_fn5-c2VjcmV0", "azN5Pj4+Pz8/fn5+c2VjcmV0", r"azN5Pj4+Pz8\/fn5\u002bc2VjcmV0"]
        {
            assert_eq!(redact_key(text, &signs), "[redacted]", "{text}");
        }
        for text in ["SK-AB/0123456789+DE", "C2STYWIVMDEYMZQ1NJC4OSTKZWY=", "736b2d61622f30"] {
            assert_eq!(redact_key(text, &key), text);
        }
        let short = "k3y-sec".to_owned().into();
        assert_eq!(
            redact_key("K3Y-SEC azN5LXNlYw== 6b33792d736563", &short),
            "K3Y-SEC azN5LXNlYw== 6b33792d736563"
        );
    }

    #[test]
    fn short_key_is_redacted_as_a_whole_word() {
        let key = "k3y-secret".to_owned().into();
        assert_eq!(redact_key("no: k3y-secret.", &key), "no: [redacted].");
        assert_eq!(redact_key("?api_key=k3y-secret&x=1", &key), "?api_key=[redacted]&x=1");
        // Letters and digits: no ordinary word.
        assert_eq!(redact_key("key_k3y-secret_x", &key), "key_[redacted]_x");
        assert!(has_long_key("t:k3y-secret", &key));
        let word = "test".to_owned().into();
        assert_eq!(redact_key("the latest tests, a test", &word), "the latest tests, a [redacted]");
        assert!(url_has_key("https://cdn/v.mp4?api_key=k3y-secret", &key));
        assert!(!url_has_key("http://test/test.mp4?x=tests", &word));
        assert!(!has_long_key("test", &word));
    }
}
