//! Credentials in a text. They are recognized in text, so that they are masked in a file that is not YAML too: the value of a key with the name
//! of a credential, and tokens with the prefixes that services give their keys.

use std::ops::Range;

/// Keys that hold a credential, without `-` and `_`, in lower case.
const CREDENTIAL_NAMES: &[&str] = &[
    "accesskey",
    "accesstoken",
    "apikey",
    "apisecret",
    "apitoken",
    "authorization",
    "authtoken",
    "bearertoken",
    "clientsecret",
    "runnerapikey",
    "secretkey",
    "xapikey",
];

/// Beginnings of keys as services issue them.
const TOKEN_PREFIXES: &[&str] =
    &["sk-", "sk_", "pk_live_", "xai-", "r8_", "hf_", "AIza", "AKIA", "ghp_", "gho_", "github_pat_", "eyJ"];

/// Characters after the prefix that make a token: fewer are a word.
const MIN_TOKEN_LEN: usize = 16;

/// Whether a key has the name of a credential.
pub(crate) fn is_credential_name(name: &str) -> bool {
    let bare: String =
        name.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect();
    CREDENTIAL_NAMES.contains(&bare.as_str())
}

/// Whether a text as a whole has the form of a key.
pub(crate) fn is_token(text: &str) -> bool {
    token_at(text, 0) == Some(0..text.trim_end().len())
}

/// The byte ranges of credentials in a text, in order; some may overlap.
pub(crate) fn ranges(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    // Lines that are indented further than this belong to a credential that begins on a line of its own.
    let mut block: Option<usize> = None;
    for line in text.split_inclusive('\n') {
        let body = line.trim_end();
        let indent = body.len() - body.trim_start().len();
        if block.is_some_and(|outer| !body.is_empty() && indent <= outer) {
            block = None;
        }
        if block.is_some() {
            ranges.push(start + indent..start + body.len());
        } else {
            block = named_ranges(text, start, body, &mut ranges).then_some(indent);
        }
        start += line.len();
    }
    let mut from = 0;
    while let Some(token) = next_token(text, from) {
        from = token.end;
        ranges.push(token);
    }
    ranges.retain(|range| !range.is_empty());
    ranges.sort_by_key(|range| range.start);
    ranges
}

/// The values of credentials on one line. True where one begins on the next line.
fn named_ranges(text: &str, start: usize, body: &str, ranges: &mut Vec<Range<usize>>) -> bool {
    let mut continues = false;
    for (separator, _) in body.match_indices([':', '=']) {
        let before = body[..separator].trim_end().trim_end_matches(['"', '\'']);
        let name_at = before.rfind(|c: char| !matches!(c, '-' | '_') && !c.is_alphanumeric());
        let name = &before[name_at
            .map_or(0, |position| position + before[position..].chars().next().map_or(1, char::len_utf8))..];
        if !is_credential_name(name.trim_start_matches('-')) {
            continue;
        }
        let value = body[separator + 1..].trim_start();
        let value_at = start + body.len() - value.len();
        match value.chars().next() {
            None | Some('|' | '>' | '#') => continues = true,
            Some(quote @ ('"' | '\'')) => {
                let rest = &text[value_at + 1..];
                // Without its end it goes to the end of the line.
                let len = rest.find(quote).unwrap_or(value.len() - 1);
                ranges.push(value_at + 1..value_at + 1 + len);
            }
            Some(_) => {
                let comment = value.find(" #");
                let end = value.find([',', '}', ']']).into_iter().chain(comment).min().unwrap_or(value.len());
                ranges.push(value_at..value_at + value[..end].trim_end().len());
            }
        }
    }
    continues
}

/// The next token from a position on.
pub(crate) fn next_token(text: &str, from: usize) -> Option<Range<usize>> {
    let is_inside = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let mut position = from;
    while position < text.len() {
        let begins = !text[..position].chars().next_back().is_some_and(is_inside);
        if let Some(token) = begins.then(|| token_at(text, position)).flatten() {
            return Some(token);
        }
        // On to the next beginning of a word.
        position += text[position..].find(|c: char| !is_inside(c)).unwrap_or(text.len() - position);
        position += text[position..].find(is_inside).unwrap_or(text.len() - position);
    }
    None
}

/// The token that begins at a position.
fn token_at(text: &str, start: usize) -> Option<Range<usize>> {
    let rest = &text[start..];
    let prefix = TOKEN_PREFIXES.iter().find(|prefix| rest.starts_with(**prefix))?;
    let tail = &rest[prefix.len()..];
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let len = tail.find(|c: char| !is_part(c)).unwrap_or(tail.len());
    (len >= MIN_TOKEN_LEN).then(|| start..start + prefix.len() + len)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-PLANTED0123456789abcdef";

    fn masked(text: &str) -> String {
        let mut out = String::new();
        let ranges = ranges(text);
        for (offset, c) in text.char_indices() {
            out.push(if ranges.iter().any(|range| range.contains(&offset)) && c != '\n' { '*' } else { c });
        }
        out
    }

    /// None of the text of a credential is left, wherever it is written.
    #[test]
    fn credentials_are_masked_in_any_form() {
        for text in [
            format!("api_key: {KEY}"),
            format!("  apiKey: \"{KEY}\" # mine"),
            format!("- {{id: a, api-key: {KEY}, prompt: sea}}"),
            format!("\"API_KEY\": '{KEY}'"),
            format!("RUNNER_API_KEY={KEY}"),
            format!("Authorization: Bearer {KEY}"),
            format!("api_key: |\n  {KEY}\n"),
            format!("api_key:\n  {KEY}\n\n  {KEY}\nname: pier"),
            format!("api_key: \"{KEY}"),
            format!("prompt: say {KEY}, loudly"),
            format!("a: [{KEY}]"),
            "access_token: short".to_owned(),
            "secret_key: \"two\nlines\"".to_owned(),
            "x: eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc".to_owned(),
        ] {
            let shown = masked(&text);
            for part in ["PLANTED", "abcdef", "short", "two", "lines", "OiIxIn"] {
                assert!(!shown.contains(part), "{text:?} is shown as {shown:?}");
            }
            assert_eq!(shown.lines().count(), text.lines().count());
        }
    }

    #[test]
    fn other_text_is_shown() {
        for text in [
            "version: 1\nname: pier\nprompt: \"a key on a table: the door opens\"",
            "prompt: sk-eleton dances",
            "prompt: risk-assessment-of-a-large-bridge-in-fog",
            "token: sea\nsecret: garden\npassword: swordfish",
            "api_keys: many\nno_api_key_here: x",
        ] {
            assert_eq!(masked(text), text);
        }
    }
}
