//! Builds the nodes of instances: renders the fields of a request, lowers media into it, and validates it.
//!
//! There is one path for every instance, valid or not. It is fast because equal work is not repeated: fields without templates are
//! prepared once ([`RequestTemplate`]), equal values are shared between instances, equal media are lowered once, and the
//! contract's [`IncrementalValidator`] validates a value that the last instance had only once.

use std::ptr;
use std::sync::Arc;

use contract::{Contract, IncrementalValidator, Model, Word};
use serde_json::Value;

use super::cast_prompt;
use super::dedup::DiagnosticDedup;
use super::interner::Interner;
use super::media::LocalMedia;
use super::price_inputs::price_inputs;
use super::provenance::origin_span;
use super::request_builder::{BuiltField, FieldState, InstanceCx, PlacedValue, RequestBuilder};
use super::request_template::{self, RequestTemplate};
use super::{ExpandCx, check, dialogue, fields, local_paths, lower, place, request_media, said, service};
use crate::diagnostic::{Diagnostic, Problems, did_you_mean_model, quoted_list, shortened};
use crate::limits;
use crate::plan::{Node, PriceInputs, Request};
use crate::services::rehearsed;
use crate::syntax::Entry;
use crate::units::VideoDuration;

/// Builds the nodes of all instances of a workflow.
pub(super) struct NodeBuilder<'w> {
    /// Those of the last shot, one for each service and model that its instances use.
    templates: Vec<RequestTemplate<'w>>,
    /// The last shot, and its entry for `model`.
    shot: Option<(usize, Option<&'w Entry>)>,
    services: Vec<ServiceRequests<'w>>,
    interner: Interner,
    local: LocalMedia,
}

/// What the requests to one service have in common.
struct ServiceRequests<'w> {
    contract: &'w Contract,
    validator: IncrementalValidator<'w>,
    /// The request fields that are the first frame of some model.
    first_frame_fields: Vec<&'w str>,
}

impl<'w> ServiceRequests<'w> {
    /// Those of a service, among those of all.
    fn of<'a>(all: &'a mut Vec<Self>, cx: &ExpandCx<'w>) -> &'a mut Self {
        let known = all.iter().position(|service| ptr::eq(service.contract, cx.contract));
        let index = known.unwrap_or_else(|| {
            all.push(Self {
                contract: cx.contract,
                validator: cx.contract.incremental_validator(),
                first_frame_fields: lower::first_frame_fields(cx),
            });
            all.len() - 1
        });
        &mut all[index]
    }
}

impl<'w> NodeBuilder<'w> {
    pub(super) fn new() -> Self {
        Self {
            templates: Vec::new(),
            shot: None,
            services: Vec::new(),
            interner: Interner::default(),
            local: LocalMedia::default(),
        }
    }

    /// Whether no further node can be held; that was reported.
    pub(super) fn is_full(&self) -> bool {
        self.interner.bytes() > limits::MAX_REQUEST_BYTES
    }

    /// The node of an instance; `None` if the model or a field could not be rendered. Errors are reported.
    pub(super) fn node(
        &mut self,
        icx: &InstanceCx<'_, 'w>,
        cx: &ExpandCx<'w>,
        dedup: &mut DiagnosticDedup,
        problems: &mut Problems,
    ) -> Option<Node> {
        let shot = icx.expanded.shot;
        let index = icx.instance.shot;
        let model_entry = match self.shot {
            Some((last, entry)) if last == index => entry,
            _ => {
                self.templates.clear();
                fields::entry(icx.workflow, shot, "model").map(|(entry, _)| entry)
            }
        };
        self.shot = Some((index, model_entry));
        let (service, cx) = service::of_instance(icx, cx, dedup, problems)?;
        let cx = &cx;
        let Some(model) = model(icx, model_entry, cx, dedup, problems) else {
            for diagnostic in request_template::unknown_fields(shot, None, cx) {
                dedup.add(icx.instance, diagnostic);
            }
            return None;
        };
        let Self { templates, services, interner, local, .. } = self;
        let ServiceRequests { validator, first_frame_fields, .. } = ServiceRequests::of(services, cx);
        let existing = templates.iter().position(|template| {
            template.model.id == model.id && template.service.as_deref() == service.as_deref()
        });
        let index = existing.unwrap_or_else(|| {
            let template = RequestTemplate::new(icx.workflow, shot, Arc::clone(&model), interner, local, cx);
            templates.push(RequestTemplate { service: service.map(|name| interner.name(&name)), ..template });
            templates.len() - 1
        });
        let template = &mut templates[index];
        for diagnostic in &template.unknown_fields {
            dedup.add(icx.instance, diagnostic.clone());
        }

        let mut builder = render(template, icx, (&mut *interner, local), cx, dedup, problems);
        cast_prompt::prepend_cast(&mut builder, &mut template.composed, interner, dedup);
        place::place(&mut builder, interner, dedup);
        lower::lower(&mut builder, &mut template.lowering, first_frame_fields, interner, cx, dedup);
        request_last_frame(&mut builder, interner);
        said::said(&builder, &template.places, &mut template.said, interner);
        let names = template.names(&builder, interner);
        let sent: Vec<Arc<Value>> =
            builder.fields.iter().map(|field| Arc::clone(&field.value.sent)).collect();
        let family = &model.family;
        check::report_warnings(&validator.warnings(family, &names, &sent), &builder, dedup);
        let violations = if builder.fields.iter().all(|field| field.value.validated.is_none()) {
            validator.check(family, &names, &sent)
        } else {
            let states = builder.fields.iter().map(|field| &field.value);
            let validated = states.map(|value| Arc::clone(value.validated.as_ref().unwrap_or(&value.sent)));
            validator.check(family, &names, &validated.collect::<Vec<_>>())
        };
        check::report(&violations, &builder, cx, dedup);
        if !builder.media.is_empty() {
            request_media::report(&builder, &violations, cx, dedup);
        }
        let salt = salt(icx, cx, problems);
        let dialogue = dialogue::lines(&mut template.dialogue, icx, interner, cx, problems);
        if interner.bytes() > limits::MAX_REQUEST_BYTES {
            let max_mebibytes = limits::MAX_REQUEST_BYTES / 1024 / 1024;
            let message = format!("the requests up to this shot's take more than {max_mebibytes} MiB");
            let diagnostic = Diagnostic::error("matrix-too-large", shot.id.span, message);
            problems.push(diagnostic.help("use fewer instances, or shorter values"));
            return None;
        }
        if !builder.failed.is_empty() {
            return None;
        }
        let request = Request::new(names, sent);
        let duration = duration(&request, &model, cx);
        for late in dialogue::late_lines(&shot.dialogue, duration) {
            dedup.add(icx.instance, late);
        }
        // A rehearsal shows what the service itself takes.
        let service = template.service.as_deref().map(|name| rehearsed(name).unwrap_or(name).to_owned());
        let price = PriceInputs { service, ..price_inputs(&request, &model, cx.contract) };
        let price = interner.price(price);
        let cell = icx.cell.values.iter().map(|(axis, value)| (Arc::clone(axis), Arc::clone(&value.value)));
        Some(Node {
            name: icx.instance.name.clone(),
            shot: Arc::clone(&template.shot),
            step_of: template.step_of.clone(),
            group: template.group.clone(),
            cell: cell.collect(),
            take: icx.instance.take,
            picked: icx.expanded.picked_render(icx.instance),
            note: template.note.clone(),
            dialogue,
            service: template.service.clone(),
            model: Arc::clone(&template.model_id),
            family: model.family.clone(),
            price,
            duration,
            request,
            said: Arc::clone(&template.said),
            inputs: builder.inputs,
            salt,
            retry: icx.expanded.retry.attempts,
            retry_on: icx.expanded.retry.on,
            timeout: icx.expanded.timeout,
            location: template.location.clone(),
        })
    }
}

/// Renders the fields of a request. Values that look like local paths are reported.
fn render<'a, 'w>(
    template: &mut RequestTemplate<'w>,
    icx: &'a InstanceCx<'a, 'w>,
    (interner, local): (&mut Interner, &mut LocalMedia),
    cx: &ExpandCx<'w>,
    dedup: &mut DiagnosticDedup,
    problems: &mut Problems,
) -> RequestBuilder<'a, 'w> {
    let mut builder = RequestBuilder {
        icx,
        model: Arc::clone(&template.model),
        fields: Vec::with_capacity(template.fields.len() + 2),
        placed: Vec::new(),
        inputs: Vec::new(),
        media: Vec::new(),
        said: Vec::new(),
        lowered: Vec::new(),
        failed: Vec::new(),
    };
    let mut local_path = false;
    let mut unknown = Vec::new();
    for field in &mut template.fields {
        let name = field.entry.key.value.as_str();
        if field.is_prompt() {
            icx.cast.uses.clear();
        }
        if !field.literal {
            let Some(value) = cx.templates.json(&field.entry.value, &icx.scope, problems) else {
                builder.failed.push(name);
                continue;
            };
            let value = request_template::number_from_text(value, field.field);
            let value = request_template::wire_value(value, field.word, field.field, field.shape);
            if value.is_null() {
                continue;
            }
            field.share(value, interner, local, cx);
        }
        let Some(last) = &field.last else { continue };
        local_path |= last.is_local_path;
        if let Some(placement) = &field.placement {
            builder.placed.push(PlacedValue {
                word: field.word,
                placement: placement.clone(),
                value: Arc::clone(&last.value),
                entry: (field.entry, field.is_from_defaults),
                pointer: None,
            });
            continue;
        }
        if !last.media.is_empty() {
            builder.media.push((name, Arc::clone(&last.media)));
        }
        unknown.extend(last.unknown_members.iter().map(|member| (name, member)));
        builder.fields.push(BuiltField {
            name: Arc::clone(&field.name),
            value: FieldState { sent: Arc::clone(&last.value), validated: None },
            own: Some(Arc::clone(&last.value)),
            entry: Some((field.entry, field.is_from_defaults)),
        });
    }
    if local_path {
        local_paths::report(&builder, dedup);
    }
    for (field, member) in unknown {
        let pointer = format!("/{field}{}", member.pointer);
        let span = builder.origin(&pointer).map_or(icx.expanded.shot.id.span, |origin| origin.span);
        dedup.add(icx.instance, request_template::unknown_member(field, member, span));
    }
    builder
}

/// Requests the last frame of an instance that is continued.
fn request_last_frame(builder: &mut RequestBuilder<'_, '_>, interner: &mut Interner) {
    let model = Arc::clone(&builder.model);
    if !builder.icx.is_continued {
        return;
    }
    let Some(placement) = model.inputs.get(Word::ReturnLastFrame) else { return };
    if placement.places().any(|at| builder.pointer(at.as_str()).is_some()) {
        return;
    }
    builder.place(placement, &Value::Bool(true), interner);
}

/// The model of an instance; `None` if it has none or an unknown one, which is reported.
fn model<'w>(
    icx: &InstanceCx<'_, 'w>,
    entry: Option<&'w Entry>,
    cx: &ExpandCx<'w>,
    dedup: &mut DiagnosticDedup,
    problems: &mut Problems,
) -> Option<Arc<Model>> {
    let shot = icx.expanded.shot;
    let ids = || cx.contract.models().iter().map(|model| model.id.as_str());
    let missing = || {
        Diagnostic::error("missing-model", shot.id.span, format!("`{}` has no `model`", shot.id.value))
            .help(format!("write `model:` here or in `defaults`; the models are {}", quoted_list(ids(), 12)))
    };
    let Some(entry) = entry else {
        dedup.add(icx.instance, missing());
        return None;
    };
    let value = cx.templates.json(&entry.value, &icx.scope, problems)?;
    if value.is_null() {
        dedup.add(icx.instance, missing());
        return None;
    }
    let resolved = value.as_str().and_then(|id| cx.contract.model(id));
    if resolved.is_none() {
        let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let diagnostic = Diagnostic::error(
            "unknown-model",
            origin_span(entry.span(), Some(&entry.value), icx),
            format!("there is no model `{}`", shortened(&shown)),
        );
        let help = did_you_mean_model(&shown, ids())
            .unwrap_or_else(|| format!("the models are {}", quoted_list(ids(), 12)));
        dedup.add(icx.instance, diagnostic.help(help));
    }
    resolved
}

/// The salt of an instance; `None` if it has none or an invalid one, which is reported.
fn salt<'w>(icx: &InstanceCx<'_, 'w>, cx: &ExpandCx<'w>, problems: &mut Problems) -> Option<String> {
    let entry = icx.expanded.shot.salt.as_ref()?;
    match cx.templates.json(&entry.value, &icx.scope, problems)? {
        Value::String(text) => Some(text),
        value @ (Value::Number(_) | Value::Bool(_)) => Some(value.to_string()),
        Value::Null => None,
        Value::Array(_) | Value::Object(_) => {
            problems.error("wrong-type", entry.span(), "`salt` is text or a number");
            None
        }
    }
}

/// The length of the video that a request states, else what the service takes.
fn duration(request: &Request, model: &Model, cx: &ExpandCx<'_>) -> VideoDuration {
    let stated = request.word(&model.inputs, Word::Seconds).and_then(VideoDuration::of_value);
    let default = || cx.contract.default_of(model, Word::Seconds).and_then(VideoDuration::of_value);
    stated.or_else(default).unwrap_or(crate::DEFAULT_DURATION)
}
