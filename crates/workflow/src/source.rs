//! The text of a workflow file, and places in it.

use std::ops::Range;

/// A piece of a [`Source`]: byte offsets, end excluded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// The bytes from `start` up to `end`. An end before the start is taken as the start.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        let clamp = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Self { start: clamp(start), end: clamp(end.max(start)) }
    }

    /// The first byte's offset.
    #[must_use]
    pub fn start(self) -> usize {
        self.start as usize
    }

    /// The offset after the last byte.
    #[must_use]
    pub fn end(self) -> usize {
        self.end as usize
    }

    /// As a range of byte offsets.
    #[must_use]
    pub fn range(self) -> Range<usize> {
        self.start()..self.end()
    }

    /// Whether nothing is in it, as with a value that was left out after its key.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// This span, or the other one where this one is empty.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        if self.is_empty() { other } else { self }
    }
}

/// A value with its place in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// A value with its place.
    pub fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}

/// A line and a column, both counted from 1; columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

/// The text of a workflow file under the name by which the user knows it.
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    text: String,
    /// Byte offset of the start of each line.
    lines: Vec<u32>,
}

const BYTE_ORDER_MARK: char = '\u{feff}';

impl Source {
    /// A file's name and text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let mut lines = vec![0];
        lines
            .extend(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at as u32 + 1));
        Self { name: name.into(), text, lines }
    }

    /// The file's name as the user gave it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text of a span; empty where the span does not fit the text.
    #[must_use]
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or_default()
    }

    /// The line and column of a byte offset. Past the end is the end.
    #[must_use]
    pub fn position(&self, offset: usize) -> Position {
        let offset = self.floor(offset);
        let line = self.lines.partition_point(|start| *start as usize <= offset).max(1);
        let start = self.line_start(line);
        let before = self.text.get(start..offset).unwrap_or_default();
        Position { line, column: before.trim_start_matches(BYTE_ORDER_MARK).chars().count() + 1 }
    }

    /// The byte offset of a line and column; the nearest there is where they do not exist.
    #[must_use]
    pub fn offset(&self, position: Position) -> usize {
        let start = self.line_start(position.line.clamp(1, self.lines.len()));
        let rest = self.text.get(start..).unwrap_or_default();
        let line = rest.split('\n').next().unwrap_or_default();
        let skip = usize::from(line.starts_with(BYTE_ORDER_MARK));
        let at = line
            .char_indices()
            .nth(position.column.saturating_sub(1) + skip)
            .map_or(line.len(), |(at, _)| at);
        start + at
    }

    /// How many lines there are.
    #[must_use]
    pub fn line_count(&self) -> usize {
        self.lines.len()
    }

    /// The byte offset at which a line (from 1) starts.
    pub(crate) fn line_start(&self, line: usize) -> usize {
        self.lines.get(line.saturating_sub(1)).map_or(self.text.len(), |start| *start as usize)
    }

    /// The nearest character boundary at or before an offset.
    pub(crate) fn floor(&self, offset: usize) -> usize {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }
}
