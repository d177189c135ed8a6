//! The lines of a text that the parser has refused: their keys, values and indentation.

use std::ops::Range;

use crate::diagnostic::Diagnostic;
use crate::source::{Position, Source, Span};

/// Lines above a mistake that are looked at.
pub(super) const MAX_LINES: usize = 1_000;
/// Maximum length of a line that help repeats, in bytes.
const MAX_QUOTED_LINE: usize = 400;

/// The lines of a file, and the one that the parser points at.
pub(super) struct Lines<'a> {
    source: &'a Source,
    pub(super) all: Vec<&'a str>,
    /// The index of the line that the parser points at.
    pub(super) index: usize,
    /// What it points at.
    pub(super) span: Span,
}

impl<'a> Lines<'a> {
    /// `None` where there is no line, or one that is too long to be looked at.
    pub(super) fn new(source: &'a Source, span: Span) -> Option<Self> {
        let line = |number: usize| {
            let start = source.offset(Position { line: number, column: 1 });
            source.text().get(start..).and_then(|rest| rest.split(['\n', '\r']).next()).unwrap_or_default()
        };
        let mut all: Vec<&str> = (1..=source.line_count()).map(line).collect();
        // What follows the last line end is no line.
        all.pop_if(|last| last.is_empty());
        // The parser may stop after the last line.
        let index = source.position(span.start()).line.min(all.len()).checked_sub(1)?;
        (all[index].len() <= MAX_QUOTED_LINE).then_some(Self { source, all, index, span })
    }

    pub(super) fn text(&self) -> &'a str {
        self.source.text()
    }

    /// The line that the parser points at.
    pub(super) fn own(&self) -> Line<'a> {
        self.line(self.index)
    }

    pub(super) fn line(&self, index: usize) -> Line<'a> {
        Line::new(self.all[index])
    }

    /// The index of the nearest line above another one that is not empty.
    pub(super) fn above(&self, index: usize) -> Option<usize> {
        (0..index).rev().find(|index| !self.all[*index].trim().is_empty())
    }

    /// The index of the nearest line below another one that is not empty.
    pub(super) fn below(&self, index: usize) -> Option<usize> {
        (index + 1..self.all.len()).find(|index| !self.all[*index].trim().is_empty())
    }

    /// The offset at which a line begins.
    pub(super) fn offset(&self, index: usize) -> usize {
        self.source.offset(Position { line: index + 1, column: 1 })
    }

    /// The index of the line that an offset is in.
    pub(super) fn index_at(&self, offset: usize) -> usize {
        self.source.position(offset).line - 1
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
}

/// A line in its parts: indentation, dashes, key and value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// The spaces that it begins with.
    pub(super) indent: usize,
    /// Where its key begins, or the value of an item without a key.
    pub(super) column: usize,
    pub(super) key: Option<&'a str>,
    /// What follows the key, or the dash; else the line.
    pub(super) value: &'a str,
}

impl<'a> Line<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        let text = line.trim_start_matches(' ');
        let entry = text.trim_start_matches("- ");
        let keyed = key_of(entry);
        Self {
            indent: line.len() - text.len(),
            column: line.len() - entry.len(),
            key: keyed.map(|(key, _)| key),
            value: keyed.map_or(entry, |(_, value)| value).trim(),
        }
    }

    /// Whether it begins an item of a list.
    pub(super) fn is_item(&self) -> bool {
        self.column > self.indent
    }

    /// The line with another value, without its indentation and its dash.
    pub(super) fn with_value(&self, value: &str) -> String {
        self.key.map_or_else(|| format!("- {value}"), |key| format!("{key}: {value}"))
    }
}

/// The key that a text begins with, and what follows its colon.
fn key_of(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_once(':')?;
    let is_key = key.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_alphanumeric() || c == '_')
        || key == "<<"
        || key.starts_with("x-") && !key.contains(' ');
    (is_key && (value.is_empty() || value.starts_with(char::is_whitespace))).then_some((key, value))
}

/// A number of spaces, in words.
pub(super) fn spaces(count: usize) -> String {
    match count {
        0 => "no spaces".to_owned(),
        1 => "1 space".to_owned(),
        count => format!("{count} spaces"),
    }
}
