//! Lowers frames and references into request fields, in the form that the model takes (spec 2.2 to 2.4).

use contract::{InputForm, InputForms, Model};
use serde_json::Value;

use super::ExpandCx;
use super::dedup::DiagnosticDedup;
use super::frames::{Medium, MediumUse, Slot};
use super::media::MediaKind;
use super::provenance::{LoweredPart, Provenance};
use super::request::RequestBuilder;
use super::resolve::{RefResolver, ResolvedRef};
use crate::diagnostic::Diagnostic;
use crate::plan::{Frame, Input, Source};

/// Lowers all media of an instance. Media that cannot be lowered are reported.
pub(super) fn lower(builder: &mut RequestBuilder<'_, '_>, cx: &ExpandCx<'_>, dedup: &mut DiagnosticDedup) {
    let icx = builder.icx;
    let forms = cx.contract.inputs(builder.model);
    for used in icx.frames {
        let Some(form) = form_for(forms, used.slot) else {
            dedup.add(icx.instance, unsupported(used, builder.model, cx));
            continue;
        };
        if used.slot == Slot::FirstFrame
            && let Some(by_hand) = set_by_hand(&builder.provenance, cx)
        {
            dedup.add(icx.instance, two_first_frames(used, by_hand, &builder.provenance));
            continue;
        }
        let Some(Put { value, source }) = medium(used, icx.resolver) else { continue };
        let Some(pointer) = form.put(&mut builder.request, value) else {
            dedup.add(icx.instance, no_room(used, form, &builder.provenance));
            continue;
        };
        builder.provenance.lowered.push(LoweredPart {
            pointer: part(form, &pointer),
            key: used.key,
            span: used.span,
        });
        if let Some(source) = source {
            builder.inputs.push(Input { pointer, source });
        }
    }
}

/// The value that stands for a medium in a request, and its source if the value is not known before the run.
pub(super) struct Put {
    pub(super) value: Value,
    pub(super) source: Option<Source>,
}

/// The value for a medium; `None` if its instance is excluded, which is reported elsewhere.
pub(super) fn medium(used: &MediumUse, resolver: &RefResolver<'_, '_>) -> Option<Put> {
    let (value, source) = match &used.medium {
        Medium::Url(url) => (Value::String(url.clone()), None),
        Medium::File(source) => (Value::Null, Some(source.clone())),
        Medium::Instance { resolved: ResolvedRef::Instance(index), frame } => {
            let node = resolver.node(*index)?;
            let source = match frame {
                Frame::First => Source::FirstFrame(node),
                Frame::Last => Source::LastFrame(node),
            };
            (Value::Null, Some(source))
        }
        Medium::Instance { resolved: ResolvedRef::OpenPick(takes), frame } => {
            (Value::Null, Some(Source::Pick { takes: resolver.nodes_of(takes), frame: *frame }))
        }
    };
    Some(Put { value, source })
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
    let what = match used.slot {
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
        Diagnostic::error("frame-unsupported", used.span, format!("`{}` takes no {what}", model.id));
    let help = match able.as_slice() {
        [] => "remove it: no model takes one".to_owned(),
        able => format!(
            "remove it, or choose a model that takes one: {}",
            crate::diagnostic::quoted_list(able.iter().copied(), 4)
        ),
    };
    diagnostic.help(help)
}

/// An explicitly set request field that is the first frame of some model.
fn set_by_hand<'a>(provenance: &Provenance<'a>, cx: &ExpandCx<'_>) -> Option<&'a crate::syntax::Entry> {
    let sets_first_frame = |name: &str| {
        cx.contract.models().iter().any(|model| {
            matches!(&cx.contract.inputs(model).first_frame, Some(InputForm::Field(field)) if field == name)
        })
    };
    provenance.fields.iter().map(|(entry, _)| *entry).find(|entry| sets_first_frame(&entry.key.value))
}

fn two_first_frames(
    used: &MediumUse,
    by_hand: &crate::syntax::Entry,
    provenance: &Provenance<'_>,
) -> Diagnostic {
    let field = &by_hand.key.value;
    let from_defaults = provenance
        .fields
        .iter()
        .any(|(entry, from_defaults)| *from_defaults && std::ptr::eq(*entry, by_hand));
    let help = if from_defaults {
        format!("`{field}: null` in the shot drops the default")
    } else {
        format!("keep `{}` or `{field}`", used.key)
    };
    Diagnostic::error("two-first-frames", used.span, "this shot has two first frames")
        .label(format!("`{}` sets one here", used.key))
        .other(by_hand.key.span, format!("`{field}` sets another by hand"))
        .help(help)
}

/// The diagnostic for a medium whose position in the request is already taken.
fn no_room(used: &MediumUse, form: &InputForm, provenance: &Provenance<'_>) -> Diagnostic {
    let field = match form {
        InputForm::Field(name) | InputForm::ListField(name) => name.as_str(),
        InputForm::ContentItem { .. } => "metadata",
    };
    let diagnostic = Diagnostic::error(
        "frame-conflict",
        used.span,
        format!("`{}` goes into `{field}`, which holds something else", used.key),
    );
    match provenance.find(&format!("/{field}")) {
        Some(found) => diagnostic.other(found.span, "set here"),
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
