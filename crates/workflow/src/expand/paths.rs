//! Request fields are sent as they are: a local file's name in one of them would reach the service as that name.

use serde_json::Value;

use super::media;
use super::request::Making;
use super::tally::Tally;
use crate::diagnostic::Diagnostic;

/// Reports text in a request that names a local image, video or sound.
pub(super) fn check(making: &Making<'_, '_>, tally: &mut Tally) {
    for (name, value) in &making.request {
        look(value, &format!("/{name}"), making, tally);
    }
}

/// Whether a field's value is or lists the name of a local image, video or sound.
pub(super) fn names_one(value: &Value) -> bool {
    match value {
        Value::String(text) => media::names_a_local_file(text),
        Value::Array(items) => items.iter().any(names_one),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

fn look(value: &Value, pointer: &str, making: &Making<'_, '_>, tally: &mut Tally) {
    match value {
        Value::String(text) if media::names_a_local_file(text) => report(text, pointer, making, tally),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                look(item, &format!("{pointer}/{at}"), making, tally);
            }
        }
        // In objects the contract itself asks for URLs.
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {}
    }
}

fn report(text: &str, pointer: &str, making: &Making<'_, '_>, tally: &mut Tally) {
    let shot = &making.work.fanned.shot;
    let span = making.origins.find(pointer).map_or(shot.id.span, |found| found.span);
    let field = pointer.trim_start_matches('/').split('/').next().unwrap_or_default();
    let message = format!("`{field}` is sent as it is, and `{}` is a local file", super::shortened(text));
    let help = "`first_frame`, `last_frame` and `references` read local files; a request field takes a URL";
    tally.add(making.work.draft, Diagnostic::error("local-file", span, message).help(help));
}
