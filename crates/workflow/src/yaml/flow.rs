//! Mistakes in lists and mappings in brackets, once the parser has refused them.

use super::as_quoted;
use super::brackets::{self, Brackets, HiddenEnd, key_of};
use super::mistakes::{self, is_key};
use super::parse_failure::{ParseFailure, key_before};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// Lines above a mistake that are looked at.
const MAX_LINES: usize = 200;
/// Maximum length of a text that help repeats, in bytes.
const MAX_QUOTED_LEN: usize = 300;

/// The mistake in brackets that led to a message of the parser, with what was probably meant.
pub(super) fn mistake(failure: &ParseFailure<'_>) -> Option<Diagnostic> {
    let ParseFailure { message, number, lines, span, .. } = *failure;
    let (text, position) = (failure.source.text(), span.start());
    if ["anchor", "alias", "tab", "unclosed quote"].iter().any(|word| message.contains(word)) {
        return None;
    }
    let first = number.saturating_sub(MAX_LINES);
    let scanned = (first..number.min(lines.len())).map(|index| (failure.offset(index), lines[index]));
    let mut scanned = brackets::in_lines(text, scanned).brackets;
    let hidden = scanned.iter().rev().filter(|brackets| brackets.end.is_none()).find_map(|read| read.comment);
    if let Some(diagnostic) = hidden.and_then(|hidden| hidden_end(text, hidden)) {
        return Some(diagnostic);
    }
    if message.contains("unclosed bracket") || message.contains("mismatched bracket") {
        return unclosed(message, text, position);
    }
    if message.contains("misplaced bracket") {
        return misplaced(text, span);
    }
    // A list in a block, within brackets.
    if message.contains("only valid inside a block") {
        return unclosed(message, text, scanned.iter().rev().find_map(|brackets| brackets.open)?);
    }
    let brackets = scanned.pop()?;
    let line_start = failure.offset(number - 1);
    if let Some(open) = brackets.open {
        return unclosed(message, text, open);
    }
    let end = brackets.end?;
    if end <= position && end > line_start {
        return Some(after_brackets(text, &brackets, span));
    }
    // The parser points at the entry or, where that could be a key, at the beginning of the line.
    if end <= position || brackets.start > position && brackets.start < line_start {
        return None;
    }
    let is_inside = brackets.start < position;
    let holds = |(start, end): &&(usize, usize)| *start <= position && position <= *end;
    let entry = if is_inside {
        brackets.entries.iter().filter(holds).min_by_key(|(start, end)| end - start)
    } else {
        brackets.entries.iter().find(|entry| text[entry.0..entry.1].matches(": ").count() > 1)
    };
    let (start, end) = *entry?;
    in_entry(text, start, end, is_inside.then_some(position), failure)
}

/// An entry whose end is in a comment.
fn hidden_end(text: &str, hidden: HiddenEnd) -> Option<Diagnostic> {
    let (start, end) = hidden.comment;
    let comment = text.get(start..end)?;
    // The text goes on up to the next entry or bracket.
    let is_end = |(offset, sign): &(usize, char)| match sign {
        ',' => key_of(comment[offset + 1..].trim_start()).is_some(),
        _ => matches!(sign, ']' | '}'),
    };
    let in_list = !text[hidden.entry..start].contains(':');
    let length =
        comment.char_indices().find(|(offset, sign)| is_end(&(*offset, *sign)) || in_list && *sign == ',');
    let entry = text.get(hidden.entry..start + length?.0)?.trim();
    let (key, value) = key_of(entry).map_or(("", entry), |(key, value)| (key, value.trim()));
    let (of_text, key) = match key {
        "" => (String::new(), String::new()),
        key => (format!(" of `{key}`"), format!("{key}: ")),
    };
    (value.len() <= MAX_QUOTED_LEN && !value.contains(['\n', '"', '\''])).then(|| {
        let message = format!("a `#` after a blank begins a comment, and ends the text{of_text}");
        let help = format!("put the text in quotes: `{key}{}`", as_quoted(value));
        Diagnostic::error("yaml-syntax", Span::new(start, end), message).help(help)
    })
}

/// A bracket that is not closed, or by another one.
fn unclosed(message: &str, text: &str, position: usize) -> Option<Diagnostic> {
    let rest = text.get(position..)?;
    let sign = rest.chars().next().filter(|sign| matches!(sign, '[' | '{'))?;
    // A template, for which there is other help.
    if rest.starts_with("{{") || text[..position].ends_with('{') {
        return None;
    }
    let (close, noun) = if sign == '[' { (']', "list") } else { ('}', "mapping") };
    let error = |message: String, help: String| {
        Some(Diagnostic::error("yaml-syntax", Span::new(position, position + 1), message).help(help))
    };
    let line = &text[text[..position].rfind('\n').map_or(0, |before| before + 1)..position];
    let key = key_before(text, position);
    let is_nested = line.contains(['[', '{']);
    let value = rest.lines().next().unwrap_or_default();
    // Of a list in brackets, what is before a comma is not the whole text.
    let (value, is_whole) = match value.find([',', '}']).filter(|_| is_nested) {
        Some(end) => (&value[..end], !value[end..].starts_with(',')),
        None => (value, true),
    };
    let value = value.trim_end();
    let quoted = key
        .filter(|_| is_whole && !value.contains(": ") && value.len() <= MAX_QUOTED_LEN && value.len() > 1)
        .map(|key| format!("; if it is text, put it in quotes: `{key}: {}`", as_quoted(value)))
        .unwrap_or_default();
    if let Some((_, closing)) = message.split_once("closed by ") {
        let closing = closing.trim_matches('\'');
        let quoted = if quoted.is_empty() { "; text with brackets in it needs quotes" } else { &quoted };
        return error(
            format!("this `{sign}` is closed by `{closing}`"),
            format!("close the {noun} with `{close}`{quoted}"),
        );
    }
    error(format!("this `{sign}` is never closed"), format!("add `{close}` where the {noun} ends{quoted}"))
}

/// A bracket that closes nothing.
fn misplaced(text: &str, span: Span) -> Option<Diagnostic> {
    let position = span.start();
    let sign = text.get(position..)?.chars().next().filter(|sign| matches!(sign, ']' | '}'))?;
    let line = &text[text[..position].rfind('\n').map_or(0, |before| before + 1)..];
    let line = line.lines().next().unwrap_or_default().trim_end();
    let entry = line.trim_start().trim_start_matches("- ");
    let help = match key_of(entry).map(|(key, value)| (key, value.trim())) {
        Some((key, value)) if value.starts_with(sign) && value.len() <= MAX_QUOTED_LEN => {
            format!("put the text in quotes: `{key}: {}`", as_quoted(value))
        }
        _ => "remove it; text with brackets in it needs quotes".to_owned(),
    };
    Some(Diagnostic::error("yaml-syntax", span, format!("this `{sign}` closes nothing")).help(help))
}

/// Text in the line in which a list or a mapping ends.
fn after_brackets(text: &str, brackets: &Brackets, span: Span) -> Diagnostic {
    let line = text[..brackets.start].rfind('\n').map_or(0, |before| before + 1);
    let rest = text[brackets.start..].lines().next().unwrap_or_default().trim_end();
    let is_text =
        !rest.contains(": ") && rest.len() <= MAX_QUOTED_LEN && brackets.start + rest.len() > span.start();
    let key = key_of(text[line..brackets.start].trim_start().trim_start_matches("- "));
    let help = match (is_text, key) {
        (false, _) => "remove it, or put what is text in quotes".to_owned(),
        (true, Some((key, _))) => format!("put the text in quotes: `{key}: {}`", as_quoted(rest)),
        (true, None) => format!("put the text in quotes: `- {}`", as_quoted(rest)),
    };
    Diagnostic::error("yaml-syntax", span, "text after a list or a mapping in brackets").help(help)
}

/// An entry that the parser refuses at an offset, if it says where.
fn in_entry(
    text: &str,
    start: usize,
    end: usize,
    position: Option<usize>,
    failure: &ParseFailure<'_>,
) -> Option<Diagnostic> {
    let entry = text.get(start..end)?;
    let span = failure.span;
    let error =
        |message: &str, help: String| Some(Diagnostic::error("yaml-syntax", span, message).help(help));
    let refused = position.and_then(|position| text[position..].chars().next());
    if let Some(before) = position.and_then(|position| text.get(start..position))
        && let Some((above, word)) = before.trim_start().rsplit_once('\n')
        && (is_key(word.trim()) || word.trim().is_empty())
    {
        let above = above.lines().last().unwrap_or_default().trim();
        return error("a comma is missing at the end of the line above", format!("write `{above},`"));
    }
    if refused.is_some_and(|sign| matches!(sign, '"' | '\'')) && !failure.message.contains("trailing content")
    {
        return error("a comma is missing before this", "write a comma between two entries".to_owned());
    }
    let (key, value) = key_of(entry.trim())?;
    let value = value.trim();
    if value.is_empty() || value.contains('\n') || value.len() > MAX_QUOTED_LEN {
        return None;
    }
    if let Some((message, help)) = mistakes::quoting(failure.message, key, value) {
        return error(message, help);
    }
    let quoted = match super::quotes::requoted(value) {
        Some(text) => format!("write `{key}: {text}`"),
        None => format!("put the text in quotes: `{key}: {}`", as_quoted(value)),
    };
    if position.is_none() || refused == Some(':') {
        let before = position.and_then(|position| text.get(start..position)).unwrap_or_default().trim_end();
        let word = before.rsplit([' ', ';']).next().filter(|word| is_key(word));
        let is_other =
            word.is_some_and(|word| !before[..before.len() - word.len()].trim_end().ends_with(':'));
        let help = match word.filter(|_| is_other) {
            Some(word) => format!("{quoted}; if `{word}` is a key, put a comma before it"),
            None => quoted,
        };
        return error("a second `: ` in an entry begins a mapping", help);
    }
    let message = match value.chars().next() {
        Some('[' | '{') => "text after a list or a mapping in brackets",
        Some('"' | '\'') => "text after a closing quote",
        _ => "this text needs quotes",
    };
    error(message, quoted)
}

#[cfg(test)]
#[path = "flow_tests.rs"]
mod tests;
