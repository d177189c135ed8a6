//! Puts the descriptions of the characters that an instance shows in front of its prompt.

use std::sync::Arc;

use serde_json::Value;

use super::cast::InstanceCast;
use super::dedup::DiagnosticDedup;
use super::interner::Interner;
use super::request_builder::RequestBuilder;
use crate::diagnostic::Diagnostic;
use crate::limits;

/// The last prompt that was composed, shared with the next instance if that has the same parts.
pub(super) struct ComposedPrompt {
    /// The descriptions, with a line end after each.
    prefix: String,
    /// The prompt as the file has it.
    own: Arc<Value>,
    composed: Arc<Value>,
}

/// Puts the texts of the characters in front of the prompt, each on a line of its own, in the order of the shot's `cast`: the
/// description, then the voice. Those that the prompt names itself are left out, and a blank prompt stays as it is.
pub(super) fn prepend_cast(
    builder: &mut RequestBuilder<'_, '_>,
    last: &mut Option<ComposedPrompt>,
    interner: &mut Interner,
    dedup: &mut DiagnosticDedup,
) {
    let cast = &builder.icx.cast;
    let Some(own) = builder.prompt().map(|prompt| Arc::clone(prompt)) else { return };
    let Some(text) = own.as_str().filter(|text| !text.trim().is_empty()) else { return };
    let prefix = descriptions(cast);
    if prefix.is_empty() {
        return;
    }
    if prefix.len() > limits::MAX_RENDERED_BYTES {
        let span = cast.listed.first().map_or(builder.icx.expanded.shot.id.span, |(_, span)| *span);
        let message = format!(
            "the descriptions of the characters have more than {} KiB",
            limits::MAX_RENDERED_BYTES / 1024
        );
        let diagnostic = Diagnostic::error("bad-cast", span, message);
        dedup.add(builder.icx.instance, diagnostic.help("shorten them, or name fewer in `cast`"));
        return;
    }
    let is_same =
        |last: &ComposedPrompt| last.prefix == prefix && (Arc::ptr_eq(&last.own, &own) || last.own == own);
    let cached = last.as_ref().filter(|last| is_same(last)).map(|last| Arc::clone(&last.composed));
    let composed = cached.unwrap_or_else(|| {
        let composed = interner.value(Value::String(format!("{prefix}{text}")));
        *last = Some(ComposedPrompt { prefix, own: Arc::clone(&own), composed: Arc::clone(&composed) });
        composed
    });
    if let Some(prompt) = builder.prompt() {
        *prompt = composed;
    }
}

fn descriptions(cast: &InstanceCast) -> String {
    let mut prefix = String::new();
    for (index, _) in cast.listed.iter() {
        let Some(text) = cast.text(*index) else { continue };
        let description = Some(&text.description).filter(|_| !cast.uses.names_description(*index));
        let voice = text.voice.as_ref().filter(|_| !cast.uses.names_voice(*index));
        for part in description.into_iter().chain(voice).filter(|part| !part.is_empty()) {
            prefix.push_str(part);
            prefix.push('\n');
        }
    }
    prefix
}
