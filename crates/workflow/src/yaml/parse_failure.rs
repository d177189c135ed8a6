//! A text that the parser has refused, for those modules that look for the mistake in it.

use std::ops::Range;

use super::brackets::key_of;
use crate::diagnostic::Diagnostic;
use crate::source::{Position, Source, Span};

/// Lines above a mistake that are looked at.
const MAX_LINES: usize = 1_000;

/// What the parser refused, and where.
#[derive(Clone, Copy, Debug)]
pub(super) struct ParseFailure<'a> {
    /// The parser's message.
    pub(super) message: &'a str,
    /// What it points at.
    pub(super) span: Span,
    /// The line that it points at, from 1.
    pub(super) number: usize,
    /// The lines of the file.
    pub(super) lines: &'a [&'a str],
    /// The file.
    pub(super) source: &'a Source,
}

impl<'a> ParseFailure<'a> {
    /// The indexes of the line and of the nearest one above that is not blank: what the parser takes for text, it refuses in the line below.
    pub(super) fn near_lines(&self) -> impl Iterator<Item = usize> + use<> {
        let index = self.number - 1;
        [Some(index), self.line_above(index)].into_iter().flatten()
    }

    /// The index of the nearest line above another one that is not blank.
    pub(super) fn line_above(&self, index: usize) -> Option<usize> {
        (0..index).rev().find(|index| !self.lines[*index].trim().is_empty())
    }

    /// The offset at which a line begins.
    pub(super) fn offset(&self, index: usize) -> usize {
        self.source.offset(Position { line: index + 1, column: 1 })
    }

    /// An error at a part of a line, in bytes.
    pub(super) fn error(
        &self,
        index: usize,
        part: Range<usize>,
        message: impl AsRef<str>,
        help: impl AsRef<str>,
    ) -> Diagnostic {
        let start = self.offset(index);
        let span = Span::new(start + part.start, start + part.end);
        Diagnostic::error("yaml-syntax", span, message).help(help)
    }

    /// An error at a line, without its indentation.
    pub(super) fn error_at_line(
        &self,
        index: usize,
        message: impl AsRef<str>,
        help: impl AsRef<str>,
    ) -> Diagnostic {
        let line: &'a str = self.lines[index];
        self.error(index, indentation(line)..line.trim_end().len(), message, help)
    }
}

/// The lines of a file, without the mark of its encoding.
pub(super) fn lines_of(source: &Source) -> Vec<&str> {
    let line = |number: usize| {
        let start = source.offset(Position { line: number, column: 1 });
        source.text().get(start..).and_then(|rest| rest.split(['\n', '\r']).next()).unwrap_or_default()
    };
    let mut lines: Vec<&str> = (1..=source.line_count()).map(line).collect();
    // What follows the last line end is no line.
    lines.pop_if(|last| last.is_empty());
    lines
}

/// How many blanks a line begins with.
pub(super) fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// A line without its indentation and its dashes.
pub(super) fn entry_of(line: &str) -> &str {
    line.trim_start_matches(' ').trim_start_matches("- ")
}

/// The key in front of a value that begins at an offset, in the same line.
pub(super) fn key_before(text: &str, offset: usize) -> Option<&str> {
    let line = &text[text[..offset].rfind('\n').map_or(0, |before| before + 1)..offset];
    let before = line.trim_end().strip_suffix(':')?;
    before.rsplit(['[', '{', ',', ' ']).next().filter(|key| super::mistakes::is_key(key))
}

/// Whether a line (by its index) is more of a text that begins above it: that of a block, or of a key with a value.
pub(super) fn is_in_text(index: usize, lines: &[&str]) -> bool {
    let mut indent = indentation(lines[index]);
    for line in lines[..index].iter().rev().take(MAX_LINES).filter(|line| !line.trim().is_empty()) {
        let entry = entry_of(line);
        let column = line.len() - entry.len();
        if column < indent
            && let Some((_, value)) = key_of(entry)
        {
            return is_text(value.trim());
        }
        let dash = indentation(line);
        if dash < indent {
            if dash < column {
                return false;
            }
            // A line of the text, or one that is no YAML.
            indent = dash;
        }
    }
    false
}

/// Whether what follows a key is text, which may go on in the lines below.
fn is_text(value: &str) -> bool {
    !value.is_empty() && !value.starts_with(['#', '&', '!', '[', '{'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_texts_are_no_keys_or_items() {
        for (text, expected) in [
            ("a: |\n  x", true),
            ("a: |\n  y\n\n  x", true),
            ("a: y\n  z\n    x", true),
            ("- a: y\n    x", true),
            ("a: y\nx", false),
            ("a:\n  x", false),
            ("a: &n\n  x", false),
            ("- a: y\n  x", false),
            ("a:\n  - y\n    x", false),
            ("a:\n  - y\n  x", false),
        ] {
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(is_in_text(lines.len() - 1, &lines), expected, "{text}");
        }
    }

    #[test]
    fn key_of_a_value_is_before_it() {
        for (text, key) in [
            ("a: x", Some("a")),
            ("- a: x", Some("a")),
            ("{b: 1, a: x", Some("a")),
            ("- x", None),
            ("b: 1\nx", None),
        ] {
            assert_eq!(key_before(text, text.len() - 1), key, "{text}");
        }
    }
}
