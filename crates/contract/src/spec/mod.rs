//! openapi.yaml read into types and checked for consistency.
//!
//! The build script compiles this module too, so that an inconsistent document fails the build with a pointer and help.

mod access;
mod condition;
mod document;
mod error;
mod family;
mod field;
mod inputs;
mod model;
mod operation;
mod pointer;
mod rule;
mod tasks;

pub use access::KeyPlace;
pub(crate) use condition::{Case, Condition, Place};
pub(crate) use document::check;
pub use document::escape;
pub(crate) use document::{Node, read_as, resolve, schema_at};
pub use error::SpecError;
pub use family::Family;
pub(crate) use family::FamilySpec;
#[cfg(feature = "validate")]
pub(crate) use field::matches_digits_only;
pub(crate) use field::read as read_fields;
pub use field::{Field, FieldKind, MediaEncoding};
pub use inputs::{Inputs, MediaForm, Placement, Word};
pub(crate) use model::Catalogue;
pub use model::{Model, ResolutionSource};
pub use operation::{Operation, Parameter};
pub use pointer::Pointer;
pub use rule::{Rule, RuleLocation, Severity};
pub(crate) use tasks::{ErrorPlaces, IdPlace, ModelPlace, Tasks};
pub use tasks::{FailureReason, PollError, Refused, TaskState};

use std::collections::BTreeMap;

use serde_json::Value;

/// A consistent document.
#[derive(Debug)]
pub(crate) struct Spec {
    pub(crate) version: String,
    pub(crate) families: Vec<FamilySpec>,
    pub(crate) catalogue: Catalogue,
    pub(crate) tasks: Tasks,
    pub(crate) access: access::Access,
    /// The component that the operation `submit` takes, if the document names one for all models.
    pub(crate) request: Option<String>,
    /// The component that it answers with, and that of refusals.
    #[cfg_attr(not(feature = "validate"), expect(dead_code, reason = "answers are checked with it"))]
    pub(crate) task: Option<String>,
    #[cfg_attr(not(feature = "validate"), expect(dead_code, reason = "answers are checked with it"))]
    pub(crate) error: Option<String>,
    /// Per component, the rules that apply to every object of that component.
    pub(crate) rules: BTreeMap<String, Vec<Rule>>,
}

impl Spec {
    /// Reads a document. An error has the pointer and help.
    pub(crate) fn read(document: &Value) -> Result<Self, SpecError> {
        let root = Node::root(document);
        let version = check(&root)?;
        let families = family::read(&root)?;
        let catalogue = model::read(&root, &families)?;
        let tasks = Tasks::read(&root)?;
        let rules = rule::read(&root, &families, &catalogue.models)?;
        let submit = &tasks.operations.submit;
        let [request, task, error] = document::body_components(&root, &submit.path, &submit.method)?;
        if let Some(task) = &task {
            tasks.check_states(&root, &root.need("components")?.need("schemas")?.need(task)?)?;
        }
        let access = access::read(&root)?;
        Ok(Self { version, families, catalogue, tasks, access, request, task, error, rules })
    }

    /// Lists the ids of each family's models in the schema of its request, which does not: every view has them.
    pub(crate) fn list_models(&self, document: &mut Value) {
        let ModelPlace::Body(place) = &self.tasks.model else { return };
        if self.catalogue.is_open() {
            return;
        }
        for family in &self.families {
            let models = self.catalogue.models.iter().filter(|model| model.family == family.name);
            let ids: Vec<&str> = models.map(|model| model.id.as_str()).collect();
            let schema = format!("/components/schemas/{}/properties{place}", escape(&family.component));
            if let Some(Value::Object(schema)) = document.pointer_mut(&schema) {
                schema.insert("enum".to_owned(), ids.into());
            }
        }
    }
}
