//! Provenance of request fields: maps a JSON pointer in a request to the span in the file that produced it.

use super::request_builder::{InstanceCx, LoweredPart, RequestBuilder};
use crate::source::Span;
use crate::template::names_used;
use crate::yaml::Yaml;

/// The origin of a part of a request.
pub(super) struct ValueOrigin<'a> {
    pub(super) span: Span,
    /// The value as written, if the file has one.
    pub(super) written: Option<&'a Yaml>,
    pub(super) is_from_defaults: bool,
    /// The key of the shot that it was lowered from, if it is not a request field.
    pub(super) key: Option<&'static str>,
}

impl<'w> RequestBuilder<'_, 'w> {
    /// The origin of the value at a JSON pointer; `None` if nothing in the file produced it.
    pub(super) fn origin(&self, pointer: &str) -> Option<ValueOrigin<'w>> {
        let of_lowered = |part: &LoweredPart| ValueOrigin {
            span: part.span,
            written: None,
            is_from_defaults: false,
            key: Some(part.key),
        };
        if let Some(part) = self.lowered.iter().find(|part| is_within(pointer, &part.pointer)) {
            return Some(of_lowered(part));
        }
        let placed = self.placed.iter().find_map(|placed| {
            let rest = pointer.strip_prefix(&**placed.pointer.as_ref()?)?;
            (rest.is_empty() || rest.starts_with('/')).then_some((placed.entry, rest))
        });
        if let Some(((entry, is_from_defaults), rest)) = placed {
            let (written, span) = entry.value.descend(rest.split('/').skip(1));
            let span = if std::ptr::eq(written, &raw const entry.value) { entry.span() } else { span };
            return Some(ValueOrigin { span, written: Some(written), is_from_defaults, key: None });
        }
        let mut tokens = pointer.split('/').skip(1);
        let name = tokens.next()?;
        let field = self.fields.iter().find(|field| &*field.name == name);
        if let Some((entry, is_from_defaults)) = field.and_then(|field| field.entry) {
            let (written, span) = entry.value.descend(tokens);
            let span = if std::ptr::eq(written, &raw const entry.value) { entry.span() } else { span };
            return Some(ValueOrigin { span, written: Some(written), is_from_defaults, key: None });
        }
        // A part that consists of lowered parts only, such as all of `metadata.content`.
        self.lowered.iter().find(|part| is_within(&part.pointer, pointer)).map(of_lowered)
    }
}

/// Whether a JSON pointer equals `outer` or lies below it.
fn is_within(inner: &str, outer: &str) -> bool {
    inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The span to report for a value: if its template uses exactly one axis, the span of the axis's value.
pub(super) fn origin_span(span: Span, written: Option<&Yaml>, icx: &InstanceCx<'_, '_>) -> Span {
    let Some(text) = written.and_then(Yaml::text) else { return span };
    let axes = names_used(text, icx.cell.values.keys().map(|axis| &**axis));
    match axes.as_slice() {
        [only] => icx.cell.values.get(*only).map_or(span, |value| value.span.or(span)),
        _ => span,
    }
}
