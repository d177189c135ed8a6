//! A request under construction.

use std::sync::Arc;

use contract::{Model, Placement, Word};
use serde_json::{Map, Value};

use super::cast::InstanceCast;
use super::expansion::{ExpandedShot, Instance};
use super::frames::MediumUse;
use super::interner::Interner;
use super::resolve::RefResolver;
use crate::matrix::MatrixCell;
use crate::media_gate::MediaGateError;
use crate::plan::Input;
use crate::source::Span;
use crate::syntax::{Entry, Workflow};
use crate::template::Scope;

/// The context of one instance.
pub(super) struct InstanceCx<'a, 'w> {
    pub(super) workflow: &'w Workflow,
    pub(super) instance: &'a Instance,
    pub(super) expanded: &'a ExpandedShot<'w>,
    pub(super) cell: &'a MatrixCell,
    pub(super) scope: Scope,
    pub(super) cast: InstanceCast,
    pub(super) media: &'a [MediumUse],
    /// Whether another instance uses its last frame.
    pub(super) is_continued: bool,
    pub(super) resolver: &'a RefResolver<'a, 'w>,
}

/// A request under construction.
pub(super) struct RequestBuilder<'a, 'w> {
    pub(super) icx: &'a InstanceCx<'a, 'w>,
    pub(super) model: Arc<Model>,
    pub(super) fields: Vec<BuiltField<'w>>,
    /// What is put elsewhere than into a field of its own.
    pub(super) placed: Vec<PlacedValue<'w>>,
    pub(super) inputs: Vec<Input>,
    /// The media that the file writes into fields, by field.
    pub(super) media: Vec<(&'w str, Arc<[FieldMedium]>)>,
    /// The parts that were lowered from keys of the shot.
    pub(super) lowered: Vec<LoweredPart>,
    /// What was put into the request: which word it is, if it is one, and where.
    pub(super) said: Vec<(Option<Word>, Arc<str>)>,
    /// Fields whose templates failed: violations that concern them are not reported.
    pub(super) failed: Vec<&'w str>,
}

/// A field of a request under construction.
pub(super) struct BuiltField<'w> {
    pub(super) name: Arc<str>,
    pub(super) value: FieldState,
    /// What the file says, before anything was lowered into it.
    pub(super) own: Option<Arc<Value>>,
    /// The entry that sets it, and whether it is in `defaults`; `None` if the field was lowered.
    pub(super) entry: Option<(&'w Entry, bool)>,
}

/// A value that is put into a part of a field.
pub(super) struct PlacedValue<'w> {
    pub(super) word: Option<Word>,
    pub(super) placement: Placement,
    pub(super) value: Arc<Value>,
    /// The entry that sets it, and whether it is in `defaults`.
    pub(super) entry: (&'w Entry, bool),
    /// Where it is, once it is there.
    pub(super) pointer: Option<Arc<str>>,
}

/// The value of a field.
#[derive(Clone, PartialEq)]
pub(super) struct FieldState {
    /// The value as it is sent, with `null` for every input.
    pub(super) sent: Arc<Value>,
    /// The value as it is validated, with a stand-in for every input, if that differs.
    pub(super) validated: Option<Arc<Value>>,
}

impl RequestBuilder<'_, '_> {
    /// The value at a JSON pointer, as it is sent.
    pub(super) fn pointer(&self, pointer: &str) -> Option<&Value> {
        let path = pointer.strip_prefix('/')?;
        let (name, rest) = path.split_once('/').unwrap_or((path, ""));
        let value = self.value(name)?;
        if rest.is_empty() { Some(value) } else { value.pointer(&format!("/{rest}")) }
    }

    pub(super) fn field(&self, name: &str) -> Option<&FieldState> {
        self.fields.iter().find(|field| &*field.name == name).map(|field| &field.value)
    }

    /// The value of a field as it is sent.
    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        self.field(name).map(|field| &*field.sent)
    }
}

impl RequestBuilder<'_, '_> {
    /// Sets a field. A new one is appended.
    pub(super) fn set(&mut self, name: &Arc<str>, value: FieldState) {
        match self.fields.iter_mut().find(|field| field.name == *name) {
            Some(field) => field.value = value,
            None => self.fields.push(BuiltField { name: Arc::clone(name), value, own: None, entry: None }),
        }
    }

    /// The prompt, before anything is put into the request.
    pub(super) fn prompt(&mut self) -> Option<&mut Arc<Value>> {
        if let Some(placed) = self.placed.iter_mut().find(|placed| placed.word == Some(Word::Prompt)) {
            return Some(&mut placed.value);
        }
        let placement = self.model.inputs.get(Word::Prompt).filter(|placement| placement.is_top())?;
        let field = self.fields.iter_mut().find(|field| *field.name == *placement.field())?;
        Some(&mut field.value.sent)
    }

    /// Puts a value where a placement says. Nothing happens where another value is in the way.
    pub(super) fn place(
        &mut self,
        placement: &Placement,
        value: &Value,
        interner: &mut Interner,
    ) -> Option<String> {
        let field = placement.field();
        let index = self.fields.iter().position(|known| &*known.name == field);
        let put = |state: Option<&Arc<Value>>| {
            let mut request = Map::new();
            request.extend(state.map(|state| (field.to_owned(), Value::clone(state))));
            let at = placement.insert(&mut request, value.clone())?;
            Some((at, request.remove(field)?))
        };
        let (at, sent) = put(index.map(|index| &self.fields[index].value.sent))?;
        let validated = match index.and_then(|index| self.fields[index].value.validated.as_ref()) {
            Some(validated) => Some(interner.value(put(Some(validated))?.1)),
            None => None,
        };
        self.set(&interner.name(field), FieldState { sent: interner.value(sent), validated });
        Some(at)
    }
}

/// A part of a request that was lowered from a key of the shot, such as `continues`.
pub(super) struct LoweredPart {
    /// JSON pointer of the part, e.g. `/metadata/content/0` or `/image`.
    pub(super) pointer: Arc<str>,
    pub(super) key: &'static str,
    pub(super) span: Span,
}

/// A medium in the value of a request field.
pub(super) struct FieldMedium {
    /// JSON pointer within the field's value.
    pub(super) pointer: String,
    /// Number of bytes that are sent inside the request, before Base64; or why it cannot be sent.
    pub(super) inspected: Result<u64, MediaGateError>,
    /// Why the service may be unable to fetch it.
    pub(super) reachability: Option<MediaGateError>,
}
