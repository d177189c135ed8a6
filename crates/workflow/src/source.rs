//! Source text of a workflow file and its included files, and spans in it.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::secret_text;

/// A range of a [`Source`] in byte offsets, end excluded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// The bytes from `start` up to `end`. An end before the start is taken as the start.
    pub fn new(start: usize, end: usize) -> Self {
        let clamp = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Self { start: clamp(start), end: clamp(end.max(start)) }
    }

    /// The first byte's offset.
    pub fn start(self) -> usize {
        self.start as usize
    }

    /// The offset after the last byte.
    pub fn end(self) -> usize {
        self.end as usize
    }

    /// As a range of byte offsets.
    pub fn range(self) -> Range<usize> {
        self.start()..self.end()
    }

    /// Whether it is empty, such as the span of a value that is missing after its key.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The span, moved by an offset.
    pub(crate) fn offset_by(self, by: usize) -> Self {
        Self::new(self.start() + by, self.end() + by)
    }

    /// This span, or the other one where this one is empty.
    pub fn or(self, other: Self) -> Self {
        if self.is_empty() { other } else { self }
    }
}

/// A value with its span in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    pub value: T,
    pub span: Span,
}

impl<T> Spanned<T> {
    /// A value with its span.
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

/// The text of a workflow file, with the name that the user gave, and of its included files.
///
/// Offsets are consecutive over all files: those of an included file follow those of the files before it, so that a [`Span`]
/// identifies its file.
#[derive(Clone, Debug)]
pub struct Source {
    name: Box<str>,
    text: Box<str>,
    /// Byte offset of the start of each line.
    lines: Box<[u32]>,
    /// Included files, each with the offset at which it begins.
    included: Vec<(usize, Source)>,
    /// Byte ranges of credentials in the text, once something of it is to be shown.
    secrets: Arc<OnceLock<Box<[Range<usize>]>>>,
    /// How many characters are before each block of [`BLOCK_LEN`] bytes, once a column is asked for: a file may be one long line.
    characters: Arc<OnceLock<Box<[u32]>>>,
}

/// In bytes.
const BLOCK_LEN: usize = 512;

/// How many characters begin in these bytes of a text.
fn count_characters(bytes: &[u8]) -> usize {
    let is_continuation = |byte: u8| byte & 0b1100_0000 == 0b1000_0000;
    bytes.iter().filter(|byte| !is_continuation(**byte)).count()
}

const BYTE_ORDER_MARK: char = '\u{feff}';

impl Source {
    /// A file's name and text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text: String = text.into();
        // Lines end with LF, CRLF, or CR alone, as YAML and tables have them.
        let bytes = text.as_bytes();
        let ends_line = |offset: &usize| match bytes[*offset] {
            b'\n' => true,
            b'\r' => bytes.get(offset + 1) != Some(&b'\n'),
            _ => false,
        };
        let mut lines = vec![0];
        lines.extend((0..bytes.len()).filter(ends_line).map(|offset| offset as u32 + 1));
        let (name, text) = (name.into().into(), text.into());
        Self {
            name,
            text,
            lines: lines.into(),
            included: Vec::new(),
            secrets: Arc::default(),
            characters: Arc::default(),
        }
    }

    /// Adds the text of another file, and returns the offset at which it begins.
    pub(crate) fn add(&mut self, file: Self) -> usize {
        let (start, last) = self.included.last().map_or((0, &*self), |(start, last)| (*start, last));
        // One more, so that the end of a file and the beginning of the next differ.
        let start = start + last.text.len() + 1;
        self.included.push((start, file));
        start
    }

    /// The file that an offset is in, and the offset within it.
    pub(crate) fn file_at(&self, offset: usize) -> (&Self, usize) {
        let after = self.included.partition_point(|(start, _)| *start <= offset);
        match after.checked_sub(1).and_then(|index| self.included.get(index)) {
            Some((start, file)) => (file, offset - start),
            None => (self, offset),
        }
    }

    /// The byte ranges of credentials in this file's own text, in order.
    pub(crate) fn secrets(&self) -> &[Range<usize>] {
        self.secrets.get_or_init(|| secret_text::ranges(&self.text).into())
    }

    /// This file and those that it includes.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(self.included.iter().map(|(_, file)| file))
    }

    /// The name of the file that an offset is in.
    pub(crate) fn name_at(&self, offset: usize) -> &str {
        &self.file_at(offset).0.name
    }

    /// The file's name as the user gave it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text of the workflow file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text of a span; empty where the span is out of range.
    pub fn slice(&self, span: Span) -> &str {
        let (file, start) = self.file_at(span.start());
        file.text.get(start..start + (span.end() - span.start())).unwrap_or_default()
    }

    /// The line and column of a byte offset in its file; beyond the end, those of the end.
    pub fn position(&self, offset: usize) -> Position {
        let (file, offset) = self.file_at(offset);
        let offset = file.floor(offset);
        let line = file.lines.partition_point(|start| *start as usize <= offset).max(1);
        let start = file.line_start(line);
        let before = file.text.get(start..offset).unwrap_or_default();
        let start = offset - before.trim_start_matches(BYTE_ORDER_MARK).len();
        Position { line, column: file.characters_before(offset) - file.characters_before(start) + 1 }
    }

    /// How many characters of the text begin before a byte offset.
    fn characters_before(&self, offset: usize) -> usize {
        let bytes = self.text.as_bytes();
        let blocks = self.characters.get_or_init(|| {
            let before = bytes.chunks(BLOCK_LEN).scan(0, |sum, block| {
                let before = *sum;
                *sum += count_characters(block) as u32;
                Some(before)
            });
            before.collect()
        });
        let block = (offset / BLOCK_LEN).min(blocks.len().saturating_sub(1));
        let before = blocks.get(block).copied().unwrap_or_default() as usize;
        before + count_characters(bytes.get(block * BLOCK_LEN..offset).unwrap_or_default())
    }

    /// The byte offset of a line and column of the workflow file, or the nearest that exists.
    pub fn offset(&self, position: Position) -> usize {
        let start = self.line_start(position.line.clamp(1, self.lines.len()));
        let rest = self.text.get(start..).unwrap_or_default();
        let line = rest.split(['\n', '\r']).next().unwrap_or_default();
        let skip = usize::from(line.starts_with(BYTE_ORDER_MARK));
        let within = line
            .char_indices()
            .nth(position.column.saturating_sub(1) + skip)
            .map_or(line.len(), |(offset, _)| offset);
        start + within
    }

    /// How many lines the workflow file has.
    pub(crate) fn line_count(&self) -> usize {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_with_lf_crlf_or_cr() {
        for text in ["a\nbc\n\nd", "a\r\nbc\r\n\r\nd", "a\rbc\r\rd"] {
            let source = Source::new("a.yaml", text);
            assert_eq!(source.line_count(), 4, "{text:?}");
            let (c, d) = (Position { line: 2, column: 2 }, Position { line: 4, column: 1 });
            for (letter, position) in [('c', c), ('d', d)] {
                let offset = text.find(letter).unwrap();
                assert_eq!(source.position(offset), position, "{text:?}");
                assert_eq!(source.offset(position), offset, "{text:?}");
            }
        }
    }

    #[test]
    fn column_counts_characters_however_long_a_line_is() {
        let line = "\u{feff}".to_owned() + &"aé漢🎬".repeat(400);
        let text = format!("{line}\n{line}");
        let source = Source::new("a.yaml", text.as_str());
        for (offset, _) in text.char_indices() {
            let start = text[..offset].rfind('\n').map_or(0, |end| end + 1);
            let column = text[start..offset].trim_start_matches(BYTE_ORDER_MARK).chars().count() + 1;
            assert_eq!(source.position(offset).column, column, "{offset}");
        }
    }

    #[test]
    fn offset_identifies_file() {
        let mut source = Source::new("a.yaml", "one\ntwo");
        let b = source.add(Source::new("b.yaml", "drei\nvier\n"));
        let c = source.add(Source::new("c.yaml", "cinq"));
        assert_eq!(source.name_at(7), "a.yaml");
        assert_eq!(
            (source.name_at(b), source.name_at(c), source.name_at(c + 99)),
            ("b.yaml", "c.yaml", "c.yaml")
        );
        assert_eq!(source.slice(Span::new(5, 9).offset_by(b)), "vier");
        assert_eq!(source.position(b + 5), Position { line: 2, column: 1 });
        assert_eq!(source.position(c + 2), Position { line: 1, column: 3 });
        assert_eq!(source.slice(Span::new(4, 7)), "two");
    }
}
