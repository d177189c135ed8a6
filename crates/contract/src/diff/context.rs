//! State of a comparison: the two documents, the current location, the changes so far; and the table of effects.

use serde_json::Value;

use super::{Change, Direction, Effect, Subject, Verdict};
use crate::SpecError;
use crate::spec::{Node, resolve};

/// The two documents being compared.
pub(super) struct Documents<'a> {
    pub(super) old: &'a Value,
    pub(super) new: &'a Value,
}

/// A location that both documents have.
#[derive(Clone)]
pub(super) struct Location {
    pub(super) direction: Direction,
    pub(super) path: String,
    used_by: Vec<String>,
    /// Pairs of components whose inline comparison is in progress, to end recursion.
    pub(super) in_progress: Vec<(String, String)>,
}

impl Location {
    pub(super) fn new(direction: Direction, path: impl Into<String>) -> Self {
        Self { direction, path: path.into(), used_by: Vec::new(), in_progress: Vec::new() }
    }

    pub(super) fn component(direction: Direction, name: &str, used_by: Vec<String>) -> Self {
        Self { used_by, ..Self::new(direction, name) }
    }

    /// A field of the object here.
    pub(super) fn field(&self, name: &str) -> Self {
        Self { path: format!("{}.{name}", self.path), ..self.clone() }
    }

    /// The items of the list here.
    pub(super) fn items(&self) -> Self {
        Self { path: format!("{}[]", self.path), ..self.clone() }
    }
}

/// The changes so far.
#[derive(Default)]
pub(super) struct ChangeSet {
    pub(super) changes: Vec<Change>,
}

impl ChangeSet {
    /// Records a change with the effect from the table.
    pub(super) fn record(
        &mut self,
        location: &Location,
        subject: Subject,
        verdict: Verdict,
        summary: impl Into<String>,
    ) {
        let effect = effect(location.direction, subject, verdict);
        self.record_with_effect(effect, location, subject, verdict, summary);
    }

    /// Records a change with an effect that the table cannot derive.
    pub(super) fn record_with_effect(
        &mut self,
        effect: Effect,
        location: &Location,
        subject: Subject,
        verdict: Verdict,
        summary: impl Into<String>,
    ) {
        self.changes.push(Change {
            effect,
            verdict,
            direction: location.direction,
            subject,
            location: location.path.clone(),
            used_by: location.used_by.clone(),
            summary: summary.into(),
        });
    }
}

/// What a flag became, if it changed.
pub(super) fn flipped(before: bool, after: bool) -> Option<bool> {
    (before != after).then_some(after)
}

/// Whether a member is there and true.
pub(super) fn is_set(value: &Value, member: &str) -> bool {
    value.get(member) == Some(&Value::Bool(true))
}

/// The members of two objects by name: what is gone, then what the newer one has. What is no object has none.
pub(super) fn pairs<'v>(
    old: &'v Value,
    new: &'v Value,
) -> impl Iterator<Item = (&'v String, Option<&'v Value>, Option<&'v Value>)> {
    let gone = old.as_object().into_iter().flatten().filter(|(name, _)| new.get(name).is_none());
    let kept = new.as_object().into_iter().flatten();
    gone.map(|(name, old)| (name, Some(old), None))
        .chain(kept.map(|(name, new)| (name, old.get(name), Some(new))))
}

/// The table of effects on a caller of the older contract.
fn effect(direction: Direction, subject: Subject, verdict: Verdict) -> Effect {
    match subject {
        Subject::Default | Subject::Deprecation | Subject::Error | Subject::Inputs => return Effect::Notice,
        Subject::Security => return Effect::Breaks,
        _ => {}
    }
    match (direction, verdict) {
        (Direction::Request, Verdict::Added) if subject == Subject::Rule => Effect::Breaks,
        (Direction::Request, Verdict::Removed) if subject == Subject::Rule => Effect::Harmless,
        (Direction::Request, Verdict::Narrowed | Verdict::Removed | Verdict::Changed) => Effect::Breaks,
        (Direction::Request, Verdict::Widened | Verdict::Added)
        | (Direction::Response, Verdict::Narrowed) => Effect::Harmless,
        (Direction::Response, Verdict::Widened) => match subject {
            Subject::Requiredness | Subject::Type => Effect::Breaks,
            _ => Effect::Notice,
        },
        (Direction::Response, Verdict::Added) => match subject {
            Subject::Value | Subject::Status | Subject::ContentType | Subject::Alternative => Effect::Notice,
            _ => Effect::Harmless,
        },
        (Direction::Response, Verdict::Removed) => match subject {
            Subject::Value | Subject::Status | Subject::Alternative => Effect::Harmless,
            _ => Effect::Breaks,
        },
        (Direction::Response, Verdict::Changed) => match subject {
            Subject::Type | Subject::Rule => Effect::Breaks,
            _ => Effect::Notice,
        },
    }
}

/// The component that a schema refers to, directly or by an `allOf` with one part.
pub(super) fn component_of(schema: &Value) -> Option<&str> {
    let sole = || match schema.get("allOf")?.as_array()?.as_slice() {
        [only] if schema.get("properties").is_none() => only.get("$ref"),
        _ => None,
    };
    schema.get("$ref").or_else(sole)?.as_str()?.strip_prefix("#/components/schemas/")
}

/// A schema or another part with references resolved; keywords beside a reference override the target's.
pub(super) fn effective(root: &Value, part: &Value) -> Result<Value, SpecError> {
    let node = Node { value: part, pointer: String::new() };
    let target = resolve(&Node::root(root), &node)?.value;
    let (Some(mut merged), Some(own)) = (target.as_object().cloned(), part.as_object()) else {
        return Ok(target.clone());
    };
    let reference = if part.get("$ref").is_some() { "$ref" } else { "allOf" };
    let beside = own.iter().filter(|(key, _)| *key != reference || std::ptr::eq(target, part));
    merged.extend(beside.map(|(key, value)| (key.clone(), value.clone())));
    Ok(Value::Object(merged))
}
