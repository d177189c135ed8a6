//! From a place in a request back to the place in the file that put it there.

use crate::source::Span;
use crate::syntax::Entry;
use crate::yaml::Yaml;

/// Where the parts of one request come from.
pub(super) struct Origins<'a> {
    /// Field by field: what the file says, and whether `defaults` says it.
    pub(super) fields: Vec<(&'a Entry, bool)>,
    /// What the words of the shot put there.
    pub(super) lowered: Vec<Lowered>,
}

/// A part of a request that a word of the shot put there.
pub(super) struct Lowered {
    /// JSON pointer of the part, e.g. `/metadata/content/0` or `/image`.
    pub(super) pointer: String,
    pub(super) word: &'static str,
    pub(super) span: Span,
}

/// A place in the file.
pub(super) struct Found<'a> {
    pub(super) span: Span,
    /// The value as it is written, where there is one.
    pub(super) written: Option<&'a Yaml>,
    pub(super) from_defaults: bool,
    /// The word that stands for it, where that is not a request field.
    pub(super) word: Option<&'static str>,
}

impl<'a> Origins<'a> {
    pub(super) fn find(&self, pointer: &str) -> Option<Found<'a>> {
        if let Some(lowered) = self.lowered.iter().find(|lowered| is_within(pointer, &lowered.pointer)) {
            return Some(Found {
                span: lowered.span,
                written: None,
                from_defaults: false,
                word: Some(lowered.word),
            });
        }
        let mut tokens = pointer.split('/').skip(1);
        let name = tokens.next()?;
        if let Some((entry, from_defaults)) = self.fields.iter().find(|(entry, _)| entry.key.value == name) {
            let (written, span) = entry.value.descend(tokens);
            let span = if std::ptr::eq(written, &raw const entry.value) { entry.span() } else { span };
            return Some(Found { span, written: Some(written), from_defaults: *from_defaults, word: None });
        }
        // A part that only words put there, such as the whole of `metadata.content`.
        self.lowered.iter().find(|lowered| is_within(&lowered.pointer, pointer)).map(|lowered| Found {
            span: lowered.span,
            written: None,
            from_defaults: false,
            word: Some(lowered.word),
        })
    }
}

/// Whether one JSON pointer is another or lies below it.
fn is_within(inner: &str, outer: &str) -> bool {
    inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
