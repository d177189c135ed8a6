//! What changed between two contracts, as those who call the service see it.
//!
//! Two questions are kept apart. The [`Verdict`] says what became of the set of allowed values: a bound that moves
//! inwards is *narrowed*, on whichever side it stands. The [`Effect`] says what that does to a caller written against the
//! older contract, and there the sides differ:
//!
//! | | in a request | in an answer |
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
mod found;
mod operations;
mod reach;
mod render;
mod schema;

use serde::Serialize;
use serde_json::Value;

use crate::{Contract, SpecError};
use found::{Documents, Found, Spot};

/// Everything that changed from one contract to another.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Diff {
    /// The older contract's version.
    pub old_version: String,
    /// The newer contract's version.
    pub new_version: String,
    /// The changes: what breaks callers first, then in the document's order.
    pub changes: Vec<Change>,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// What it does to a caller that was written against the older contract.
    pub effect: Effect,
    /// What became of the set of allowed values.
    pub verdict: Verdict,
    /// The side of the exchange.
    pub side: Side,
    /// What kind of thing changed.
    pub subject: Subject,
    /// Where: an operation such as `POST /v1/videos`, a model, or component and path such as `VideoMetadataA.content[]`.
    pub at: String,
    /// The fields that refer to the component, where the component is not an object itself.
    pub used_by: Vec<String>,
    /// What changed: a lower-case fragment.
    pub what: String,
    /// As it was, where that can be shown.
    pub old: Option<Value>,
    /// As it is.
    pub new: Option<Value>,
}

/// What a change does to callers. The order is that of severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// A request that was accepted is refused, or an answer lacks what was promised.
    Breaks,
    /// Nothing is refused, but the same request may come to something else, or readers meet what they have not seen.
    Notice,
    /// Nobody notices who does not want to.
    Harmless,
}

/// What became of the set of allowed values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It was not there.
    Added,
    /// It is not there any more.
    Removed,
    /// Less is allowed than before.
    Narrowed,
    /// More is allowed than before.
    Widened,
    /// Neither is part of the other, it cannot be told, or there is nothing to be wider or narrower.
    Changed,
}

/// The side of the exchange on which something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// What callers send.
    Request,
    /// What they are answered.
    Response,
}

/// What kind of thing changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// A method on a path.
    Operation,
    /// A parameter in the path, query or header.
    Parameter,
    /// A content type of a body.
    ContentType,
    /// An HTTP status.
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
    /// Whether another way is to be preferred.
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
    #[must_use]
    pub fn breaks(&self) -> bool {
        self.changes.iter().any(|change| change.effect == Effect::Breaks)
    }

    /// For a terminal, each line ended.
    #[must_use]
    pub fn to_text(&self) -> String {
        render::text(self)
    }

    /// For a review, each line ended.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        render::markdown(self)
    }
}

/// Compares two contracts for their callers.
///
/// # Errors
/// A schema refers to itself without end: the place is in the error.
pub fn diff(old: &Contract, new: &Contract) -> Result<Diff, SpecError> {
    let documents = Documents { old: old.document(), new: new.document() };
    let mut found = Found::default();
    operations::compare(&documents, &mut found)?;
    catalogue::models(old, new, &mut found);
    for side in [Side::Request, Side::Response] {
        for name in reach::components(&documents, side) {
            let at = |document: &Value| document.pointer(&format!("/components/schemas/{name}")).cloned();
            let (Some(before), Some(after)) = (at(documents.old), at(documents.new)) else { continue };
            let spot = Spot::component(side, &name, reach::users(documents.new, &name, &after));
            schema::compare(&documents, &spot, &before, &after, &mut found)?;
            catalogue::rules(old, new, side, &name, &mut found);
            catalogue::inputs(&spot, &before, &after, &mut found);
        }
    }
    let mut changes = found.changes;
    changes.sort_by_key(|change| change.effect);
    Ok(Diff { old_version: old.version().to_owned(), new_version: new.version().to_owned(), changes })
}
