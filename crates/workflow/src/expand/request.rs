//! The request of one instance: fields from the shot and the defaults, rendered and typed; frames; the contract's verdict.
//! Everything is looked at here, one instance at a time; [`super::recipe`] is the shorter way for instances that are in order.

use std::collections::HashSet;
use std::sync::Arc;

use contract::{Family, Field, Model};
use serde_json::{Map, Value};

use super::Cx;
use super::address::Stage;
use super::check;
use super::fan::{Draft, Fanned};
use super::frames::FrameUse;
use super::lower;
use super::paths;
use super::place::Origins;
use super::tally::Tally;
use crate::diagnostic::{Diagnostic, Problems, did_you_mean, quoted_list};
use crate::matrix::Cell;
use crate::plan::{Input, Node, Request};
use crate::syntax::{Entry, KEYS, Workflow};
use crate::template::Scope;

/// One instance on its way to being a node.
pub(super) struct Work<'a, 'w> {
    pub(super) workflow: &'w Workflow,
    pub(super) draft: &'a Draft,
    pub(super) fanned: &'a Fanned<'w>,
    pub(super) cell: &'a Cell,
    pub(super) scope: Scope,
    pub(super) frames: &'a [FrameUse],
    pub(super) continued: bool,
    pub(super) stage: &'a Stage<'a, 'w>,
}

/// A request on its way: what is in it so far, and where that comes from.
pub(super) struct Making<'a, 'w> {
    pub(super) work: &'a Work<'a, 'w>,
    pub(super) model: &'w Model,
    pub(super) request: Map<String, Value>,
    pub(super) inputs: Vec<Input>,
    pub(super) origins: Origins<'w>,
    /// Fields that could not be rendered: what the contract says of them is not news.
    pub(super) failed: HashSet<&'w str>,
}

impl<'a, 'w> Making<'a, 'w> {
    pub(super) fn new(work: &'a Work<'a, 'w>, model: &'w Model) -> Self {
        Self {
            work,
            model,
            request: Map::new(),
            inputs: Vec::new(),
            origins: Origins { fields: Vec::new(), lowered: Vec::new() },
            failed: HashSet::new(),
        }
    }
}

/// Reports defaults that no family knows. A default that some family has, and a shot's own does not, is left out of
/// that shot's request: so one set of defaults serves shots of several families.
pub(super) fn check_defaults(workflow: &Workflow, cx: &Cx<'_>, problems: &mut Problems) {
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

fn all_fields<'c>(cx: &Cx<'c>) -> impl Iterator<Item = &'c str> {
    let contract = cx.contract;
    contract.families().flat_map(|family| contract.fields(family)).map(|field| field.name.as_str())
}

fn is_field_of_any(name: &str, cx: &Cx<'_>) -> bool {
    all_fields(cx).any(|field| field == name)
}

/// The node of an instance; nothing where something keeps it from being made, which is reported.
pub(super) fn node<'w>(
    work: &Work<'_, 'w>,
    cx: &Cx<'w>,
    tally: &mut Tally,
    problems: &mut Problems,
) -> Option<Node> {
    let model = model(work, cx, tally, problems);
    for entry in &work.fanned.shot.fields {
        if let Some(diagnostic) = unknown_field(entry, model, cx) {
            tally.add(work.draft, diagnostic);
        }
    }
    let model = model?;

    let mut making = Making::new(work, model);
    for field in cx.contract.fields(&model.family) {
        let Some((entry, from_defaults)) = entry(work, &field.name) else { continue };
        let Some(value) = cx.templates.render(&entry.value, &work.scope, problems) else {
            making.failed.insert(&field.name);
            continue;
        };
        let value = on_the_wire(value.to_json(), field);
        if value.is_null() {
            continue;
        }
        making.request.insert(field.name.clone(), value);
        making.origins.fields.push((entry, from_defaults));
    }
    paths::check(&making, tally);
    lower(&mut making, cx, tally);
    check::check(&making, cx, tally);
    let salt = salt(work, cx, problems);
    let Making { request, inputs, failed, .. } = making;
    if !failed.is_empty() {
        return None;
    }
    let seconds = seconds(|name| request.get(name), &model.family, cx);
    let shot = work.fanned.shot;
    let cell =
        work.cell.values.iter().map(|(axis, value)| (axis.as_str().into(), Arc::new(value.value.clone())));
    Some(Node {
        name: work.draft.name.clone(),
        shot: shot.id.value.as_str().into(),
        cell: cell.collect(),
        take: work.draft.take,
        note: shot.note.as_ref().map(|note| note.value.as_str().into()),
        model: model.id.as_str().into(),
        family: model.family.clone(),
        seconds,
        request: Request::from(request),
        inputs,
        salt,
        occurrence: 0,
        retry: work.fanned.retry.attempts,
        retry_on: work.fanned.retry.on,
        timeout: work.fanned.timeout,
        place: cx.place(shot.id.span),
    })
}

/// Puts in what the words of the shot ask for beside its fields: frames, references, and the last frame for who continues it.
pub(super) fn lower(making: &mut Making<'_, '_>, cx: &Cx<'_>, tally: &mut Tally) {
    lower::lower(making, cx, tally);
    if making.work.continued
        && let Some(field) = &cx.contract.inputs(making.model).returns_last_frame
        && !making.request.contains_key(field)
    {
        making.request.insert(field.clone(), Value::Bool(true));
    }
}

/// The entry that sets a field: the shot's, else the defaults'. With it, whether it is a default.
pub(super) fn entry<'w>(work: &Work<'_, 'w>, name: &str) -> Option<(&'w Entry, bool)> {
    let find = |entries: &'w [Entry]| entries.iter().find(|entry| entry.key.value == name);
    match find(&work.fanned.shot.fields) {
        Some(entry) => Some((entry, false)),
        None => find(&work.workflow.defaults).map(|entry| (entry, true)),
    }
}

fn model<'w>(
    work: &Work<'_, 'w>,
    cx: &Cx<'w>,
    tally: &mut Tally,
    problems: &mut Problems,
) -> Option<&'w Model> {
    let shot = work.fanned.shot;
    let ids = || cx.contract.models().iter().map(|model| model.id.as_str());
    let missing = || {
        Diagnostic::error("missing-model", shot.id.span, format!("`{}` has no `model`", shot.id.value))
            .help(format!("write `model:` here or in `defaults`; the models are {}", quoted_list(ids(), 12)))
    };
    let Some((entry, _)) = entry(work, "model") else {
        tally.add(work.draft, missing());
        return None;
    };
    let value = cx.templates.render(&entry.value, &work.scope, problems)?.to_json();
    if value.is_null() {
        tally.add(work.draft, missing());
        return None;
    }
    let found = value.as_str().and_then(|id| cx.contract.model(id));
    if found.is_none() {
        let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let diagnostic = Diagnostic::error(
            "unknown-model",
            check::best_place(entry.span(), Some(&entry.value), work),
            format!("there is no model `{}`", super::shortened(&shown)),
        );
        let help = did_you_mean(&shown, ids())
            .unwrap_or_else(|| format!("the models are {}", quoted_list(ids(), 12)));
        tally.add(work.draft, diagnostic.help(help));
    }
    found
}

/// What is wrong with a field's name, where something is.
pub(super) fn unknown_field(entry: &Entry, model: Option<&Model>, cx: &Cx<'_>) -> Option<Diagnostic> {
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
    let help = did_you_mean(name, fields.iter().copied().chain(KEYS))
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

pub(super) fn salt<'w>(work: &Work<'_, 'w>, cx: &Cx<'w>, problems: &mut Problems) -> Option<String> {
    let entry = work.fanned.shot.salt.as_ref()?;
    match cx.templates.render(&entry.value, &work.scope, problems)?.to_json() {
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
pub(super) fn seconds<'a>(field: impl Fn(&str) -> Option<&'a Value>, family: &Family, cx: &Cx<'_>) -> f64 {
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
    stated.or_else(default).unwrap_or(crate::UNSTATED_SECONDS)
}
