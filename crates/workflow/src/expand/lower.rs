//! Puts frames and references into a request, in the form in which the model takes them (spec 2.2 to 2.4).

use contract::{InputForm, InputForms, Model};
use serde_json::Value;

use super::Cx;
use super::address::{Chosen, Stage};
use super::frames::{FrameUse, Medium, Slot};
use super::media::Kind;
use super::place::{Lowered, Origins};
use super::request::Making;
use super::tally::Tally;
use crate::diagnostic::Diagnostic;
use crate::plan::{Frame, Input, Source};

/// Lowers all media of an instance. What cannot be lowered is reported.
pub(super) fn lower(making: &mut Making<'_, '_>, cx: &Cx<'_>, tally: &mut Tally) {
    let work = making.work;
    let forms = cx.contract.inputs(making.model);
    for used in work.frames {
        let Some(form) = form_for(forms, used.slot) else {
            tally.add(work.draft, unsupported(used, making.model, cx));
            continue;
        };
        if used.slot == Slot::FirstFrame
            && let Some(by_hand) = set_by_hand(&making.origins, cx)
        {
            tally.add(work.draft, two_first_frames(used, by_hand, &making.origins));
            continue;
        }
        let Some(Put { value, source }) = medium(used, work.stage) else { continue };
        let Some(pointer) = form.put(&mut making.request, value) else {
            tally.add(work.draft, no_room(used, form, &making.origins));
            continue;
        };
        making.origins.lowered.push(Lowered {
            pointer: part(form, &pointer),
            word: used.word,
            span: used.span,
        });
        if let Some(source) = source {
            making.inputs.push(Input { pointer, source });
        }
    }
}

/// What is put into a request for a medium: the value, and where that comes from if it is not known yet.
pub(super) struct Put {
    pub(super) value: Value,
    pub(super) source: Option<Source>,
}

/// What stands for a medium; nothing where that is reported elsewhere.
pub(super) fn medium(used: &FrameUse, stage: &Stage<'_, '_>) -> Option<Put> {
    let (value, source) = match &used.medium {
        Medium::Url(url) => (Value::String(url.clone()), None),
        Medium::File(source) => (Value::Null, Some(source.clone())),
        Medium::Draft { chosen: Chosen::Draft(at), frame } => {
            let node = stage.node(*at)?;
            let source = match frame {
                Frame::First => Source::FirstFrame(node),
                Frame::Last => Source::LastFrame(node),
            };
            (Value::Null, Some(source))
        }
        Medium::Draft { chosen: Chosen::Open(takes), frame } => {
            (Value::Null, Some(Source::Pick { takes: stage.nodes_of(takes), frame: *frame }))
        }
    };
    Some(Put { value, source })
}

fn form_for(forms: &InputForms, slot: Slot) -> Option<&InputForm> {
    match slot {
        Slot::FirstFrame => forms.first_frame.as_ref(),
        Slot::LastFrame => forms.last_frame.as_ref(),
        Slot::Reference(Kind::Image) => forms.reference_image.as_ref(),
        Slot::Reference(Kind::Video) => forms.reference_video.as_ref(),
        Slot::Reference(Kind::Audio) => forms.reference_audio.as_ref(),
    }
}

fn unsupported(used: &FrameUse, model: &Model, cx: &Cx<'_>) -> Diagnostic {
    let what = match used.slot {
        Slot::FirstFrame => "first frame".to_owned(),
        Slot::LastFrame => "last frame".to_owned(),
        Slot::Reference(kind) => format!("reference {}", kind.word()),
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

/// A request field, set by hand, that is a first frame of its own. Which fields those are, the forms of all models say.
fn set_by_hand<'a>(origins: &Origins<'a>, cx: &Cx<'_>) -> Option<&'a crate::syntax::Entry> {
    let sets_first_frame = |name: &str| {
        cx.contract.models().iter().any(|model| {
            matches!(&cx.contract.inputs(model).first_frame, Some(InputForm::Field(field)) if field == name)
        })
    };
    origins.fields.iter().map(|(entry, _)| *entry).find(|entry| sets_first_frame(&entry.key.value))
}

fn two_first_frames(used: &FrameUse, by_hand: &crate::syntax::Entry, origins: &Origins<'_>) -> Diagnostic {
    let field = &by_hand.key.value;
    let from_defaults =
        origins.fields.iter().any(|(entry, from_defaults)| *from_defaults && std::ptr::eq(*entry, by_hand));
    let help = if from_defaults {
        format!("`{field}: null` in the shot drops the default")
    } else {
        format!("keep `{}` or `{field}`", used.word)
    };
    Diagnostic::error("two-first-frames", used.span, "this shot has two first frames")
        .label(format!("`{}` sets one here", used.word))
        .other(by_hand.key.span, format!("`{field}` sets another by hand"))
        .help(help)
}

/// Something else stands where the medium has to go.
fn no_room(used: &FrameUse, form: &InputForm, origins: &Origins<'_>) -> Diagnostic {
    let field = match form {
        InputForm::Field(name) | InputForm::ListField(name) => name.as_str(),
        InputForm::ContentItem { .. } => "metadata",
    };
    let diagnostic = Diagnostic::error(
        "frame-conflict",
        used.span,
        format!("`{}` goes into `{field}`, which holds something else", used.word),
    );
    match origins.find(&format!("/{field}")) {
        Some(found) => diagnostic.other(found.span, "set here"),
        None => diagnostic,
    }
}

/// The part of the request that a medium brings with it: for a content item, the whole item.
fn part(form: &InputForm, pointer: &str) -> String {
    match form {
        InputForm::ContentItem { item_type, .. } => {
            pointer.strip_suffix(&format!("/{item_type}/url")).unwrap_or(pointer).to_owned()
        }
        InputForm::Field(_) | InputForm::ListField(_) => pointer.to_owned(),
    }
}
