//! Error recovery: checks the literal fields of shots that could not be expanded, so that one error does not hide the others.

use serde_json::{Map, Value};

use super::ExpandCx;
use super::request::{on_the_wire, unknown_field};
use crate::diagnostic::{Diagnostic, Problems};
use crate::syntax::{Entry, Shot, Workflow};
use crate::template::has_template;

/// Checks the names of a shot's fields and, of those without templates, the values.
pub(super) fn check(workflow: &Workflow, shot: &Shot, cx: &ExpandCx<'_>, problems: &mut Problems) {
    let find = |entries: &'_ [Entry]| {
        let entry = entries.iter().find(|entry| entry.key.value == "model")?;
        entry.value.text().and_then(|id| cx.contract.model(id))
    };
    let model = find(&shot.fields).or_else(|| find(&workflow.defaults));
    for found in shot.fields.iter().filter_map(|entry| unknown_field(entry, model, cx)) {
        problems.push(found);
    }
    let Some(model) = model else { return };

    let mut request = Map::from_iter([("model".to_owned(), Value::from(model.id.as_str()))]);
    let mut written: Vec<&Entry> = Vec::new();
    for field in cx.contract.fields(&model.family) {
        let Some(entry) = shot.fields.iter().find(|entry| entry.key.value == field.name) else { continue };
        let value = on_the_wire(entry.value.to_json(), field);
        if field.name != "model" && !value.is_null() && !is_templated(&value) {
            request.insert(field.name.clone(), value);
            written.push(entry);
        }
    }
    for violation in cx.contract.check_request(&Value::Object(request)) {
        let of = |pointer: &str| {
            let name = pointer.split('/').nth(1)?;
            written.iter().find(|entry| entry.key.value == name)
        };
        let others: Option<Vec<_>> = violation.related.iter().map(|pointer| of(pointer)).collect();
        // Missing fields are not reported: defaults and templates are not considered here.
        let (Some(entry), Some(others)) = (of(&violation.pointer), others) else { continue };
        let section = if violation.spec_section.is_empty() {
            String::new()
        } else {
            format!(" (spec {})", violation.spec_section)
        };
        let message = format!("{}{section}", violation.message);
        let mut diagnostic =
            Diagnostic::error("refused-request", entry.value.span.or(entry.key.span), message);
        for other in others.into_iter().filter(|other| other.key.span != entry.key.span) {
            diagnostic = diagnostic.other(other.value.span.or(other.key.span), "together with this");
        }
        problems.push(diagnostic);
    }
}

fn is_templated(value: &Value) -> bool {
    match value {
        Value::String(text) => has_template(text),
        Value::Array(items) => items.iter().any(is_templated),
        Value::Object(members) => members.values().any(is_templated),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
