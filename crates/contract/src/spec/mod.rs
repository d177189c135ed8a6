//! openapi.yaml read into types and checked for consistency.
//!
//! The build script compiles this module too, so that an inconsistent document fails the build with a pointer and help.

mod document;
mod error;
mod family;
mod field;
mod inputs;
mod model;
mod rule;

#[cfg(feature = "validate")]
pub(crate) use document::escape;
pub(crate) use document::{Node, resolve};
pub use error::SpecError;
pub use family::Family;
pub(crate) use family::FamilySpec;
#[cfg(feature = "validate")]
pub(crate) use field::matches_digits_only;
pub(crate) use field::read as read_fields;
pub use field::{Field, FieldKind, MediaEncoding};
pub use inputs::{InputForm, InputForms};
pub use model::{Model, ResolutionSource};
pub use rule::{Rule, RuleLocation, Severity};

use std::collections::BTreeMap;

use serde_json::Value;

/// The component that holds the request: a `oneOf` over the families, discriminated by `model`.
pub(crate) const REQUEST: &str = "CreateVideoRequest";
/// The component of the task object.
pub(crate) const TASK: &str = "Task";
/// The component of the body of an error response.
pub(crate) const ERROR: &str = "ErrorBody";

/// A consistent document.
#[derive(Debug)]
pub(crate) struct Spec {
    pub(crate) version: String,
    pub(crate) families: Vec<FamilySpec>,
    pub(crate) models: Vec<Model>,
    /// Per component, the rules that apply to every object of that component.
    pub(crate) rules: BTreeMap<String, Vec<Rule>>,
}

impl Spec {
    /// Reads a document. An error has the pointer and help.
    pub(crate) fn read(document: &Value) -> Result<Self, SpecError> {
        let root = Node::root(document);
        let version = document::check(&root)?;
        let families = family::read(&root)?;
        let models = model::read(&root, &families)?;
        let rules = rule::read(&root, &families, &models)?;
        for component in [TASK, ERROR] {
            root.need("components")?.need("schemas")?.need(component)?;
        }
        Ok(Self { version, families, models, rules })
    }
}
