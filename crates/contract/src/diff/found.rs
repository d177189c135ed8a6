//! What was found so far, where the comparison stands, and what a finding means to callers.

use serde_json::Value;

use super::{Change, Effect, Side, Subject, Verdict};
use crate::SpecError;
use crate::spec::{Node, resolve};

/// The two documents.
pub(super) struct Documents<'a> {
    pub(super) old: &'a Value,
    pub(super) new: &'a Value,
}

/// A place that both documents have.
#[derive(Clone)]
pub(super) struct Spot {
    pub(super) side: Side,
    pub(super) at: String,
    used_by: Vec<String>,
    /// Pairs of components that are being compared in place, so that such a comparison ends.
    pub(super) within: Vec<(String, String)>,
}

impl Spot {
    pub(super) fn new(side: Side, at: impl Into<String>) -> Self {
        Self { side, at: at.into(), used_by: Vec::new(), within: Vec::new() }
    }

    pub(super) fn component(side: Side, name: &str, used_by: Vec<String>) -> Self {
        Self { used_by, ..Self::new(side, name) }
    }

    /// A field of the object here.
    pub(super) fn field(&self, name: &str) -> Self {
        Self { at: format!("{}.{name}", self.at), ..self.clone() }
    }

    /// The items of the list here.
    pub(super) fn items(&self) -> Self {
        Self { at: format!("{}[]", self.at), ..self.clone() }
    }
}

/// The changes so far.
#[derive(Default)]
pub(super) struct Found {
    pub(super) changes: Vec<Change>,
}

/// One finding, before it is judged.
pub(super) struct Finding<'a> {
    pub(super) subject: Subject,
    pub(super) verdict: Verdict,
    pub(super) what: String,
    pub(super) old: Option<&'a Value>,
    pub(super) new: Option<&'a Value>,
}

impl Found {
    /// Records a finding with the effect that the table gives it.
    pub(super) fn note(&mut self, spot: &Spot, finding: Finding<'_>) {
        let effect = effect(spot.side, finding.subject, finding.verdict);
        self.note_as(effect, spot, finding);
    }

    /// Records a finding whose effect the table cannot know.
    pub(super) fn note_as(&mut self, effect: Effect, spot: &Spot, finding: Finding<'_>) {
        let Finding { subject, verdict, what, old, new } = finding;
        self.changes.push(Change {
            effect,
            verdict,
            side: spot.side,
            subject,
            at: spot.at.clone(),
            used_by: spot.used_by.clone(),
            what,
            old: old.cloned(),
            new: new.cloned(),
        });
    }
}

/// What a finding means to a caller that was written against the older contract.
fn effect(side: Side, subject: Subject, verdict: Verdict) -> Effect {
    match subject {
        Subject::Default | Subject::Deprecation | Subject::Error | Subject::Inputs => return Effect::Notice,
        Subject::Security => return Effect::Breaks,
        _ => {}
    }
    match (side, verdict) {
        (Side::Request, Verdict::Added) if subject == Subject::Rule => Effect::Breaks,
        (Side::Request, Verdict::Removed) if subject == Subject::Rule => Effect::Harmless,
        (Side::Request, Verdict::Narrowed | Verdict::Removed | Verdict::Changed) => Effect::Breaks,
        (Side::Request, Verdict::Widened | Verdict::Added) | (Side::Response, Verdict::Narrowed) => {
            Effect::Harmless
        }
        (Side::Response, Verdict::Widened) => match subject {
            Subject::Requiredness | Subject::Type => Effect::Breaks,
            _ => Effect::Notice,
        },
        (Side::Response, Verdict::Added) => match subject {
            Subject::Value | Subject::Status | Subject::ContentType | Subject::Alternative => Effect::Notice,
            _ => Effect::Harmless,
        },
        (Side::Response, Verdict::Removed) => match subject {
            Subject::Value | Subject::Status | Subject::Alternative => Effect::Harmless,
            _ => Effect::Breaks,
        },
        (Side::Response, Verdict::Changed) => match subject {
            Subject::Type | Subject::Rule => Effect::Breaks,
            _ => Effect::Notice,
        },
    }
}

/// The component that a schema stands for, by itself or with remarks of its own beside the reference.
pub(super) fn component_of(schema: &Value) -> Option<&str> {
    let sole = || match schema.get("allOf")?.as_array()?.as_slice() {
        [only] if schema.get("properties").is_none() => only.get("$ref"),
        _ => None,
    };
    schema.get("$ref").or_else(sole)?.as_str()?.strip_prefix("#/components/schemas/")
}

/// What a schema or another part says, references followed; what stands beside a reference goes before what it leads to.
pub(super) fn effective(root: &Value, part: &Value) -> Result<Value, SpecError> {
    let node = Node { value: part, pointer: String::new() };
    let target = resolve(&Node::root(root), &node)?.value;
    let (Some(mut whole), Some(own)) = (target.as_object().cloned(), part.as_object()) else {
        return Ok(target.clone());
    };
    let reference = if part.get("$ref").is_some() { "$ref" } else { "allOf" };
    let beside = own.iter().filter(|(key, _)| *key != reference || std::ptr::eq(target, part));
    whole.extend(beside.map(|(key, value)| (key.clone(), value.clone())));
    Ok(Value::Object(whole))
}
