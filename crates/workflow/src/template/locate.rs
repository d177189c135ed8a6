//! Where a part of a template is in the file.

use std::ops::Range;

use crate::source::{Source, Span};

/// The part of a range that the message quotes in backquotes, if it does.
pub(super) fn narrowed(text: &str, range: Range<usize>, message: &str) -> Range<usize> {
    let Some(name) = message.split('`').nth(1).filter(|name| !name.is_empty()) else { return range };
    match text.get(range.clone()).and_then(|identifiers| identifiers.find(name)) {
        Some(offset) => range.start + offset..range.start + offset + name.len(),
        None => range,
    }
}

/// The span of a part of a value. A value whose source text is identical is mapped by offset; with escapes or folded lines, the same
/// occurrence of the same text is searched in the source.
pub(super) fn locate(source: &Source, span: Span, text: &str, range: Range<usize>) -> Option<Span> {
    let identifiers = text.get(range.clone())?;
    let written = source.slice(span);
    if let Some(offset) = written.find(text) {
        let start = span.start() + offset + range.start;
        return Some(Span::new(start, start + identifiers.len()));
    }
    if identifiers.trim().is_empty() {
        return None;
    }
    let which = text.get(..range.start)?.matches(identifiers).count();
    let (offset, _) = written.match_indices(identifiers).nth(which)?;
    Some(Span::new(span.start() + offset, span.start() + offset + identifiers.len()))
}
