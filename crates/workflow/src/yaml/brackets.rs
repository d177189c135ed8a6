//! Finds lists and mappings in brackets, and texts in quotes, in a text that is not YAML.

use super::comments;
use super::mistakes::{MERGE_KEY, is_key};

/// Maximum length of a list or a mapping that is looked at, in bytes.
const MAX_LEN: usize = 20_000;

/// A list or a mapping in brackets, as the beginning of a value.
#[derive(Debug)]
pub(super) struct Brackets {
    /// The offset of its first bracket.
    pub(super) start: usize,
    /// The offset after its last bracket; `None` if it is never closed.
    pub(super) end: Option<usize>,
    /// The offset of the innermost bracket that is not closed, where there is one.
    pub(super) open: Option<usize>,
    /// What is between commas and brackets, those of inner lists and mappings too: the beginning and the end.
    pub(super) entries: Vec<(usize, usize)>,
    /// The first comment that looks like text and like the end of an entry.
    pub(super) comment: Option<HiddenEnd>,
    /// The offset of the quote that is not closed, where there is one.
    open_quote: Option<usize>,
}

/// A comment that hides the end of an entry, as in `{a: pier #3}`.
#[derive(Clone, Copy, Debug)]
pub(super) struct HiddenEnd {
    /// The offset at which the entry begins.
    pub(super) entry: usize,
    /// The beginning and the end of the comment.
    pub(super) comment: (usize, usize),
}

/// The values in brackets and in quotes that begin in some lines.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// Those in brackets.
    pub(super) brackets: Vec<Brackets>,
    /// The offset of the first quote that is not closed, in brackets or not.
    pub(super) open_quote: Option<usize>,
    /// The offset of the last text in quotes that is the value of a key or an item in a block.
    pub(super) last_quote: Option<usize>,
}

impl Brackets {
    /// Reads from a bracket. A line that begins a key or an item and is indented by `column` or less is no part of it.
    fn read(text: &str, start: usize, column: usize) -> Self {
        let mut brackets =
            Self { start, end: None, open: None, entries: Vec::new(), comment: None, open_quote: None };
        // The offset of each open bracket, and that of the entry that is being read in it.
        let mut levels: Vec<(usize, usize)> = Vec::new();
        let mut position = start;
        // Quotes and the sign of a comment count where a value may begin, or after a blank.
        let (mut begins, mut after_blank) = (true, false);
        let stop = text.floor_char_boundary(start.saturating_add(MAX_LEN));
        while let Some(sign) = text.get(position..stop).and_then(|rest| rest.chars().next()) {
            let next = position + sign.len_utf8();
            let mut close = |levels: &mut Vec<(usize, usize)>| {
                let (_, entry) = levels.pop().unwrap_or_default();
                brackets.entries.push((entry, position));
            };
            match sign {
                '[' | '{' => levels.push((position, next)),
                ']' | '}' => {
                    close(&mut levels);
                    if levels.is_empty() {
                        brackets.end = Some(next);
                        return brackets;
                    }
                }
                ',' => {
                    let bracket = levels.last().map_or(start, |(bracket, _)| *bracket);
                    close(&mut levels);
                    levels.push((bracket, next));
                }
                '"' | '\'' if begins => {
                    position = match QuotedText::read(text, position, column, stop) {
                        QuotedText::Closed(end) => end,
                        QuotedText::Open => {
                            brackets.open_quote = Some(position);
                            break;
                        }
                        QuotedText::TooLong => stop,
                    };
                    (begins, after_blank) = (false, false);
                    continue;
                }
                '#' if after_blank => {
                    let end = text[position..stop].find('\n').map_or(stop, |offset| position + offset);
                    let comment = &text[position..end];
                    if comments::is_text(comment) && comment.contains([',', ']', '}']) {
                        let entry = levels.last().map_or(start, |(_, entry)| *entry);
                        brackets.comment.get_or_insert(HiddenEnd { entry, comment: (position, end) });
                    }
                    position = end;
                    continue;
                }
                '\n' if begins_block(&text[next..stop], column) => break,
                _ => {}
            }
            begins = matches!(sign, '[' | '{' | ',' | ':' | '\n') || begins && sign == ' ';
            after_blank = sign.is_whitespace();
            position = next;
        }
        brackets.open = levels.last().map(|(bracket, _)| *bracket);
        brackets
    }
}

/// The offset after the quote that closes a text in quotes, if it is before another offset.
pub(super) fn closing_quote(text: &str, open: usize, stop: usize) -> Option<usize> {
    let quote = if text[open..].starts_with('"') { '"' } else { '\'' };
    let mut rest = open + 1;
    while let Some(offset) = text.get(rest..stop).and_then(|rest| rest.find([quote, '\\'])) {
        let position = rest + offset;
        match text.as_bytes()[position] {
            b'\\' if quote == '"' => {
                rest = position + 1 + text[position + 1..stop].chars().next().map_or(0, char::len_utf8);
            }
            b'\\' => rest = position + 1,
            // Two single quotes are one in the text.
            b'\'' if quote == '\'' && text[position + 1..stop].starts_with('\'') => rest = position + 2,
            _ => return Some(position + 1),
        }
    }
    None
}

/// Whether a text in quotes is closed.
enum QuotedText {
    /// It ends at this offset.
    Closed(usize),
    /// It is never closed: a key or an item begins in it, or the file ends.
    Open,
    /// It is longer than what is looked at.
    TooLong,
}

impl QuotedText {
    /// Reads from a quote. A line that begins a key or an item and is indented by `column` or less is no part of the text.
    fn read(text: &str, open: usize, column: usize, stop: usize) -> Self {
        let closing = closing_quote(text, open, stop);
        let written = &text[open..closing.unwrap_or(stop)];
        if written.match_indices('\n').any(|(end, _)| begins_block(&text[open + end + 1..stop], column)) {
            return Self::Open;
        }
        match closing {
            Some(end) => Self::Closed(end),
            None if stop == text.len() => Self::Open,
            None => Self::TooLong,
        }
    }
}

/// Whether a text goes on with a line that begins a key or an item, indented by at most this many blanks.
pub(super) fn begins_block(text: &str, column: usize) -> bool {
    let line = text.lines().next().unwrap_or_default();
    let entry = line.trim_start_matches(' ');
    let is_item = entry.starts_with("- ");
    (is_item || key_of(entry).is_some()) && line.len() - entry.len() <= column
}

/// The key that a text begins with, and what follows its colon.
pub(super) fn key_of(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_once(':')?;
    let is_key = is_key(key) || key == MERGE_KEY || key.starts_with("x-") && !key.contains(' ');
    (is_key && (value.is_empty() || value.starts_with(char::is_whitespace))).then_some((key, value))
}

/// The values in brackets and in quotes that begin in some lines of a text. `lines` are these lines, each with its offset.
pub(super) fn in_lines<'l>(text: &str, lines: impl Iterator<Item = (usize, &'l str)>) -> Scan {
    let mut scan = Scan::default();
    let mut resume = 0;
    // The column of the key of a text in a block, whose lines are indented deeper.
    let mut block = None;
    for (start, line) in lines {
        let indent = line.len() - line.trim_start_matches(' ').len();
        if start < resume || block.is_some_and(|column| line.trim().is_empty() || indent > column) {
            continue;
        }
        block = None;
        let entry = line.trim_start_matches(' ').trim_start_matches("- ");
        let entry_start = line.len() - entry.len();
        let keyed = key_of(entry);
        let column = if keyed.is_some() { entry_start } else { entry_start.saturating_sub(2) };
        let value = keyed.map_or(entry, |(_, value)| value).trim_start();
        let value_start = start + (line.len() - value.len());
        if value.starts_with(['|', '>']) {
            block = Some(column);
        } else if value.starts_with(['[', '{']) {
            let read = Brackets::read(text, value_start, column);
            resume = read.end.unwrap_or_default();
            scan.open_quote = scan.open_quote.or(read.open_quote);
            scan.brackets.push(read);
        } else if value.starts_with(['"', '\'']) {
            let stop = text.floor_char_boundary(value_start.saturating_add(MAX_LEN));
            scan.last_quote = Some(value_start);
            match QuotedText::read(text, value_start, column, stop) {
                QuotedText::Closed(end) => resume = end,
                QuotedText::Open => scan.open_quote = scan.open_quote.or(Some(value_start)),
                QuotedText::TooLong => {}
            }
        }
    }
    scan
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Option<usize>, Option<usize>, Vec<&str>) {
        let brackets = Brackets::read(text, text.find(['[', '{']).unwrap(), 0);
        let entries = brackets.entries.iter().map(|(start, end)| text[*start..*end].trim()).collect();
        (brackets.end, brackets.open, entries)
    }

    #[test]
    fn brackets_are_read_with_quotes_and_comments() {
        assert_eq!(read("a: [x, {y: 1}, z] w"), (Some(17), None, vec!["x", "y: 1", "{y: 1}", "z"]));
        assert_eq!(
            read("a: {b: \"]\\\"}\", c: 'it''s }'}"),
            (Some(28), None, vec!["b: \"]\\\"}\"", "c: 'it''s }'"])
        );
        assert_eq!(read("a: {b: it's, c: d#e} # }").0, Some(20));
        assert_eq!(read("a: {b: c # }\n"), (None, Some(3), vec![]));
        assert_eq!(read("a: {b: [c, d\nkey: x]}"), (None, Some(7), vec!["c"]));
        assert_eq!(read("a: {b: c,\n  d: e}"), (Some(17), None, vec!["b: c", "d: e"]));
    }

    #[test]
    fn brackets_in_a_block_of_text_are_text() {
        let text = "a: |\n  b: [x\nc: [y\nd: z\n";
        let lines = text.split('\n').scan(0, |offset, line| {
            let start = *offset;
            *offset += line.len() + 1;
            Some((start, line))
        });
        let starts: Vec<usize> =
            in_lines(text, lines).brackets.iter().map(|brackets| brackets.start).collect();
        assert_eq!(starts, [16]);
    }
}
