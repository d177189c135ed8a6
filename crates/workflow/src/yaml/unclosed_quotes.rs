//! Quotes that are never closed.

use super::as_quoted;
use super::brackets::{self, begins_block, key_of};
use super::indentation;
use super::parse_failure::{ParseFailure, entry_of, key_before};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// Lines above a mistake that are looked at.
const MAX_LINES: usize = 1_000;
/// Maximum length of a text that help repeats, in bytes.
const MAX_QUOTED_LEN: usize = 400;

/// The quote that led to a message of the parser.
pub(super) fn mistake(failure: &ParseFailure<'_>) -> Option<Diagnostic> {
    if !failure.message.contains("quoted scalar") && !failure.message.contains("unclosed quote") {
        return None;
    }
    let first = failure.number.saturating_sub(MAX_LINES);
    let lines = (first..failure.number).map(|index| (failure.offset(index), failure.lines[index]));
    let scan = brackets::in_lines(failure.source.text(), lines);
    if let Some(open) = scan.open_quote {
        return unclosed(open, failure);
    }
    // More of a text in quotes, in a line that is not indented.
    let index = failure.source.position(scan.last_quote?).line - 1;
    if index + 1 >= failure.number {
        return None;
    }
    indentation::quoted_continuation(index, failure)
}

/// A quote at an offset that is never closed.
fn unclosed(open: usize, failure: &ParseFailure<'_>) -> Option<Diagnostic> {
    let text = failure.source.text();
    let quote = text.get(open..)?.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let index = failure.source.position(open).line - 1;
    let line = *failure.lines.get(index)?;
    let entry = entry_of(line);
    let column = line.len() - entry.len();
    let column = if key_of(entry).is_some() { column } else { column.saturating_sub(2) };
    // The text may go on in the lines below, up to the next key or item.
    let next = (index + 1..failure.lines.len()).find(|index| begins_block(failure.lines[*index], column));
    let last = (index..next.unwrap_or(failure.lines.len()))
        .rev()
        .find(|index| !failure.lines[*index].trim().is_empty())?;
    let help = if last == index {
        let written = line.get(open - failure.offset(index)..)?;
        let is_in_brackets = line[..line.len() - written.len()].contains(['[', '{']);
        let value = closed(written.trim_end(), quote, is_in_brackets);
        let key = key_before(text, open).map(|key| format!("{key}: ")).unwrap_or_default();
        format!("write `{key}{value}`")
    } else {
        let end = failure.lines[last].trim();
        let end = end.strip_suffix(other(quote)).unwrap_or(end);
        format!("write a `{quote}` where the text ends, in line {}: `{end}{quote}`", last + 1)
    };
    let help =
        if help.len() > MAX_QUOTED_LEN { format!("write a `{quote}` where the text ends") } else { help };
    Some(Diagnostic::error("yaml-syntax", Span::new(open, open + 1), "this quote is never closed").help(help))
}

/// The text in a line behind a quote, with the quote at its end. In brackets, it ends before the next key, or the last bracket.
fn closed(written: &str, quote: char, is_in_brackets: bool) -> String {
    let mut text = written;
    if is_in_brackets {
        let next_entry =
            text.match_indices(',').find(|(comma, _)| key_of(text[comma + 1..].trim_start()).is_some());
        text = match next_entry {
            Some((comma, _)) => &text[..comma],
            None => text.trim_end_matches([']', '}', ' ', ',']),
        };
    }
    // The quote at its end belongs to an escape.
    if quote == '"'
        && let Some(text) = text.strip_suffix("\\\"")
    {
        return as_quoted(&format!("{}\\", &text[1..]));
    }
    // The other quote was meant to close it.
    let text = text.strip_suffix(other(quote)).unwrap_or(text);
    format!("{text}{quote}")
}

fn other(quote: char) -> char {
    if quote == '"' { '\'' } else { '"' }
}

#[cfg(test)]
mod tests {
    use crate::yaml::check_fix::check_fix;

    #[test]
    fn unclosed_quotes_are_closed_where_the_text_ends() {
        for quote in ["\"", "'"] {
            let text = |template: &str| template.replace('~', quote);
            for (shots, place, part, instead, expected) in [
                ("- a: ~x y\n", (1, 6), "a: ~x y", "a: ~x y~", r#"[{"a":"x y"}]"#),
                ("- a: ~x y\n  b: 1\n", (1, 6), "a: ~x y", "a: ~x y~", r#"[{"a":"x y","b":1}]"#),
                ("- a: ~x\n    y z\n  b: 1\n", (1, 6), "y z", "y z~", r#"[{"a":"x y z","b":1}]"#),
                ("- a: ~x\n- a: ~y~\n", (1, 6), "a: ~x", "a: ~x~", r#"[{"a":"x"},{"a":"y"}]"#),
                (
                    "- {a: ~x, b: 1}\n- {a: ~y~}\n",
                    (1, 7),
                    "a: ~x",
                    "a: ~x~",
                    r#"[{"a":"x","b":1},{"a":"y"}]"#,
                ),
                ("- {a: ~x, b: 1}\n", (1, 7), "a: ~x", "a: ~x~", r#"[{"a":"x","b":1}]"#),
                ("- {b: 1, a: ~x}\n", (1, 13), "a: ~x", "a: ~x~", r#"[{"b":1,"a":"x"}]"#),
                ("- a: [~x]\n  b: 1\n", (1, 7), "~x", "~x~", r#"[{"a":["x"],"b":1}]"#),
                ("- ~x\n- ~y~\n", (1, 3), "~x", "~x~", r#"["x","y"]"#),
            ] {
                check_fix(&text(shots), place, (&text(part), &text(instead)), expected);
            }
        }
        check_fix("- a: \"x\\\"\n  b: 1\n", (1, 6), ("a: \"x\\\"", "a: 'x\\'"), r#"[{"a":"x\\","b":1}]"#);
        check_fix("- a: \"x'\n  b: 1\n", (1, 6), ("a: \"x'", "a: \"x\""), r#"[{"a":"x","b":1}]"#);
    }
}
