//! Messages without the credentials of their file.

use crate::secret_text::next_token;
use crate::source::Source;

/// Characters of a credential by which it is recognized in a message, whole or cut short.
const MIN_QUOTED_LEN: usize = 6;

/// What a credential is replaced by in messages.
const MASK: &str = "[secret]";

/// A message with the credentials of its file masked.
pub(super) fn redacted(message: &str, source: &Source) -> String {
    let mut out = message.to_owned();
    let of_file = |file: &'_ Source| {
        file.secrets().iter().map(|range| file.text()[range.clone()].to_owned()).collect::<Vec<_>>()
    };
    for secret in source.files().flat_map(of_file) {
        let Some((end, _)) = secret.char_indices().nth(MIN_QUOTED_LEN) else { continue };
        // A message may show the beginning of a long value.
        while let Some(start) = out.find(&secret[..end]) {
            let quoted = secret.char_indices().map(|(offset, c)| offset + c.len_utf8());
            let len =
                quoted.take_while(|len| out[start..].starts_with(&secret[..*len])).last().unwrap_or(end);
            out.replace_range(start..start + len, MASK);
        }
    }
    let mut from = 0;
    while let Some(token) = next_token(&out, from) {
        from = token.start + MASK.len();
        out.replace_range(token, MASK);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_lose_credentials_of_their_file() {
        let source = Source::new("a.yaml", "api_key: \"swordfish und mehr\"");
        for (message, expected) in [
            ("`swordfish und mehr` is wrong, `swordfish u…` too", "`[secret]` is wrong, `[secret]…` too"),
            ("a sword", "a sword"),
            ("`sk-PLANTED0123456789` is wrong", "`[secret]` is wrong"),
        ] {
            assert_eq!(redacted(message, &source), expected);
        }
    }
}
