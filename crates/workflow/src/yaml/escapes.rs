//! Escapes in double quotes that YAML does not know, such as `"C:\Users"`.

use super::parse_failure::{ParseFailure, key_before};
use super::{as_quoted, brackets};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// Maximum length of a text that help repeats, in bytes.
const MAX_QUOTED_LEN: usize = 300;

/// The escape that the parser refused, with how its text is written.
pub(super) fn mistake(failure: &ParseFailure<'_>) -> Option<Diagnostic> {
    if !failure.message.contains("while parsing a quoted scalar") {
        return None;
    }
    // The parser points at the opening quote.
    let text = failure.source.text();
    let open = failure.span.start();
    let inner = text.get(open..)?.strip_prefix('"')?;
    let (offset, length) = first_unknown(inner)?;
    let start = open + 1 + offset;
    let escape = text.get(start..start + length)?;
    let message =
        format!("within double quotes, `\\` begins an escape such as `\\n`, and `{escape}` is none");
    let help = suggestion(text, open, escape)
        .unwrap_or_else(|| format!("write `{}`: two `\\` are one in the text", escape.replace('\\', "\\\\")));
    Some(Diagnostic::error("yaml-syntax", Span::new(start, start + length), message).help(help))
}

/// The text in one line that was probably meant, in other quotes or without the sign.
fn suggestion(text: &str, open: usize, escape: &str) -> Option<String> {
    let line = text[open..].lines().next()?;
    // A folder may end with the sign, which takes the quote for an escape.
    let end = match brackets::closing_quote(line, 0, line.len()) {
        Some(end) => end,
        None => Some(line.trim_end().len()).filter(|end| line[..*end].ends_with("\\\""))?,
    };
    let written = line.get(1..end - 1).filter(|written| written.len() <= MAX_QUOTED_LEN)?;
    let key = key_before(text, open).map(|key| format!("{key}: ")).unwrap_or_default();
    if is_path(written) || written.ends_with('\\') {
        let path = written.replace("\\\\", "/").replace('\\', "/");
        return Some(format!(
            "write `/` between folders, `{key}\"{path}\"`; text is written in single quotes"
        ));
    }
    // A sign that needs no escape was to be itself: `\'`, `\$`.
    if !escape[1..].starts_with(|c: char| c.is_alphanumeric()) {
        let plain = written.replace(escape, &escape[1..]);
        if !plain.contains('\\') {
            return Some(format!("write `{key}{}`: this sign needs no `\\`", as_quoted(&plain)));
        }
    }
    let is_single = !written.contains("\\\"") && !written.contains("\\\\");
    is_single.then(|| format!("write it in single quotes: `{key}'{}'`", written.replace('\'', "''")))
}

/// Whether a text looks like the path of a file on Windows.
fn is_path(text: &str) -> bool {
    let has_drive = matches!(text.as_bytes(), [drive, b':', b'\\', ..] if drive.is_ascii_alphabetic());
    let ending = text.rsplit_once('.').map(|(_, ending)| ending);
    let has_ending = ending.is_some_and(|ending| {
        (2..=4).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    has_drive || has_ending && !text.contains(": ")
}

/// The first escape in a double-quoted text that YAML does not know: its offset and its length.
fn first_unknown(text: &str) -> Option<(usize, usize)> {
    let mut position = 0;
    while let Some(offset) = text.get(position..)?.find(['\\', '"']) {
        let start = position + offset;
        let escape = text[start..].strip_prefix('\\')?;
        let sign = escape.chars().next()?;
        let digits = match sign {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => 0,
        };
        let code = escape.get(1..=digits).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        let is_known = match (digits, code) {
            (0, _) => "0abtnvfre \"/\\N_LP\t\n\r".contains(sign),
            (_, Some(code)) => is_character(code, &escape[1 + digits..]),
            (_, None) => false,
        };
        if !is_known {
            return Some((start, 1 + sign.len_utf8()));
        }
        position = start + 1 + sign.len_utf8() + digits;
    }
    None
}

/// Whether digits are the code of a character, or one half of a pair in UTF-16 whose other half follows or has been read.
fn is_character(digits: &str, rest: &str) -> bool {
    let Ok(code) = u32::from_str_radix(digits, 16) else { return false };
    match code {
        0xd800..=0xdbff => {
            let low = rest.strip_prefix("\\u").and_then(|rest| rest.get(..4));
            low.and_then(|low| u32::from_str_radix(low, 16).ok())
                .is_some_and(|low| (0xdc00..=0xdfff).contains(&low))
        }
        0xdc00..=0xdfff => true,
        _ => char::from_u32(code).is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::first_unknown;
    use crate::yaml::check_fix::{check_fix, first_problem};

    #[test]
    fn first_unknown_escape_is_located() {
        for (text, expected) in [
            (r#"a\nb\x41\u0041\U00000041\"\\\/""#, None),
            (r#"\ud83d\ude00""#, None),
            (r#"\ud83d""#, Some((0, 2))),
            (r#"C:\Users""#, Some((2, 2))),
            (r#"a\xZ""#, Some((1, 2))),
            (r#"a\u12 b""#, Some((1, 2))),
            (r#"a\'b""#, Some((1, 2))),
            (r#"a" \q"#, None),
        ] {
            assert_eq!(first_unknown(text), expected, "{text}");
        }
    }

    #[test]
    fn unknown_escapes_are_written_as_meant() {
        for (shot, column, part, instead, expected) in [
            (
                r#"image: "C:\Users\me\a.png""#,
                15,
                r#""C:\Users\me\a.png""#,
                r#""C:/Users/me/a.png""#,
                "C:/Users/me/a.png",
            ),
            (
                r#"image: "stills\keeper.png""#,
                19,
                r#""stills\keeper.png""#,
                r#""stills/keeper.png""#,
                "stills/keeper.png",
            ),
            (r#"image: "C:\stills\""#, 15, r#""C:\stills\""#, r#""C:/stills/""#, "C:/stills/"),
            (r#"image: "a \u12 b""#, 15, r#""a \u12 b""#, r"'a \u12 b'", r"a \\u12 b"),
            (r#"image: "a \xZ b""#, 15, r#""a \xZ b""#, r"'a \xZ b'", r"a \\xZ b"),
            (r#"image: "it\'s""#, 15, r#""it\'s""#, r#""it's""#, "it's"),
            (r#"image: "costs \$5""#, 19, r#""costs \$5""#, r#""costs $5""#, "costs $5"),
        ] {
            let block = format!("- {shot}\n  b: 1\n");
            let instead_of = (format!("image: {part}"), format!("image: {instead}"));
            let fix = (instead_of.0.as_str(), instead_of.1.as_str());
            check_fix(&block, (1, column - 2), fix, &format!(r#"[{{"image":"{expected}","b":1}}]"#));
            if shot.ends_with("\\\"") {
                continue;
            }
            let flow = format!("- {{{shot}, b: 1}}\n");
            check_fix(&flow, (1, column - 1), fix, &format!(r#"[{{"image":"{expected}","b":1}}]"#));
        }
    }

    #[test]
    fn unknown_escapes_without_a_key_or_in_several_lines_are_located() {
        let (line, column, message) = first_problem("a:\n  - \"stills\\keeper.png\"\n").unwrap_or_default();
        assert_eq!((line, column), (2, 12), "{message}");
        assert!(message.contains("`\"stills/keeper.png\"`"), "{message}");
        check_fix("a: \"x\n  \\quiet\"\nb: 1\n", (2, 3), (r"\q", r"\\q"), r#"{"a":"x \\quiet","b":1}"#);
    }
}
