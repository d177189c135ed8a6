//! Request templates: what the requests of a shot's instances with one model have in common, prepared once.

use std::collections::HashSet;
use std::sync::Arc;

use contract::{Contract, Family, Field, FieldKind, FieldShape, Model, Placement, UnknownMember, Word};
use serde_json::Value;

use super::cast_prompt::ComposedPrompt;
use super::fields::{entry_of, is_literal};
use super::interner::Interner;
use super::lower::Lowering;
use super::media::LocalMedia;
use super::request_builder::{FieldMedium, RequestBuilder};
use super::request_media;
use super::said::Places;
use super::{ExpandCx, local_paths};
use crate::diagnostic::{Diagnostic, Problems, did_you_mean, quoted_list, shortened};
use crate::limits;
use crate::plan::{DialogueLine, Location, Said, json_text_eq};
use crate::source::Span;
use crate::syntax::keys::shot::{DEFAULTS, ID, SHOT};
use crate::syntax::keys::{EXTENSION_HELP, is_extension, misplaced};
use crate::syntax::{Entry, Shot, Workflow};
use crate::yaml;

/// The key of a shot that names its model, wherever its service takes that.
pub(super) const MODEL: &str = "model";
/// Unknown members of a field's value that are reported.
const MAX_UNKNOWN_MEMBERS: usize = 20;

/// The names of a request's fields.
pub(super) type Names = Arc<[Arc<str>]>;

/// The common part of the nodes of a shot's instances with one model.
pub(super) struct RequestTemplate<'w> {
    /// The name of the service, if it has one.
    pub(super) service: Option<Arc<str>>,
    pub(super) model: Arc<Model>,
    pub(super) shot: Arc<str>,
    pub(super) step_of: Option<Arc<str>>,
    pub(super) group: Option<Arc<str>>,
    pub(super) note: Option<Arc<str>>,
    /// The lines of the instances, if all say the same.
    pub(super) dialogue: Option<Arc<[DialogueLine]>>,
    pub(super) model_id: Arc<str>,
    pub(super) location: Location,
    /// The fields that are set, in the contract's order.
    pub(super) fields: Vec<FieldTemplate<'w>>,
    /// The errors of the shot's entries that are not fields of the model's family.
    pub(super) unknown_fields: Vec<Diagnostic>,
    /// The last prompt with descriptions of characters.
    pub(super) composed: Option<ComposedPrompt>,
    /// How the media of the last instance were lowered, reused for equal media.
    pub(super) lowering: Option<Lowering>,
    pub(super) places: Places,
    /// What the last instance says, shared with the next one if equal.
    pub(super) said: Arc<[Said]>,
    /// The field names of the last instance, shared with the next one if equal.
    pub(super) names: Names,
}

/// What a key of a shot sets in the requests of a template.
pub(super) struct FieldTemplate<'w> {
    /// The name of the field at the top of the request; the key, where it is put elsewhere.
    pub(super) name: Arc<str>,
    /// What the schema says of it.
    pub(super) field: Option<&'w Field>,
    pub(super) shape: Option<&'w FieldShape>,
    /// The word that it is.
    pub(super) word: Option<Word>,
    /// Where it is put, if that is not a field at the top of the request.
    pub(super) placement: Option<Placement>,
    pub(super) entry: &'w Entry,
    pub(super) is_from_defaults: bool,
    /// Whether the value contains no template: then `last` is the value of all instances.
    pub(super) literal: bool,
    /// The value of the last instance that had one, shared with the next one if equal.
    pub(super) last: Option<FieldValue<'w>>,
}

/// The rendered value of a field.
pub(super) struct FieldValue<'w> {
    pub(super) value: Arc<Value>,
    pub(super) is_local_path: bool,
    /// Members that the client could not send.
    pub(super) unknown_members: Vec<UnknownMember<'w>>,
    pub(super) media: Arc<[FieldMedium]>,
}

impl<'w> FieldValue<'w> {
    fn new(
        value: Arc<Value>,
        field: Option<&Field>,
        shape: Option<&'w FieldShape>,
        local: &mut LocalMedia,
        cx: &ExpandCx<'_>,
    ) -> Self {
        Self {
            media: field
                .map(|field| request_media::inspect(&value, field, local, cx))
                .unwrap_or_default()
                .into(),
            is_local_path: local_paths::may_be_local_path(&value),
            unknown_members: shape
                .map(|shape| shape.unknown_members(&value, MAX_UNKNOWN_MEMBERS))
                .unwrap_or_default(),
            value,
        }
    }
}

impl<'w> RequestTemplate<'w> {
    pub(super) fn new(
        workflow: &'w Workflow,
        shot: &'w Shot,
        model: Arc<Model>,
        interner: &mut Interner,
        local: &mut LocalMedia,
        cx: &ExpandCx<'w>,
    ) -> Self {
        let own = cx.contract.fields(&model.family).iter().filter(|field| !is_hidden(field, &model));
        let own = own.map(|field| (names_of(field, &model), Some(field), None));
        let words = Word::ALL.into_iter().filter(|word| word.is_key()).filter_map(|word| {
            let placement = model.inputs.get(word)?;
            let is_own = own_field(placement, &model.family, cx).is_some();
            let field = cx.contract.word_field(&model.family, word);
            (!is_own).then(|| (vec![word.as_str()], field, Some((word, placement.clone()))))
        });
        let fields = own.chain(words).filter_map(|(names, field, elsewhere)| {
            let (entry, is_from_defaults) = entry_of(workflow, shot, &names)?;
            let literal = is_literal(&entry.value);
            let is_top = elsewhere.is_none() && field.is_some_and(|field| field.at.is_top());
            let shape = field
                .filter(|_| is_top)
                .and_then(|field| cx.contract.field_shape(&model.family, &field.name));
            let key = entry.key.value.as_str();
            let placed = elsewhere.as_ref().map(|(word, _)| *word);
            let word = placed.or_else(|| {
                Word::ALL.into_iter().find(|word| word.as_str() == key && is_word_of(key, &model))
            });
            let make = || wire_value(entry.value.to_json(), word, field, shape);
            let value = match (literal, is_from_defaults, field) {
                (false, ..) => None,
                (true, true, Some(field)) => Some(interner.default_value(entry, field, make)),
                (true, ..) => Some(interner.value(make())),
            };
            if value.as_ref().is_some_and(|value| value.is_null()) {
                return None;
            }
            let last = value.map(|value| FieldValue::new(value, field, shape, local, cx));
            let placement = match elsewhere {
                Some((_, placement)) => Some(placement),
                None => field.filter(|_| !is_top).map(|field| Placement::from(field.at.clone())),
            };
            let name = interner.name(field.filter(|_| is_top).map_or(key, |field| &field.name));
            Some(FieldTemplate {
                name,
                field,
                shape,
                word,
                placement,
                entry,
                is_from_defaults,
                literal,
                last,
            })
        });
        let fields = fields.collect();
        Self {
            service: None,
            shot: shot.id.value.as_str().into(),
            step_of: shot.step.as_ref().map(|step| step.shot.as_str().into()),
            group: workflow.group_of(shot).map(|group| group.key.value.as_str().into()),
            note: shot.note.as_ref().map(|note| Arc::clone(&note.value)),
            dialogue: None,
            location: cx.location(shot.id.span),
            fields,
            unknown_fields: unknown_fields(shot, Some(&model), cx),
            model_id: interner.name(&model.id),
            composed: None,
            lowering: None,
            places: Places::new(cx.contract, &model),
            said: Arc::default(),
            names: Names::default(),
            model,
        }
    }

    /// The field names of a request, shared with the requests that have the same.
    pub(super) fn names(&mut self, builder: &RequestBuilder<'_, 'w>, interner: &mut Interner) -> Names {
        let names = || builder.fields.iter().map(|field| &*field.name);
        if !self.names.iter().map(|name| &**name).eq(names()) {
            let names = builder.fields.iter().map(|field| Arc::clone(&field.name)).collect();
            self.names = interner.names(names);
        }
        Arc::clone(&self.names)
    }
}

impl FieldTemplate<'_> {
    /// Whether it is the prompt.
    pub(super) fn is_prompt(&self) -> bool {
        self.word == Some(Word::Prompt)
    }

    /// Makes a value the last one, unless that has the same JSON text.
    pub(super) fn share(
        &mut self,
        value: Value,
        interner: &mut Interner,
        local: &mut LocalMedia,
        cx: &ExpandCx<'_>,
    ) {
        if !self.last.as_ref().is_some_and(|last| json_text_eq(&last.value, &value)) {
            self.last = Some(FieldValue::new(interner.own(value), self.field, self.shape, local, cx));
        }
    }
}

/// The field of the service's own that a word is put into as a whole.
fn own_field<'c>(placement: &Placement, family: &Family, cx: &ExpandCx<'c>) -> Option<&'c Field> {
    let mut fields = cx.contract.fields(family).iter();
    fields.find(|field| placement.item.is_none() && field.at == placement.at)
}

/// Whether a field has the name of a word that is put elsewhere: the key means the word.
fn is_hidden(field: &Field, model: &Model) -> bool {
    let mut words = Word::ALL.into_iter().filter(|word| word.is_key() && word.as_str() == field.name);
    words.any(|word| {
        let placement = model.inputs.get(word);
        placement.is_some_and(|placement| placement.item.is_some() || placement.at != field.at)
    })
}

/// The keys of a shot that set a field: its own name, and the word that is put there.
pub(super) fn names_of<'n>(field: &'n Field, model: &Model) -> Vec<&'n str> {
    let is_here = |word: &Word| {
        let placement = model.inputs.get(*word).filter(|placement| placement.item.is_none());
        placement.is_some_and(|placement| placement.at == field.at)
    };
    let words = Word::ALL.into_iter().filter(|word| word.is_key()).filter(is_here);
    let mut names = vec![field.name.as_str()];
    for word in words.map(Word::as_str) {
        if field.name != word {
            names.push(word);
        }
    }
    names
}

/// Converts numbers to the form of the wire: digits where the field is a string of digits (`seconds: 5` is sent as `"5"`), integers
/// where it holds integers (`seed: 7.0` is sent as `7`).
pub(super) fn wire_value(
    mut value: Value,
    word: Option<Word>,
    field: Option<&Field>,
    shape: Option<&FieldShape>,
) -> Value {
    if let Some(shape) = shape {
        shape.normalize(&mut value);
    }
    let Some(field) = field else { return value };
    if word.is_some_and(|word| !matches!(word, Word::Prompt | Word::NegativePrompt)) {
        value = field.spelled(value);
    }
    match &value {
        Value::Number(number) if field.is_digit_string => {
            let integer = number.as_i64().or_else(|| {
                number
                    .as_f64()
                    .filter(|float| float.fract() == 0.0 && float.abs() < 1e15)
                    .map(|float| float as i64)
            });
            integer.map_or(value, |integer| Value::String(integer.to_string()))
        }
        _ => value,
    }
}

/// The number of a text from a template that is one in a form of its own, such as `1e3` from an axis, where the field takes numbers.
pub(super) fn number_from_text(value: Value, field: Option<&Field>) -> Value {
    let Some(field) = field else { return value };
    let takes_numbers = field.is_digit_string || matches!(field.kind, FieldKind::Integer | FieldKind::Number);
    let number = || {
        let text = value.as_str()?;
        yaml::number_in(text).filter(|number| number.to_string() != text)
    };
    let number = if takes_numbers { number() } else { None };
    number.map_or(value, Value::Number)
}

/// The errors of a shot's entries that are not request fields; without a model, of no family.
pub(super) fn unknown_fields(shot: &Shot, model: Option<&Model>, cx: &ExpandCx<'_>) -> Vec<Diagnostic> {
    shot.fields
        .iter()
        .filter_map(|entry| unknown_field(entry, shot, model, cx))
        .take(limits::MAX_DIAGNOSTICS)
        .collect()
}

/// Whether a name is a word that a model takes at the top of its request.
pub(super) fn is_word_of(name: &str, model: &Model) -> bool {
    Word::ALL
        .into_iter()
        .any(|word| word.as_str() == name && word.is_key() && model.inputs.get(word).is_some())
}

/// The error of a shot that sets a field by its name and by the word that is put there.
fn same_twice(entry: &Entry, field: &Field, shot: &Shot, model: &Model) -> Option<Diagnostic> {
    let names = names_of(field, model);
    let other = shot.fields.iter().find(|other| names[1..].contains(&other.key.value.as_str()))?;
    let (name, word) = (&entry.key.value, &other.key.value);
    let message = format!("`{word}` is sent as `{name}`, which is set as well");
    Some(
        Diagnostic::error("duplicate-key", entry.key.span, message)
            .other(other.key.span, "the same is set here")
            .help(format!("keep `{word}`, which every service takes")),
    )
}

fn unknown_field(entry: &Entry, shot: &Shot, model: Option<&Model>, cx: &ExpandCx<'_>) -> Option<Diagnostic> {
    let name = entry.key.value.as_str();
    if is_extension(name) {
        let message = format!("`{name}` is not a key of a shot");
        return Some(Diagnostic::error("unknown-field", entry.key.span, message).help(EXTENSION_HELP));
    }
    let Some(model) = model else {
        // The family is not known; only a field that no family has is definitely wrong.
        let message = format!("`{name}` is not a field of any request");
        return (!is_field_of_any(name, cx)).then(|| {
            let diagnostic = Diagnostic::error("unknown-field", entry.key.span, message);
            with_suggestion(diagnostic, entry, all_fields(cx))
        });
    };
    if let Some(field) = cx.contract.field(&model.family, name) {
        return same_twice(entry, field, shot, model);
    }
    if is_word_of(name, model) || name == MODEL {
        return None;
    }
    let diagnostic = Diagnostic::error(
        "unknown-field",
        entry.key.span,
        format!("`{name}` is not a field of `{}`", model.id),
    );
    let other_family = cx.contract.families().find(|family| cx.contract.field(family, name).is_some());
    Some(if let Some(other_family) = other_family {
        diagnostic.help(format!(
            "family {other_family} has it; in `defaults` it would be sent to models of that family only"
        ))
    } else {
        let fields = cx.contract.fields(&model.family).iter().map(|field| field.name.as_str());
        with_suggestion(diagnostic, entry, fields)
    })
}

fn with_suggestion<'a>(
    diagnostic: Diagnostic,
    entry: &Entry,
    fields: impl Iterator<Item = &'a str>,
) -> Diagnostic {
    let name = entry.key.value.as_str();
    let mut fields: Vec<&str> = fields.collect();
    let mut known = HashSet::new();
    fields.retain(|field| known.insert(*field));
    let names = || fields.iter().copied().chain(SHOT.keys.iter().map(|key| key.name));
    let help = misplaced(&SHOT, name).or_else(|| did_you_mean(name, names())).unwrap_or_else(|| {
        let keys = SHOT.names().filter(|key| *key != ID.name && !fields.contains(key));
        format!(
            "the keys of a shot are {}; the fields of its request are {}",
            quoted_list(keys, SHOT.keys.len()),
            quoted_list(fields.iter().copied(), 30)
        )
    });
    diagnostic.help(help)
}

/// Reports defaults that are a field of no family. A default that only another family has is not sent, so that one set of defaults
/// serves shots of several families.
pub(super) fn check_defaults(workflow: &Workflow, cx: &ExpandCx<'_>, problems: &mut Problems) {
    for entry in workflow.all_defaults() {
        if problems.full() {
            return;
        }
        let name = &entry.key.value;
        if !is_field_of_any(name, cx) {
            let diagnostic = Diagnostic::error(
                "unknown-field",
                entry.key.span,
                format!("`{name}` is not a field of any request"),
            );
            let fields: Vec<&str> = all_fields(cx).collect();
            problems.push(
                match did_you_mean(
                    name,
                    fields.iter().copied().chain(DEFAULTS.keys.iter().map(|key| key.name)),
                ) {
                    _ if is_extension(name) => diagnostic.help(EXTENSION_HELP),
                    _ if let Some(help) = misplaced(&DEFAULTS, name) => diagnostic.help(help),
                    Some(help) => diagnostic.help(help),
                    None => diagnostic.help(format!(
                        "`defaults` holds request fields, such as `model` and `seconds`, and {}",
                        quoted_list(DEFAULTS.names(), DEFAULTS.keys.len())
                    )),
                },
            );
        }
    }
}

fn all_fields<'c>(cx: &ExpandCx<'c>) -> impl Iterator<Item = &'c str> {
    let of_service = |contract: &'c Contract| {
        contract.families().flat_map(|family| contract.fields(family)).map(|field| field.name.as_str())
    };
    let fields = cx.contracts().flat_map(of_service);
    let words: Vec<&str> = Word::ALL.into_iter().filter(|word| word.is_key()).map(Word::as_str).collect();
    fields.chain(words)
}

pub(super) fn is_field_of_any(name: &str, cx: &ExpandCx<'_>) -> bool {
    all_fields(cx).any(|field| field == name)
}

/// A member of an object in a field that the document does not define: the client's types have no place for it.
pub(super) fn unknown_member(field: &str, member: &UnknownMember<'_>, span: Span) -> Diagnostic {
    let object = object_of(field, member);
    let message = format!("`{}` is not a member of `{object}`", shortened(&member.name));
    let expected = || member.expected.iter().copied();
    Diagnostic::error("unknown-field", span, message).help(
        did_you_mean(&member.name, expected())
            .unwrap_or_else(|| format!("remove it; the members are {}", quoted_list(expected(), 12))),
    )
}

/// The object that a member is in, as a path: `metadata.content[0]`.
pub(super) fn object_of(field: &str, member: &UnknownMember<'_>) -> String {
    let within = member.pointer.rsplit_once('/').map_or("", |(within, _)| within);
    let path: String = within
        .split('/')
        .skip(1)
        .map(|part| {
            if part.bytes().all(|byte| byte.is_ascii_digit()) {
                format!("[{part}]")
            } else {
                format!(".{part}")
            }
        })
        .collect();
    format!("{field}{path}")
}
