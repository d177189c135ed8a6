//! Lowers frames and references into request fields, in the form that the model takes (spec 2.2 to 2.4).

use std::path::Path;
use std::sync::Arc;

use contract::{InputForm, InputForms, Model};
use serde_json::{Map, Value};

use super::dedup::DiagnosticDedup;
use super::frames::{InputMedium, MediumUse, Slot};
use super::interner::Interner;
use super::request_builder::{FieldState, LoweredPart, RequestBuilder};
use super::resolve::{RefResolver, ResolvedRef};
use super::{ExpandCx, cast};
use crate::diagnostic::{Diagnostic, quoted_list};
use crate::media_gate::MediaKind;
use crate::plan::{Frame, Input, MediaSource, json_text_eq};
use crate::syntax::Entry;
use crate::syntax::keys::shot::CAST;

/// The value of inputs in a request that is validated.
const STAND_IN: &str = "https://frame.invalid/frame.png";

/// The lowered media of an instance: a function of the media and of the fields that they go into.
pub(super) struct Lowering<'w> {
    /// The media, by role and value.
    media: Vec<(Slot, Arc<Value>)>,
    /// The fields that the media go into, as they were before.
    before: Vec<(&'w str, Option<FieldState>)>,
    /// The fields that were changed or added.
    after: Vec<(&'w str, FieldState)>,
    /// The pointers of each medium; `None` if it could not be lowered.
    pointers: Vec<Option<Pointers>>,
    /// [`Input::data_field`], if the request leaves that field free.
    data_field: Option<Arc<str>>,
}

/// The JSON pointers of a medium in a request.
struct Pointers {
    medium: String,
    /// The part of the request that was added for it.
    part: Arc<str>,
}

/// A medium to be lowered.
struct PendingMedium<'a, 'w> {
    used: &'a MediumUse,
    form: &'w InputForm,
    /// The value in the request; `null` if it is not known before the run.
    value: Arc<Value>,
    /// The source of a value that is not known before the run.
    source: Option<MediaSource>,
}

/// The request fields that are the first frame of some model.
pub(super) fn first_frame_fields<'w>(cx: &ExpandCx<'w>) -> Vec<&'w str> {
    let forms = cx.contract.models().iter().map(|model| &cx.contract.inputs(model).first_frame);
    let mut names: Vec<&str> = forms
        .filter_map(|form| match form {
            Some(InputForm::Field(name)) => Some(name.as_str()),
            _ => None,
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Lowers all media of an instance. Media that cannot be lowered are reported. `last` is the lowering of the last instance, which is
/// reused if this one has the same media and fields.
pub(super) fn lower<'w>(
    builder: &mut RequestBuilder<'_, 'w>,
    last: &mut Option<Lowering<'w>>,
    first_frame_fields: &[&str],
    interner: &mut Interner,
    cx: &ExpandCx<'w>,
    dedup: &mut DiagnosticDedup,
) {
    let media = pending(builder, first_frame_fields, cx, dedup);
    if media.is_empty() {
        return;
    }
    if let Some(lowering) = last.as_ref().filter(|last| last.applies_to(&media, builder)) {
        return lowering.apply(media, builder);
    }
    let lowering = Lowering::new(&media, builder, interner, dedup);
    let is_complete = lowering.pointers.iter().all(Option::is_some);
    lowering.apply(media, builder);
    *last = is_complete.then_some(lowering);
}

/// The media of an instance that its model takes. The others are reported.
fn pending<'a, 'w>(
    builder: &RequestBuilder<'a, 'w>,
    first_frame_fields: &[&str],
    cx: &ExpandCx<'w>,
    dedup: &mut DiagnosticDedup,
) -> Vec<PendingMedium<'a, 'w>> {
    let icx = builder.icx;
    let forms = cx.contract.inputs(builder.model);
    let mut media = Vec::with_capacity(icx.media.len());
    let mut has_local_item = false;
    for used in icx.media {
        let Some(form) = form_for(forms, used.slot) else {
            dedup.add(icx.instance, unsupported(used, builder.model, cx));
            continue;
        };
        let mut set = builder.fields.iter().filter(|field| first_frame_fields.contains(&field.name));
        if used.slot == Slot::FirstFrame
            && let Some((entry, is_from_defaults)) = set.find_map(|field| field.entry)
        {
            dedup.add(icx.instance, two_first_frames(used, entry, is_from_defaults));
            continue;
        }
        if let Some((value, source)) = lowered_value(used, icx.resolver) {
            // One warning says it of all.
            if let (
                Some(MediaSource::File { path, .. } | MediaSource::FileFrame { path, .. }),
                InputForm::ContentItem { .. },
            ) = (&source, form)
                && !(icx.media.len() == 1 && has_data_field(form, builder))
                && !std::mem::replace(&mut has_local_item, true)
            {
                dedup.add_warning(icx.instance, String::new(), inline_content(used, path));
            }
            media.push(PendingMedium { used, form, value, source });
        }
    }
    media
}

/// The value of a medium in a request, and its source if the value is not known before the run. `None` if its instance is excluded,
/// which is reported elsewhere.
fn lowered_value(
    used: &MediumUse,
    resolver: &RefResolver<'_, '_>,
) -> Option<(Arc<Value>, Option<MediaSource>)> {
    let source = match &used.medium {
        InputMedium::Url(url) => return Some((Arc::clone(url), None)),
        InputMedium::File(source) => MediaSource::clone(source),
        InputMedium::Instance { resolved: ResolvedRef::Instance(index), frame } => {
            let node = resolver.node(*index)?;
            match frame {
                Frame::First => MediaSource::FirstFrame(node),
                Frame::Last => MediaSource::LastFrame(node),
            }
        }
        InputMedium::Instance { resolved: ResolvedRef::OpenPick(candidates), frame } => {
            MediaSource::Pick { candidates: resolver.nodes_of(candidates), frame: *frame }
        }
    };
    Some((Arc::new(Value::Null), Some(source)))
}

impl<'w> Lowering<'w> {
    fn new(
        media: &[PendingMedium<'_, 'w>],
        builder: &RequestBuilder<'_, 'w>,
        interner: &mut Interner,
        dedup: &mut DiagnosticDedup,
    ) -> Self {
        let (mut sent, mut validated) = (Map::new(), Map::new());
        let mut before: Vec<(&str, Option<FieldState>)> = Vec::new();
        let mut pointers = Vec::with_capacity(media.len());
        for PendingMedium { used, form, value, source } in media {
            let name = field_of(form);
            if !before.iter().any(|(existing, _)| *existing == name) {
                let state = builder.field(name).cloned();
                if let Some(state) = &state {
                    sent.insert(name.to_owned(), Value::clone(&state.sent));
                    validated.insert(name.to_owned(), Value::clone(&state.sent));
                }
                before.push((name, state));
            }
            let stand_in = if source.is_some() { Value::from(STAND_IN) } else { Value::clone(value) };
            let inserted = form
                .insert_medium(&mut sent, Value::clone(value))
                .filter(|_| form.insert_medium(&mut validated, stand_in).is_some());
            if inserted.is_none() {
                dedup.add(builder.icx.instance, no_room(used, name, builder));
            }
            pointers.push(inserted.map(|medium| Pointers { part: part(form, &medium).into(), medium }));
        }
        let mut after = Vec::with_capacity(before.len());
        for (name, _) in &before {
            let (Some(sent), Some(validated)) = (sent.remove(*name), validated.remove(*name)) else {
                continue;
            };
            let validated = (sent != validated).then(|| interner.value(validated));
            after.push((*name, FieldState { sent: interner.value(sent), validated }));
        }
        let data_field = data_field(media);
        let media = media.iter().map(|medium| (medium.used.slot, Arc::clone(&medium.value))).collect();
        Self { media, before, after, pointers, data_field }
    }

    /// Whether lowering these media into this request has the same result.
    fn applies_to(&self, media: &[PendingMedium<'_, '_>], builder: &RequestBuilder<'_, '_>) -> bool {
        let same = |(slot, value): &(Slot, Arc<Value>), medium: &PendingMedium<'_, '_>| {
            *slot == medium.used.slot && *value == medium.value
        };
        self.media.len() == media.len()
            && self.media.iter().zip(media).all(|(lowered, medium)| same(lowered, medium))
            && self.before.iter().all(|(name, state)| match (builder.field(name), state) {
                (Some(now), Some(before)) => {
                    Arc::ptr_eq(&now.sent, &before.sent) || json_text_eq(&now.sent, &before.sent)
                }
                (now, before) => now.is_none() && before.is_none(),
            })
    }

    /// Puts the lowered media into a request.
    fn apply(&self, media: Vec<PendingMedium<'_, '_>>, builder: &mut RequestBuilder<'_, 'w>) {
        for (name, state) in &self.after {
            builder.set(name, state.clone());
        }
        let is_only = |items: &Vec<Value>| items.len() == 1;
        let content = builder.field("metadata").and_then(|metadata| metadata.sent.get("content")?.as_array());
        // Not beside what the file puts there by hand.
        let data_field = self
            .data_field
            .clone()
            .filter(|name| content.is_some_and(is_only) && builder.field(name).is_none());
        for (PendingMedium { used, source, .. }, pointers) in media.into_iter().zip(&self.pointers) {
            let Some(Pointers { medium, part }) = pointers else { continue };
            builder.lowered.push(LoweredPart { pointer: Arc::clone(part), key: used.key, span: used.span });
            if let Some(source) = source {
                builder.inputs.push(Input {
                    pointer: medium.clone(),
                    source,
                    data_field: data_field.clone(),
                });
            }
        }
    }
}

/// Whether a medium that is sent as data has a field for that, which is free.
fn has_data_field(form: &InputForm, builder: &RequestBuilder<'_, '_>) -> bool {
    matches!(form, InputForm::ContentItem { data_field: Some(field), .. } if builder.field(field).is_none())
        && builder.field("metadata").is_none_or(|metadata| metadata.sent.get("content").is_none())
}

/// The field that takes the only medium of a request where it is sent as data.
fn data_field(media: &[PendingMedium<'_, '_>]) -> Option<Arc<str>> {
    match media {
        [PendingMedium { form: InputForm::ContentItem { data_field, .. }, .. }] => {
            data_field.as_deref().map(Arc::from)
        }
        _ => None,
    }
}

/// The request field that a form puts a medium into.
fn field_of(form: &InputForm) -> &str {
    match form {
        InputForm::Field(name) | InputForm::ListField(name) => name,
        InputForm::ContentItem { .. } => "metadata",
    }
}

fn form_for(forms: &InputForms, slot: Slot) -> Option<&InputForm> {
    match slot {
        Slot::FirstFrame => forms.first_frame.as_ref(),
        Slot::LastFrame => forms.last_frame.as_ref(),
        Slot::Reference(MediaKind::Image) => forms.reference_image.as_ref(),
        Slot::Reference(MediaKind::Video) => forms.reference_video.as_ref(),
        Slot::Reference(MediaKind::Audio) => forms.reference_audio.as_ref(),
    }
}

fn unsupported(used: &MediumUse, model: &Model, cx: &ExpandCx<'_>) -> Diagnostic {
    let medium = match used.slot {
        Slot::FirstFrame => "first frame".to_owned(),
        Slot::LastFrame => "last frame".to_owned(),
        Slot::Reference(kind) => format!("reference {}", kind.as_str()),
    };
    let able: Vec<&str> = cx
        .contract
        .models()
        .iter()
        .filter(|other| form_for(cx.contract.inputs(other), used.slot).is_some())
        .map(|other| other.id.as_str())
        .collect();
    let diagnostic =
        Diagnostic::error("frame-unsupported", used.span, format!("`{}` takes no {medium}", model.id));
    let help = match able.as_slice() {
        _ if used.key == CAST.name => cast::DESCRIPTION_ONLY.to_owned(),
        [] => "remove it: no model takes one".to_owned(),
        able => {
            format!("remove it, or choose a model that takes one: {}", quoted_list(able.iter().copied(), 4))
        }
    };
    diagnostic.help(help)
}

/// The diagnostic for a first frame beside a request field that sets one.
fn two_first_frames(used: &MediumUse, by_hand: &Entry, is_from_defaults: bool) -> Diagnostic {
    let field = &by_hand.key.value;
    let help = if is_from_defaults {
        format!("`{field}: null` in the shot drops the default")
    } else {
        format!("keep `{}` or `{field}`", used.key)
    };
    Diagnostic::error("two-first-frames", used.span, "this shot has two first frames")
        .label(format!("`{}` sets one here", used.key))
        .other(by_hand.key.span, format!("`{field}` sets another by hand"))
        .help(help)
}

/// The warning for a local file where the API reference asks for a URL.
fn inline_content(used: &MediumUse, path: &Path) -> Diagnostic {
    let message = format!(
        "`{}` is sent inside of the request, in `metadata.content`, for which the API reference asks for a public URL: a service may refuse it (spec 2.3)",
        path.display(),
    );
    Diagnostic::warning("service-may-refuse", used.span, message)
        .help("if the service refuses it, put the file at a public URL and name that instead")
}

/// The diagnostic for a medium whose position in the request is already taken.
fn no_room(used: &MediumUse, field: &str, builder: &RequestBuilder<'_, '_>) -> Diagnostic {
    let diagnostic = Diagnostic::error(
        "frame-conflict",
        used.span,
        format!("`{}` belongs in `{field}`, which has another value", used.key),
    );
    match builder.origin(&format!("/{field}")) {
        Some(origin) => diagnostic.other(origin.span, "set here"),
        None => diagnostic,
    }
}

/// The pointer of the part of the request that a medium adds: for a content item, the whole item.
fn part(form: &InputForm, pointer: &str) -> String {
    match form {
        InputForm::ContentItem { item_type, .. } => {
            pointer.strip_suffix(&format!("/{item_type}/url")).unwrap_or(pointer).to_owned()
        }
        InputForm::Field(_) | InputForm::ListField(_) => pointer.to_owned(),
    }
}
