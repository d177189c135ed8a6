//! Quotes and brackets that are never closed.

use super::lines::{Line, Lines, MAX_LINES};
use super::quotes::as_quoted;
use crate::diagnostic::Diagnostic;

/// Maximum length of a value that is looked at, in bytes.
const MAX_LEN: usize = 20_000;

/// What is wrong with a value in quotes or in brackets.
#[derive(Debug, PartialEq, Eq)]
enum Unclosed {
    /// The quote or the bracket at this offset is open where the next key or item begins, or where the file ends.
    Open(usize),
    /// The bracket at the first offset is closed by another one at the second.
    ByAnother(usize, usize),
}

/// The first quote or bracket that is not closed, up to the line that the parser points at.
pub(super) fn mistake(lines: &Lines<'_>) -> Option<Diagnostic> {
    let mut index = lines.index.saturating_sub(MAX_LINES);
    // The column of the key of a block text, whose lines are indented deeper.
    let mut block = None;
    while index <= lines.index {
        let (line, begin) = (lines.line(index), index);
        index += 1;
        if block.is_some_and(|column| lines.all[begin].trim().is_empty() || line.indent > column) {
            continue;
        }
        block = line.value.starts_with(['|', '>']).then_some(line.column);
        if !line.value.starts_with(['"', '\'', '[', '{']) || line.value.starts_with("{{") {
            continue;
        }
        let start = lines.offset(begin) + lines.all[begin].trim_end().len() - line.value.len();
        let column = if line.key.is_some() { line.column } else { line.indent };
        match closed(lines.text(), start, column) {
            Ok(end) => index = index.max(lines.index_at(end)),
            Err(Unclosed::Open(open)) => return Some(never_closed(lines, open)),
            Err(Unclosed::ByAnother(open, close)) => return Some(closed_by_another(lines, open, close)),
        }
    }
    None
}

/// The offset after a value in quotes or brackets that begins at another one, below a key or an item in a column.
fn closed(text: &str, start: usize, column: usize) -> Result<usize, Unclosed> {
    let mut open: Vec<usize> = Vec::new();
    let stop = text.floor_char_boundary(start.saturating_add(MAX_LEN));
    let mut position = start;
    // Quotes and the character of a comment count where a value may begin, or after a space.
    let (mut begins, mut after_space) = (true, false);
    while let Some(c) = text.get(position..stop).and_then(|rest| rest.chars().next()) {
        let next = position + c.len_utf8();
        match c {
            '"' | '\'' if begins => {
                position = closing_quote(text, position, stop, column).ok_or(Unclosed::Open(position))?;
                if open.is_empty() {
                    return Ok(position);
                }
                (begins, after_space) = (false, false);
                continue;
            }
            '[' | '{' => open.push(position),
            ']' | '}' => {
                let bracket = open.pop().unwrap_or(start);
                if text[bracket..].starts_with('[') != (c == ']') {
                    return Err(Unclosed::ByAnother(bracket, position));
                }
                if open.is_empty() {
                    return Ok(next);
                }
            }
            '#' if after_space => {
                position = text[position..stop].find('\n').map_or(stop, |offset| position + offset);
                continue;
            }
            '\n' if begins_block(&text[next..stop], column) => break,
            _ => {}
        }
        begins = matches!(c, '[' | '{' | ',' | ':' | '\n') || begins && c == ' ';
        after_space = c.is_whitespace();
        position = next;
    }
    // A value that is too long to be looked at is taken for closed.
    match open.last() {
        Some(bracket) if position < stop || stop == text.len() => Err(Unclosed::Open(*bracket)),
        _ => Ok(stop),
    }
}

/// The offset after the quote that closes a text in quotes; `None` if a key or an item begins in it, or the file ends.
fn closing_quote(text: &str, open: usize, stop: usize, column: usize) -> Option<usize> {
    let quote = text[open..].chars().next()?;
    let mut rest = text[open + 1..stop].char_indices().peekable();
    while let Some((offset, c)) = rest.next() {
        let next = open + 1 + offset + c.len_utf8();
        match c {
            '\\' if quote == '"' => {
                rest.next();
            }
            // Two single quotes are one in the text.
            '\'' if quote == '\'' && rest.peek().is_some_and(|(_, c)| *c == '\'') => {
                rest.next();
            }
            c if c == quote => return Some(next),
            '\n' if begins_block(&text[next..stop], column) => return None,
            _ => {}
        }
    }
    (stop < text.len()).then_some(stop)
}

/// Whether a text goes on with a line that begins a key or an item, indented by a column or less.
fn begins_block(text: &str, column: usize) -> bool {
    let line = Line::new(text.lines().next().unwrap_or_default());
    (line.is_item() || line.key.is_some()) && line.indent <= column
}

/// A quote or a bracket that is never closed.
fn never_closed(lines: &Lines<'_>, open: usize) -> Diagnostic {
    let index = lines.index_at(open);
    let at = open - lines.offset(index);
    let line = lines.line(index);
    let written = lines.all[index][at..].trim_end();
    let (noun, close) = match written.as_bytes().first() {
        Some(b'[') => ("bracket", ']'),
        Some(b'{') => ("bracket", '}'),
        Some(b'\'') => ("quote", '\''),
        _ => ("quote", '"'),
    };
    let is_value = written.len() == line.value.len();
    let is_last = lines.below(index).is_none_or(|below| {
        let below = lines.line(below);
        below.is_item() || below.key.is_some()
    });
    let help = if is_value && is_last && noun == "quote" {
        // The other quote was meant to close it.
        let text = written[1..].trim_end_matches(['"', '\'']);
        let text = if text.contains('\\') { as_quoted(text) } else { format!("{close}{text}{close}") };
        format!("write `{}`", line.with_value(&text))
    } else if noun == "quote" {
        format!("write a `{close}` where the text ends")
    } else if is_value && !written.contains([':', ',']) {
        let quoted = line.with_value(&as_quoted(written));
        format!("add `{close}` where it ends; if it is text, put it in quotes: `{quoted}`")
    } else {
        format!("add `{close}` where it ends")
    };
    let message = if noun == "quote" {
        "this quote is never closed".to_owned()
    } else {
        format!("this `{}` is never closed", &written[..1])
    };
    lines.error(index, at..at + 1, message, help)
}

/// A bracket that another one closes.
fn closed_by_another(lines: &Lines<'_>, open: usize, close: usize) -> Diagnostic {
    let index = lines.index_at(open);
    let at = open - lines.offset(index);
    let is_list = lines.text()[open..].starts_with('[');
    let (noun, bracket) = if is_list { ("list", ']') } else { ("mapping", '}') };
    let other = &lines.text()[close..=close];
    let message = format!("this `{}` is closed by `{other}`", &lines.text()[open..=open]);
    let help = format!("close the {noun} with `{bracket}`; text with brackets in it needs quotes");
    lines.error(index, at..at + 1, message, help)
}
