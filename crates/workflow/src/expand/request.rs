//! The request of one instance: fields from the shot and the defaults, rendered and typed; frames; the contract's verdict.
//! Everything is looked at here, one instance at a time; [`super::recipe`] is the shorter way for instances that are in order.

use std::collections::HashSet;
use std::sync::Arc;

use contract::{Family, Field, Model};
use serde_json::{Map, Value};

use super::ExpandCx;
use super::check;
use super::dedup::DiagnosticDedup;
use super::frames::MediumUse;
use super::instances::{ExpandedShot, Instance};
use super::local_paths;
use super::lower;
use super::provenance::Provenance;
use super::resolve::RefResolver;
use crate::diagnostic::{Diagnostic, Problems, did_you_mean, quoted_list};
use crate::matrix::Cell;
use crate::plan::{Input, Node, Request};
use crate::syntax::keys::shot::SHOT;
use crate::syntax::{Entry, Workflow};
use crate::template::Scope;

/// One instance on its way to being a node.
pub(super) struct InstanceCx<'a, 'w> {
    pub(super) workflow: &'w Workflow,
    pub(super) instance: &'a Instance,
    pub(super) expanded: &'a ExpandedShot<'w>,
    pub(super) cell: &'a Cell,
    pub(super) scope: Scope,
    pub(super) frames: &'a [MediumUse],
    pub(super) continued: bool,
    pub(super) resolver: &'a RefResolver<'a, 'w>,
}

/// A request on its way: what is in it so far, and where that comes from.
pub(super) struct RequestBuilder<'a, 'w> {
    pub(super) icx: &'a InstanceCx<'a, 'w>,
    pub(super) model: &'w Model,
    pub(super) request: Map<String, Value>,
    pub(super) inputs: Vec<Input>,
    pub(super) provenance: Provenance<'w>,
    /// Fields that could not be rendered: what the contract says of them is not news.
    pub(super) failed: HashSet<&'w str>,
}

impl<'a, 'w> RequestBuilder<'a, 'w> {
    pub(super) fn new(icx: &'a InstanceCx<'a, 'w>, model: &'w Model) -> Self {
        Self {
            icx,
            model,
            request: Map::new(),
            inputs: Vec::new(),
            provenance: Provenance { fields: Vec::new(), lowered: Vec::new() },
            failed: HashSet::new(),
        }
    }
}

/// Reports defaults that no family knows. A default that some family has, and a shot's own does not, is left out of
/// that shot's request: so one set of defaults serves shots of several families.
pub(super) fn check_defaults(workflow: &Workflow, cx: &ExpandCx<'_>, problems: &mut Problems) {
    for entry in &workflow.defaults {
        let name = &entry.key.value;
        if !is_field_of_any(name, cx) {
            let diagnostic = Diagnostic::error(
                "unknown-field",
                entry.key.span,
                format!("`{name}` is not a field of any request"),
            );
            problems.push(match did_you_mean(name, all_fields(cx)) {
                Some(help) => diagnostic.help(help),
                None => diagnostic.help("`defaults` holds request fields, such as `model` and `seconds`"),
            });
        }
    }
}

fn all_fields<'c>(cx: &ExpandCx<'c>) -> impl Iterator<Item = &'c str> {
    let contract = cx.contract;
    contract.families().flat_map(|family| contract.fields(family)).map(|field| field.name.as_str())
}

fn is_field_of_any(name: &str, cx: &ExpandCx<'_>) -> bool {
    all_fields(cx).any(|field| field == name)
}

/// The node of an instance; nothing where something keeps it from being made, which is reported.
pub(super) fn node<'w>(
    icx: &InstanceCx<'_, 'w>,
    cx: &ExpandCx<'w>,
    dedup: &mut DiagnosticDedup,
    problems: &mut Problems,
) -> Option<Node> {
    let model = model(icx, cx, dedup, problems);
    for entry in &icx.expanded.shot.fields {
        if let Some(diagnostic) = unknown_field(entry, model, cx) {
            dedup.add(icx.instance, diagnostic);
        }
    }
    let model = model?;

    let mut builder = RequestBuilder::new(icx, model);
    for field in cx.contract.fields(&model.family) {
        let Some((entry, from_defaults)) = entry(icx, &field.name) else { continue };
        let Some(value) = cx.templates.render(&entry.value, &icx.scope, problems) else {
            builder.failed.insert(&field.name);
            continue;
        };
        let value = on_the_wire(value.to_json(), field);
        if value.is_null() {
            continue;
        }
        builder.request.insert(field.name.clone(), value);
        builder.provenance.fields.push((entry, from_defaults));
    }
    local_paths::check(&builder, dedup);
    lower(&mut builder, cx, dedup);
    check::check(&builder, cx, dedup);
    let salt = salt(icx, cx, problems);
    let RequestBuilder { request, inputs, failed, .. } = builder;
    if !failed.is_empty() {
        return None;
    }
    let seconds = seconds(|name| request.get(name), &model.family, cx);
    let shot = icx.expanded.shot;
    let cell =
        icx.cell.values.iter().map(|(axis, value)| (axis.as_str().into(), Arc::new(value.value.clone())));
    Some(Node {
        name: icx.instance.name.clone(),
        shot: shot.id.value.as_str().into(),
        cell: cell.collect(),
        take: icx.instance.take,
        note: shot.note.as_ref().map(|note| note.value.as_str().into()),
        model: model.id.as_str().into(),
        family: model.family.clone(),
        seconds,
        request: Request::from(request),
        inputs,
        salt,
        occurrence: 0,
        retry: icx.expanded.retry.attempts,
        retry_on: icx.expanded.retry.on,
        timeout: icx.expanded.timeout,
        location: cx.location(shot.id.span),
    })
}

/// Puts in what the words of the shot ask for beside its fields: frames, references, and the last frame for who continues it.
pub(super) fn lower(builder: &mut RequestBuilder<'_, '_>, cx: &ExpandCx<'_>, dedup: &mut DiagnosticDedup) {
    lower::lower(builder, cx, dedup);
    if builder.icx.continued
        && let Some(field) = &cx.contract.inputs(builder.model).returns_last_frame
        && !builder.request.contains_key(field)
    {
        builder.request.insert(field.clone(), Value::Bool(true));
    }
}

/// The entry that sets a field: the shot's, else the defaults'. With it, whether it is a default.
pub(super) fn entry<'w>(icx: &InstanceCx<'_, 'w>, name: &str) -> Option<(&'w Entry, bool)> {
    let find = |entries: &'w [Entry]| entries.iter().find(|entry| entry.key.value == name);
    match find(&icx.expanded.shot.fields) {
        Some(entry) => Some((entry, false)),
        None => find(&icx.workflow.defaults).map(|entry| (entry, true)),
    }
}

fn model<'w>(
    icx: &InstanceCx<'_, 'w>,
    cx: &ExpandCx<'w>,
    dedup: &mut DiagnosticDedup,
    problems: &mut Problems,
) -> Option<&'w Model> {
    let shot = icx.expanded.shot;
    let ids = || cx.contract.models().iter().map(|model| model.id.as_str());
    let missing = || {
        Diagnostic::error("missing-model", shot.id.span, format!("`{}` has no `model`", shot.id.value))
            .help(format!("write `model:` here or in `defaults`; the models are {}", quoted_list(ids(), 12)))
    };
    let Some((entry, _)) = entry(icx, "model") else {
        dedup.add(icx.instance, missing());
        return None;
    };
    let value = cx.templates.render(&entry.value, &icx.scope, problems)?.to_json();
    if value.is_null() {
        dedup.add(icx.instance, missing());
        return None;
    }
    let found = value.as_str().and_then(|id| cx.contract.model(id));
    if found.is_none() {
        let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let diagnostic = Diagnostic::error(
            "unknown-model",
            check::origin_span(entry.span(), Some(&entry.value), icx),
            format!("there is no model `{}`", super::shortened(&shown)),
        );
        let help = did_you_mean(&shown, ids())
            .unwrap_or_else(|| format!("the models are {}", quoted_list(ids(), 12)));
        dedup.add(icx.instance, diagnostic.help(help));
    }
    found
}

/// What is wrong with a field's name, where something is.
pub(super) fn unknown_field(entry: &Entry, model: Option<&Model>, cx: &ExpandCx<'_>) -> Option<Diagnostic> {
    let name = entry.key.value.as_str();
    let Some(model) = model else {
        // The family is not known; only what no family has is surely wrong.
        let message = format!("`{name}` is not a field of any request");
        return (!is_field_of_any(name, cx)).then(|| {
            with_suggestion(Diagnostic::error("unknown-field", entry.key.span, message), name, all_fields(cx))
        });
    };
    if cx.contract.field(&model.family, name).is_some() {
        return None;
    }
    let diagnostic = Diagnostic::error(
        "unknown-field",
        entry.key.span,
        format!("`{name}` is not a field of `{}`", model.id),
    );
    let other = cx.contract.families().find(|family| cx.contract.field(family, name).is_some());
    Some(if let Some(other) = other {
        diagnostic.help(format!(
            "family {other} has it; in `defaults` it would be sent to models of that family only"
        ))
    } else {
        let fields = cx.contract.fields(&model.family).iter().map(|field| field.name.as_str());
        with_suggestion(diagnostic, name, fields)
    })
}

fn with_suggestion<'a>(
    diagnostic: Diagnostic,
    name: &str,
    fields: impl Iterator<Item = &'a str>,
) -> Diagnostic {
    let fields: Vec<&str> = fields.collect();
    let help = did_you_mean(name, fields.iter().copied().chain(SHOT.keys.iter().map(|key| key.name)))
        .unwrap_or_else(|| format!("the fields are {}", quoted_list(fields.iter().copied(), 30)));
    diagnostic.help(help)
}

/// Whole numbers become text where the wire wants digits as text: `seconds: 5` is sent as `"5"`.
pub(super) fn on_the_wire(value: Value, field: &Field) -> Value {
    match &value {
        Value::Number(number) if field.digit_string => {
            let whole = number.as_i64().or_else(|| {
                number
                    .as_f64()
                    .filter(|float| float.fract() == 0.0 && float.abs() < 1e15)
                    .map(|float| float as i64)
            });
            whole.map_or(value, |whole| Value::String(whole.to_string()))
        }
        _ => value,
    }
}

pub(super) fn salt<'w>(
    icx: &InstanceCx<'_, 'w>,
    cx: &ExpandCx<'w>,
    problems: &mut Problems,
) -> Option<String> {
    let entry = icx.expanded.shot.salt.as_ref()?;
    match cx.templates.render(&entry.value, &icx.scope, problems)?.to_json() {
        Value::String(text) => Some(text),
        value @ (Value::Number(_) | Value::Bool(_)) => Some(value.to_string()),
        Value::Null => None,
        Value::Array(_) | Value::Object(_) => {
            problems.error("wrong-type", entry.span(), "`salt` is text or a number");
            None
        }
    }
}

/// Seconds of video that a request asks for, given by its fields (spec 2.2, 2.3, 2.4).
pub(super) fn seconds<'a>(
    field: impl Fn(&str) -> Option<&'a Value>,
    family: &Family,
    cx: &ExpandCx<'_>,
) -> f64 {
    let number = |value: &Value| match value {
        Value::String(digits) => digits.parse().ok(),
        value => value.as_f64(),
    };
    let stated = ["seconds", "duration"]
        .iter()
        .find_map(|name| field(name))
        .or_else(|| field("metadata")?.get("duration"))
        .and_then(number);
    let default = || cx.contract.field(family, "seconds")?.default.as_ref().and_then(number);
    stated.or_else(default).unwrap_or(crate::DEFAULT_SECONDS)
}
