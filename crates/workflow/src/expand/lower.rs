//! Lowers frames and references into request fields, in the form that the model takes (spec 2.2 to 2.4).

use std::path::Path;
use std::sync::Arc;

use contract::{MediaForm, Model, Placement, Pointer, Word};
use serde_json::{Map, Value};

use super::dedup::DiagnosticDedup;
use super::frames::{InputMedium, MediumUse, Slot};
use super::interner::Interner;
use super::request_builder::{FieldState, LoweredPart, RequestBuilder};
use super::resolve::{RefResolver, ResolvedRef};
use super::urls::is_data_uri;
use super::{ExpandCx, cast};
use crate::diagnostic::{Diagnostic, quoted_list};
use crate::media_gate::MediaKind;
use crate::plan::{Bare, DataField, Frame, Input, MediaSource, json_text_eq, split_data_uri};
use crate::syntax::Entry;
use crate::syntax::keys::shot::CAST;

/// The value of inputs in a request that is validated.
const STAND_IN: &str = "https://frame.invalid/frame.png";
const STAND_IN_TYPE: &str = "image/png";

/// The lowered media of an instance: a function of the media and of the fields that they go into.
pub(super) struct Lowering {
    /// The media, by role and value.
    media: Vec<(Slot, Arc<Value>)>,
    /// The fields that the media go into, as they were before.
    before: Vec<(Arc<str>, Option<FieldState>)>,
    /// The fields that were changed or added.
    after: Vec<(Arc<str>, FieldState)>,
    /// The pointers of each medium; `None` if it could not be lowered.
    pointers: Vec<Option<Pointers>>,
    /// The field that takes the only medium where it is sent as data, if the request leaves that field free.
    data_field: Option<Box<DataField>>,
}

/// The JSON pointers of a medium in a request.
struct Pointers {
    medium: Arc<str>,
    /// The part of the request that was added for it.
    part: Arc<str>,
}

/// A medium to be lowered.
struct PendingMedium<'a> {
    used: &'a MediumUse,
    word: Word,
    placement: &'a Placement,
    /// The value in the request; `null` if it is not known before the run.
    value: Arc<Value>,
    /// The source of a value that is not known before the run.
    source: Option<MediaSource>,
}

/// The request fields that are the first frame of some model.
pub(super) fn first_frame_fields<'w>(cx: &ExpandCx<'w>) -> Vec<&'w str> {
    let placements = cx.contract.models().iter().filter_map(|model| model.inputs.get(Word::FirstFrame));
    let places = placements.filter(|placement| placement.item.is_none()).flat_map(Placement::places);
    let mut names: Vec<&str> = places.map(Pointer::field).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Lowers all media of an instance. Media that cannot be lowered are reported. `last` is the lowering of the last instance, which is
/// reused if this one has the same media and fields.
pub(super) fn lower(
    builder: &mut RequestBuilder<'_, '_>,
    last: &mut Option<Lowering>,
    first_frame_fields: &[&str],
    interner: &mut Interner,
    cx: &ExpandCx<'_>,
    dedup: &mut DiagnosticDedup,
) {
    let model = Arc::clone(&builder.model);
    let media = pending(builder, &model, first_frame_fields, cx, dedup);
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
fn pending<'a>(
    builder: &RequestBuilder<'a, '_>,
    model: &'a Model,
    first_frame_fields: &[&str],
    cx: &ExpandCx<'_>,
    dedup: &mut DiagnosticDedup,
) -> Vec<PendingMedium<'a>> {
    let icx = builder.icx;
    let inputs = &model.inputs;
    let mut media: Vec<PendingMedium<'_>> = Vec::with_capacity(icx.media.len());
    let mut has_local_item = false;
    for used in icx.media {
        let word = word_of(used.slot);
        let Some(placement) = inputs.get(word) else {
            dedup.add(icx.instance, unsupported(used, model, cx));
            continue;
        };
        let mut set = builder.fields.iter().filter(|field| first_frame_fields.contains(&&*field.name));
        if used.slot == Slot::FirstFrame
            && let Some((entry, is_from_defaults)) = set.find_map(|field| field.entry)
        {
            dedup.add(icx.instance, two_first_frames(used, entry, is_from_defaults));
            continue;
        }
        let count = 1 + media.iter().filter(|other| other.word == word).count();
        if let Some(max) = placement.max.filter(|max| count > *max) {
            dedup.add(icx.instance, too_many(used, model, max));
            break;
        }
        if let InputMedium::Url(url) = &used.medium
            && !placement.takes(MediaForm::Url)
            && !url.as_str().is_some_and(is_data_uri)
        {
            dedup.add(icx.instance, no_address(used, model));
            continue;
        }
        if let Some((value, source)) = lowered_value(used, icx.resolver) {
            // One warning says it of all.
            if let Some(MediaSource::File { path, .. } | MediaSource::FileFrame { path, .. }) = &source
                && placement.accepts == [MediaForm::Url]
                && !(icx.media.len() == 1 && has_data_field(placement, builder))
                && !std::mem::replace(&mut has_local_item, true)
            {
                dedup.add_warning(icx.instance, String::new(), inline_content(used, placement, path));
            }
            media.push(PendingMedium { used, word, placement, value, source });
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

impl Lowering {
    fn new(
        media: &[PendingMedium<'_>],
        builder: &RequestBuilder<'_, '_>,
        interner: &mut Interner,
        dedup: &mut DiagnosticDedup,
    ) -> Self {
        let (mut sent, mut validated) = (Map::new(), Map::new());
        let mut before: Vec<(Arc<str>, Option<FieldState>)> = Vec::new();
        let mut pointers = Vec::with_capacity(media.len());
        for PendingMedium { used, placement, value, source, .. } in media {
            let name = placement.field();
            if !before.iter().any(|(existing, _)| &**existing == name) {
                let state = builder.field(name).cloned();
                if let Some(state) = &state {
                    sent.insert(name.to_owned(), Value::clone(&state.sent));
                    validated.insert(name.to_owned(), Value::clone(&state.sent));
                }
                before.push((interner.name(name), state));
            }
            let written = value.as_str().and_then(split_data_uri);
            let (sent_value, sent_type) = match written {
                Some((media_type, data)) if placement.is_bare() => (data.into(), media_type.into()),
                Some((media_type, _)) => (Value::clone(value), media_type.into()),
                None => (Value::clone(value), Value::Null),
            };
            let (checked_value, checked_type) = match source {
                Some(_) => (STAND_IN.into(), STAND_IN_TYPE.into()),
                None => (sent_value.clone(), sent_type.clone()),
            };
            let inserted = placement
                .insert_medium(&mut sent, sent_value, &sent_type)
                .filter(|_| placement.insert_medium(&mut validated, checked_value, &checked_type).is_some());
            if inserted.is_none() {
                dedup.add(builder.icx.instance, no_room(used, name, builder));
            }
            pointers.push(inserted.map(|medium| Pointers {
                part: interner.name(&part(placement, &medium)),
                medium: interner.name(&medium),
            }));
        }
        let mut after = Vec::with_capacity(before.len());
        for (name, _) in &before {
            let (Some(sent), Some(validated)) = (sent.remove(&**name), validated.remove(&**name)) else {
                continue;
            };
            let validated = (sent != validated).then(|| interner.value(validated));
            after.push((Arc::clone(name), FieldState { sent: interner.value(sent), validated }));
        }
        let data_field = data_field(media, &pointers);
        let media = media.iter().map(|medium| (medium.used.slot, Arc::clone(&medium.value))).collect();
        Self { media, before, after, pointers, data_field }
    }

    /// Whether lowering these media into this request has the same result.
    fn applies_to(&self, media: &[PendingMedium<'_>], builder: &RequestBuilder<'_, '_>) -> bool {
        let same = |(slot, value): &(Slot, Arc<Value>), medium: &PendingMedium<'_>| {
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
    fn apply(&self, media: Vec<PendingMedium<'_>>, builder: &mut RequestBuilder<'_, '_>) {
        for (name, state) in &self.after {
            builder.set(name, state.clone());
        }
        let data_field = self.data_field.clone().filter(|data| {
            // Not beside what the file puts there by hand.
            let list = data.instead_of.rsplit_once('/').map_or("", |(list, _)| list);
            let items = builder.pointer(list).and_then(Value::as_array);
            items.is_none_or(|items| items.len() == 1) && builder.field(&data.name).is_none()
        });
        for (PendingMedium { used, word, placement, source, .. }, pointers) in
            media.into_iter().zip(&self.pointers)
        {
            let Some(Pointers { medium, part }) = pointers else { continue };
            builder.lowered.push(LoweredPart { pointer: Arc::clone(part), key: used.key, span: used.span });
            // Also of one that is not known yet: its position among the others is a part of what is said.
            builder.said.push((Some(word), Arc::clone(medium)));
            if let Some(source) = source {
                builder.inputs.push(Input {
                    word,
                    pointer: Arc::clone(medium),
                    source,
                    data_field: data_field.clone(),
                    bare: bare(placement, medium),
                });
            }
        }
    }
}

/// Whether a medium that is sent as data has a field for that, which is free.
fn has_data_field(placement: &Placement, builder: &RequestBuilder<'_, '_>) -> bool {
    placement.data_field.as_ref().is_some_and(|field| builder.field(field).is_none())
        && placement.list().is_none_or(|list| builder.pointer(list).is_none())
}

/// The field that takes the only medium of a request where it is sent as data.
fn data_field(media: &[PendingMedium<'_>], pointers: &[Option<Pointers>]) -> Option<Box<DataField>> {
    match (media, pointers) {
        ([PendingMedium { placement, .. }], [Some(Pointers { part, .. })]) => {
            let name = placement.data_field.as_deref()?.into();
            Some(Box::new(DataField { name, instead_of: Arc::clone(part) }))
        }
        _ => None,
    }
}

/// How a medium at this place is written.
fn bare(placement: &Placement, at: &str) -> Option<Box<Bare>> {
    let in_item = placement.value_in_item().unwrap_or_default();
    let item = at.strip_suffix(&in_item).unwrap_or(at);
    let media_type_at = placement.media_type_in_item().map(|in_item| format!("{item}{in_item}"));
    placement.is_bare().then(|| Box::new(Bare { media_type_at }))
}

fn word_of(slot: Slot) -> Word {
    match slot {
        Slot::FirstFrame => Word::FirstFrame,
        Slot::LastFrame => Word::LastFrame,
        Slot::Reference(MediaKind::Image) => Word::ReferenceImage,
        Slot::Reference(MediaKind::Video) => Word::ReferenceVideo,
        Slot::Reference(MediaKind::Audio) => Word::ReferenceAudio,
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
        .filter(|other| other.inputs.get(word_of(used.slot)).is_some())
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

/// The diagnostic for the first medium that is one too many.
fn too_many(used: &MediumUse, model: &Model, max: usize) -> Diagnostic {
    let message = format!("`{}` takes at most {max} of these, and this is number {}", model.id, max + 1);
    Diagnostic::error("frame-unsupported", used.span, message).help("remove what can be spared")
}

/// The diagnostic for an address where the service takes files only.
fn no_address(used: &MediumUse, model: &Model) -> Diagnostic {
    let message =
        format!("`{}` takes no address here: its service reads nothing from the internet", model.id);
    Diagnostic::error("frame-unsupported", used.span, message)
        .help("download it, and name the file: it is sent with the request")
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
fn inline_content(used: &MediumUse, placement: &Placement, path: &Path) -> Diagnostic {
    let place = placement.list().unwrap_or(placement.at.as_str()).trim_start_matches('/').replace('/', ".");
    let message = format!(
        "`{}` is sent inside of the request, in `{place}`, for which the API reference asks for a public URL: a service may refuse it",
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

/// The pointer of the part of the request that a medium adds: the whole item, where it is in one.
fn part(placement: &Placement, pointer: &str) -> String {
    let in_item = placement.value_in_item().unwrap_or_default();
    pointer.strip_suffix(&in_item).unwrap_or(pointer).to_owned()
}
