//! Repairs JSON that common programs write and no JSON parser reads: Python's `NaN` and `Infinity`, numbers beyond all bounds, halves of surrogate
//! pairs of a text that was cut, and control characters in strings. Its other members are as they were.

use std::iter::Peekable;
use std::str::CharIndices;

/// Characters of a number, and of names that stand for one.
fn is_in_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')
}

/// The text with `null` in the place of what is no number, and with U+FFFD and blanks in the place of what strings cannot contain. `None` if it
/// does not begin with an object or a list.
pub(super) fn repair(text: &str) -> Option<String> {
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let mut repaired = String::with_capacity(text.len());
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        match c {
            '"' => copy_string(text, &mut rest, &mut repaired),
            c if is_in_token(c) => {
                let mut end = at + c.len_utf8();
                while let Some((at, c)) = rest.next_if(|(_, c)| is_in_token(*c)) {
                    end = at + c.len_utf8();
                }
                repaired.push_str(number_or_null(&text[at..end]));
            }
            c => repaired.push(c),
        }
    }
    Some(repaired)
}

/// `null` for numbers that JSON does not have; any other token as it is.
fn number_or_null(token: &str) -> &str {
    let is_number = token.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    let is_beyond = is_number && token.parse::<f64>().is_ok_and(f64::is_infinite);
    if is_beyond || matches!(token, "NaN" | "Infinity" | "-Infinity") { "null" } else { token }
}

/// Copies a string whose opening quote was read.
fn copy_string(text: &str, rest: &mut Peekable<CharIndices<'_>>, repaired: &mut String) {
    repaired.push('"');
    while let Some((at, c)) = rest.next() {
        match c {
            '"' => {
                repaired.push('"');
                return;
            }
            '\\' => {
                let escape = &text[at..];
                let replaced = match code_unit(escape) {
                    Some(0xD800..=0xDBFF) => {
                        let low = escape.get(6..).and_then(code_unit);
                        if matches!(low, Some(0xDC00..=0xDFFF)) { None } else { Some(6) }
                    }
                    Some(0xDC00..=0xDFFF) => Some(6),
                    _ => None,
                };
                // A pair is copied as a whole: its second half alone would be one that is cut.
                let is_pair = replaced.is_none() && matches!(code_unit(escape), Some(0xD800..=0xDBFF));
                let length = if is_pair { 12 } else { replaced.unwrap_or(2) };
                match replaced {
                    Some(_) => repaired.push('\u{fffd}'),
                    None => repaired.extend(escape.chars().take(length)),
                }
                // The backslash was read.
                rest.by_ref().take(length - 1).for_each(drop);
            }
            c if c.is_control() => repaired.push(' '),
            c => repaired.push(c),
        }
    }
}

/// The UTF-16 code unit of an escape `\uXXXX` at the beginning of a text.
fn code_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    // `from_str_radix` accepts a sign.
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(text: &str) -> Option<Value> {
        serde_json::from_str(&repair(text)?).ok()
    }

    #[test]
    fn what_is_almost_json_is_repaired() {
        for (text, expected) in [
            (r#"{"id":"a","eta":NaN}"#, json!({ "id": "a", "eta": null })),
            (
                r#"{"a":[Infinity,-Infinity, 1e999,-1e999,1.5]}"#,
                json!({ "a": [null, null, null, null, 1.5] }),
            ),
            (r#"{"prompt":"a sea \ud83d"}"#, json!({ "prompt": "a sea \u{fffd}" })),
            (r#"{"prompt":"\ude00 \ud83d\ude00\ud83d"}"#, json!({ "prompt": "\u{fffd} \u{1f600}\u{fffd}" })),
            ("{\"prompt\":\"a\nb\tc\"}", json!({ "prompt": "a b c" })),
            (r#"{"NaN":"NaN, \" Infinity","b":true}"#, json!({ "NaN": "NaN, \" Infinity", "b": true })),
            (r#"{"a":"\\","b":NaN}"#, json!({ "a": "\\", "b": null })),
        ] {
            assert_eq!(read(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_cut_or_no_json_stays_so() {
        for text in [
            r#"{"id":"a","eta":Na"#,
            r#"{"id":"a\"#,
            r#"{"id":"a\ud8"#,
            "NaN",
            "<html>",
            "",
            r#"{"a":nan}"#,
            "{'a':1}",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn json_is_unchanged() {
        let text = r#"{"a":[1,-2.5e3,"\n\u00e9\ud83d\ude00é"],"b":{"c":null,"d":18446744073709551616}}"#;
        assert_eq!(repair(text).as_deref(), Some(text));
    }
}
