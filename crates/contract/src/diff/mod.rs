//! Differences between two contracts, judged by their effect on callers.
//!
//! Two questions are kept apart. The [`Verdict`] says what became of the set of allowed values: a bound that moves
//! inwards is *narrowed*, in requests and responses alike. The [`Effect`] says what that does to a caller written against the
//! older contract, which depends on the direction:
//!
//! | | in a request | in a response |
//! |---|---|---|
//! | narrowed, removed | breaks: what was accepted is refused, or no longer means anything | harmless for values and bounds; breaks for a field, which was promised |
//! | widened, added | harmless | a notice for values and bounds: readers meet what they have not seen; breaks where a promise is dropped (no longer required, may be null) |
//! | a rule added | breaks | harmless: one promise more |
//! | a rule removed | harmless | breaks: one promise less |
//! | neither contains the other | breaks | breaks for types and rules, else a notice |
//! | default, deprecation, error code | a notice | a notice |
//!
//! Descriptions, titles and examples are not compared. Components are matched by name; where a field refers to another
//! component than before, the two are compared in place, without their cross-field rules.

mod bounds;
mod catalogue;
mod context;
mod operations;
mod reachability;
mod render;
mod schema;

use serde_json::Value;

use crate::spec::{self, Node};
use crate::{Contract, SpecError, view};
use context::{ChangeSet, Documents, Location};

/// Everything that changed from one contract to another.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Diff {
    /// The older contract's version.
    pub old_version: String,
    /// The newer contract's version.
    pub new_version: String,
    /// The changes: what breaks callers first, then in the document's order.
    pub changes: Vec<Change>,
}

#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Change {
    /// What it does to a caller that was written against the older contract.
    pub effect: Effect,
    /// What became of the set of allowed values.
    pub verdict: Verdict,
    /// Whether requests or responses change.
    pub direction: Direction,
    /// What kind of thing changed.
    pub subject: Subject,
    /// An operation such as `POST /v1/videos`, a model, or component and path such as `VideoMetadataA.content[]`.
    pub location: String,
    /// The fields that refer to the component, where the component is not an object itself.
    pub used_by: Vec<String>,
    /// What changed, as a lower-case fragment.
    pub summary: String,
}

/// What a change does to callers. The order is that of severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// A request that was accepted is refused, or an answer lacks what was promised.
    Breaks,
    /// Nothing is refused, but the same request may have another result, or responses may hold new values.
    Notice,
    /// Callers of the older contract are not affected.
    Harmless,
}

/// What became of the set of allowed values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Present in the newer contract only.
    Added,
    /// Present in the older contract only.
    Removed,
    /// The new set is a subset of the old one.
    Narrowed,
    /// The new set is a superset of the old one.
    Widened,
    /// Neither contains the other, containment cannot be decided, or it does not apply.
    Changed,
}

/// The direction of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Sent by the caller.
    Request,
    /// Sent by the service.
    Response,
}

/// What kind of thing changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// A method on a path.
    Operation,
    /// A parameter in the path, query or header.
    Parameter,
    /// A content type of a body.
    ContentType,
    Status,
    /// How callers authenticate.
    Security,
    /// A field of an object.
    Field,
    /// One of several allowed values.
    Value,
    /// The JSON type, whether null is allowed, or the format.
    Type,
    /// The least or greatest number, length or count.
    Bound,
    /// The pattern of a text.
    Pattern,
    /// Whether a field has to be there.
    Requiredness,
    /// What the service assumes where a field is left out.
    Default,
    /// Whether it is deprecated.
    Deprecation,
    /// The error that a field is reported with.
    Error,
    /// One of several forms of an object, or how forms are combined.
    Alternative,
    /// A cross-field rule.
    Rule,
    /// A model of the catalogue.
    Model,
    /// What a model can do or needs.
    Capability,
    /// Where frames and references go in a request.
    Inputs,
}

impl Diff {
    /// Whether a caller that was written against the older contract may stop working.
    pub fn breaks(&self) -> bool {
        self.changes.iter().any(|change| change.effect == Effect::Breaks)
    }

    /// Plain text for a terminal.
    pub fn to_text(&self) -> String {
        render::text(self)
    }
}

/// Compares two contracts for their callers.
///
/// # Errors
/// A schema refers to itself without end; the error names its pointer.
pub fn diff(old: &Contract, new: &Contract) -> Result<Diff, SpecError> {
    let [before, after] = [old, new].map(|contract| {
        let mut document = contract.document().clone();
        if let Some(Value::Object(schemas)) = document.pointer_mut("/components/schemas") {
            view::leave_to_rules(schemas, &contract.spec);
        }
        document
    });
    compare(&Documents { old: &before, new: &after }, Some((old, new)))
}

/// Compares two `OpenAPI` documents, of which not both are descriptions of a service: operations, parameters and schemas.
///
/// # Errors
/// As [`diff`].
pub fn diff_documents(old: &Value, new: &Value) -> Result<Diff, SpecError> {
    compare(&Documents { old, new }, None)
}

/// Checks that a value is an `OpenAPI` document that can be compared.
///
/// # Errors
/// It is of another version, or a reference leads to nothing.
pub fn check_document(document: &Value) -> Result<(), SpecError> {
    spec::check(&Node::root(document)).map(|_| ())
}

fn compare(documents: &Documents<'_>, contracts: Option<(&Contract, &Contract)>) -> Result<Diff, SpecError> {
    let mut changes = ChangeSet::default();
    operations::compare(documents, &mut changes)?;
    if let Some((old, new)) = contracts {
        catalogue::models(old, new, &mut changes);
        catalogue::inline_objects(old, new, &mut changes);
    }
    for direction in [Direction::Request, Direction::Response] {
        for name in reachability::components(documents, direction) {
            let component =
                |document: &Value| document.pointer(&format!("/components/schemas/{name}")).cloned();
            let (Some(before), Some(after)) = (component(documents.old), component(documents.new)) else {
                continue;
            };
            let location =
                Location::component(direction, &name, reachability::users(documents.new, &name, &after));
            schema::compare(documents, &location, &before, &after, &mut changes)?;
            if let Some((old, new)) = contracts {
                catalogue::rules(old, new, direction, &name, &mut changes);
                catalogue::inputs(&location, &before, &after, &mut changes);
            }
        }
    }
    let mut changes = changes.changes;
    changes.sort_by_key(|change| change.effect);
    let version = |document: &Value| document["info"]["version"].as_str().unwrap_or_default().to_owned();
    Ok(Diff { old_version: version(documents.old), new_version: version(documents.new), changes })
}
