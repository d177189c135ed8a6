//! Error recovery: checks the literal fields of shots that could not be expanded, so that one error does not hide the others.

use std::sync::Arc;

use contract::Pointer;
use serde_json::{Map, Value};

use super::fields::entry;
use super::interner::Interner;
use super::media::LocalMedia;
use super::request_template::{FieldTemplate, RequestTemplate, unknown_fields};
use super::{ExpandCx, check, request_template, service};
use crate::advice::field_message;
use crate::diagnostic::{Diagnostic, Problems};
use crate::syntax::{Shot, Workflow};

/// Checks the names of a shot's fields and, of those without templates, the values.
pub(super) fn check<'w>(workflow: &'w Workflow, shot: &'w Shot, cx: &ExpandCx<'w>, problems: &mut Problems) {
    let Some(cx) = &service::written(shot, cx) else { return };
    let model = entry(workflow, shot, "model")
        .and_then(|(entry, _)| entry.value.text())
        .and_then(|id| cx.contract.model(id));
    let Some(model) = model else {
        for diagnostic in unknown_fields(shot, None, cx) {
            problems.push(diagnostic);
        }
        return;
    };
    let template = RequestTemplate::new(
        workflow,
        shot,
        Arc::clone(&model),
        &mut Interner::default(),
        &mut LocalMedia::default(),
        cx,
    );
    for diagnostic in &template.unknown_fields {
        problems.push(diagnostic.clone());
    }

    // What is put elsewhere is checked with the whole request only.
    let is_literal_field =
        |field: &&FieldTemplate<'_>| field.literal && !field.is_from_defaults && field.placement.is_none();
    let literal_fields: Vec<&FieldTemplate<'_>> = template.fields.iter().filter(is_literal_field).collect();
    let mut request = Map::new();
    if let Some(place) = cx.contract.model_place() {
        place.insert(&mut request, Value::from(model.id.as_str()));
    }
    for field in &literal_fields {
        let value = field.last.iter().map(|last| Value::clone(&last.value));
        request.extend(value.map(|value| (field.name.to_string(), value)));
    }
    let request = Value::Object(request);
    for field in &literal_fields {
        for member in field.last.iter().flat_map(|last| &last.unknown_members) {
            let (_, span) = field.entry.value.descend(member.pointer.split('/').skip(1));
            problems.push(request_template::unknown_member(&field.name, member, span));
        }
    }
    let model_field = cx.contract.model_place().map(Pointer::field);
    for violation in cx.contract.check_request_of(&model.family, &request) {
        let entry = |pointer: &String| {
            let name = pointer.split('/').nth(1)?;
            literal_fields
                .iter()
                .find(|field| *field.name == *name && Some(name) != model_field)
                .map(|field| field.entry)
        };
        let related: Option<Vec<_>> = violation.related.iter().map(entry).collect();
        // Missing fields are not reported: defaults and templates are not considered here.
        let (Some(entry), Some(related)) = (entry(&violation.pointer), related) else { continue };
        let value = request.pointer(&violation.pointer);
        let of_field = field_message(
            &violation,
            value,
            check::written_number(&entry.value, cx),
            &model.family,
            cx.contract,
        );
        let message = of_field.as_ref().map_or(&violation.message, |of_field| &of_field.message);
        let mut diagnostic =
            Diagnostic::error("invalid-request", entry.value.span.or(entry.key.span), message);
        if let Some(help) = of_field.and_then(|of_field| of_field.help) {
            diagnostic = diagnostic.help(help);
        }
        for related_entry in
            related.into_iter().filter(|related_entry| related_entry.key.span != entry.key.span)
        {
            diagnostic =
                diagnostic.other(related_entry.value.span.or(related_entry.key.span), "together with this");
        }
        problems.push(diagnostic);
    }
}
