//! Puts what is no field of its own, such as `prompt` in a list of contents, where the description says.

use std::sync::Arc;

use super::dedup::DiagnosticDedup;
use super::interner::Interner;
use super::request_builder::RequestBuilder;
use crate::diagnostic::Diagnostic;

/// Puts the values of an instance into its fields, in their order. One whose place is taken is reported.
pub(super) fn place(
    builder: &mut RequestBuilder<'_, '_>,
    interner: &mut Interner,
    dedup: &mut DiagnosticDedup,
) {
    for index in 0..builder.placed.len() {
        let placed = &builder.placed[index];
        let (placement, value) = (placed.placement.clone(), Arc::clone(&placed.value));
        if let Some(pointer) = builder.place(&placement, &value, interner) {
            let pointer = interner.name(&pointer);
            builder.said.push((builder.placed[index].word, Arc::clone(&pointer)));
            builder.placed[index].pointer = Some(pointer);
            continue;
        }
        let (entry, _) = builder.placed[index].entry;
        let (key, at) = (&entry.key.value, placement.at.as_str());
        let message = format!("`{key}` belongs in `{at}` of the request, where another value is");
        let diagnostic = Diagnostic::error("duplicate-key", entry.key.span, message);
        let diagnostic = match builder.origin(&format!("/{}", placement.field())) {
            Some(origin) => diagnostic.other(origin.span, "set here"),
            None => diagnostic,
        };
        dedup.add(builder.icx.instance, diagnostic.help(format!("keep `{key}`")));
    }
}
