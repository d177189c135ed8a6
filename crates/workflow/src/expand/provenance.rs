//! Provenance of request fields: maps a JSON pointer in a request to the span in the file that produced it.

use crate::source::Span;
use crate::syntax::Entry;
use crate::yaml::Yaml;

/// The provenance of all parts of one request.
pub(super) struct Provenance<'a> {
    /// The entry that set each field, and whether it is in `defaults`.
    pub(super) fields: Vec<(&'a Entry, bool)>,
    /// The parts that were lowered from keys of the shot.
    pub(super) lowered: Vec<LoweredPart>,
}

/// A part of a request that was lowered from a key of the shot, such as `continues`.
pub(super) struct LoweredPart {
    /// JSON pointer of the part, e.g. `/metadata/content/0` or `/image`.
    pub(super) pointer: String,
    pub(super) key: &'static str,
    pub(super) span: Span,
}

/// The origin of a part of a request.
pub(super) struct Origin<'a> {
    pub(super) span: Span,
    /// The value as written, if the file has one.
    pub(super) written: Option<&'a Yaml>,
    pub(super) from_defaults: bool,
    /// The key of the shot that it was lowered from, if it is not a request field.
    pub(super) key: Option<&'static str>,
}

impl<'a> Provenance<'a> {
    pub(super) fn find(&self, pointer: &str) -> Option<Origin<'a>> {
        if let Some(lowered) = self.lowered.iter().find(|lowered| is_within(pointer, &lowered.pointer)) {
            return Some(Origin {
                span: lowered.span,
                written: None,
                from_defaults: false,
                key: Some(lowered.key),
            });
        }
        let mut tokens = pointer.split('/').skip(1);
        let name = tokens.next()?;
        if let Some((entry, from_defaults)) = self.fields.iter().find(|(entry, _)| entry.key.value == name) {
            let (written, span) = entry.value.descend(tokens);
            let span = if std::ptr::eq(written, &raw const entry.value) { entry.span() } else { span };
            return Some(Origin { span, written: Some(written), from_defaults: *from_defaults, key: None });
        }
        // A part that consists of lowered parts only, such as all of `metadata.content`.
        self.lowered.iter().find(|lowered| is_within(&lowered.pointer, pointer)).map(|lowered| Origin {
            span: lowered.span,
            written: None,
            from_defaults: false,
            key: Some(lowered.key),
        })
    }
}

/// Whether a JSON pointer equals `outer` or lies below it.
fn is_within(inner: &str, outer: &str) -> bool {
    inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
