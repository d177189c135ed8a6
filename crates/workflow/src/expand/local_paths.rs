//! Reports request fields whose value looks like a local path: request fields are sent as they are, so the service would get the path.

use serde_json::Value;

use super::dedup::DiagnosticDedup;
use super::request_builder::RequestBuilder;
use super::urls::names_a_local_file;
use crate::diagnostic::{Diagnostic, shortened};
use crate::source::Span;

/// Reports every string in a request that looks like the path of a local image, video or audio file.
pub(super) fn report(builder: &RequestBuilder<'_, '_>, dedup: &mut DiagnosticDedup) {
    for field in &builder.fields {
        report_in(&field.value.sent, &format!("/{}", field.name), builder, dedup);
    }
    for placed in &builder.placed {
        let (entry, _) = placed.entry;
        for text in texts(&placed.value).filter(|text| names_a_local_file(text)) {
            dedup.add(builder.icx.instance, diagnostic(&entry.key.value, text, entry.span()));
        }
    }
}

/// A text, or those of a list.
fn texts(value: &Value) -> impl Iterator<Item = &str> {
    let items = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    items.iter().filter_map(Value::as_str)
}

/// Whether a field's value, or an item of it, is probably the path of a local image, video or audio file.
pub(super) fn may_be_local_path(value: &Value) -> bool {
    match value {
        Value::String(text) => names_a_local_file(text),
        Value::Array(items) => items.iter().any(may_be_local_path),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

fn report_in(value: &Value, pointer: &str, builder: &RequestBuilder<'_, '_>, dedup: &mut DiagnosticDedup) {
    match value {
        Value::String(text) if names_a_local_file(text) => report_path(text, pointer, builder, dedup),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                report_in(item, &format!("{pointer}/{index}"), builder, dedup);
            }
        }
        // The contract's own formats check the URLs inside objects.
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {}
    }
}

fn report_path(text: &str, pointer: &str, builder: &RequestBuilder<'_, '_>, dedup: &mut DiagnosticDedup) {
    let shot = &builder.icx.expanded.shot;
    let span = builder.origin(pointer).map_or(shot.id.span, |origin| origin.span);
    let field = pointer.trim_start_matches('/').split('/').next().unwrap_or_default();
    dedup.add(builder.icx.instance, diagnostic(field, text, span));
}

fn diagnostic(field: &str, text: &str, span: Span) -> Diagnostic {
    let message = format!("`{field}` is sent as it is, and `{}` is a local file", shortened(text));
    let help = "`first_frame`, `last_frame` and `references` read local files; a request field takes a URL";
    Diagnostic::error("local-file", span, message).help(help)
}
