//! Validation of requests and responses: each field against its schema, then objects against the cross-field rules.

mod component;
mod field_shape;
mod incremental_validator;
mod lazy_validator;
mod message;
mod nearest;
mod nearest_model;
mod rules;
mod unknown_model;

use std::{collections::BTreeMap, sync::OnceLock};

use serde_json::{Map, Value};

use crate::{
    SpecError, Violation,
    spec::{Family, Spec},
    view,
};
use component::ComponentCheck;
pub use field_shape::{FieldShape, UnknownMember};
pub use incremental_validator::IncrementalValidator;
pub use nearest::{listed_synonym, nearest_name, nearest_spelling};
pub use nearest_model::nearest_model;

/// Violations reported at most: more are repetitions of one mistake.
const MAX_VIOLATIONS: usize = 100;

/// The compiled checks of a contract, each built on first use.
#[derive(Debug)]
pub(crate) struct Checks {
    definitions: Map<String, Value>,
    requests: BTreeMap<Family, LazyCheck>,
    /// By family, the fields that have integers or objects in them.
    shapes: BTreeMap<Family, BTreeMap<String, FieldShape>>,
    task: Option<LazyCheck>,
    error: Option<LazyCheck>,
}

/// The check of one component, built on first use.
#[derive(Debug)]
struct LazyCheck {
    component: String,
    check: OnceLock<ComponentCheck>,
}

impl Checks {
    pub(crate) fn new(document: &Value, spec: &Spec) -> Self {
        let lazy = |component: &str| LazyCheck { component: component.to_owned(), check: OnceLock::new() };
        let requests =
            spec.families.iter().map(|family| (family.name.clone(), lazy(&family.component))).collect();
        let definitions = view::plain_definitions(document, spec);
        let shapes = spec.families.iter().map(|family| {
            let fields = definitions.get(&family.component).and_then(|schema| schema.get("properties"));
            let shapes = fields
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
                .map(|(name, schema)| (name.clone(), FieldShape::new(schema, &definitions)));
            (family.name.clone(), shapes.filter(|(_, shape)| !shape.is_empty()).collect())
        });
        let [task, error] = [&spec.task, &spec.error].map(|component| component.as_deref().map(lazy));
        Self { shapes: shapes.collect(), definitions, requests, task, error }
    }

    /// Compiles all of them, to report what cannot be compiled.
    pub(crate) fn compile_all(&self, spec: &Spec) -> Result<(), SpecError> {
        let mut all = self.requests.values().chain(&self.task).chain(&self.error);
        all.try_for_each(|lazy| self.get(lazy, spec).force())
    }

    fn get<'c>(&self, lazy: &'c LazyCheck, spec: &Spec) -> &'c ComponentCheck {
        lazy.check.get_or_init(|| ComponentCheck::new(&self.definitions, &lazy.component, &spec.rules))
    }

    /// The violations of a request that has its model's id in it.
    pub(crate) fn request(&self, spec: &Spec, request: &Value) -> Vec<Violation> {
        let id = request.get("model").and_then(Value::as_str);
        match id.and_then(|id| spec.catalogue.model(id)) {
            Some(model) => self.request_of(spec, &model.family, request),
            None => vec![unknown_model::violation(request, &spec.catalogue.models)],
        }
    }

    pub(crate) fn request_of(&self, spec: &Spec, family: &Family, request: &Value) -> Vec<Violation> {
        self.for_family(spec, family).map(|check| check.violations(request)).unwrap_or_default()
    }

    pub(crate) fn request_warnings(&self, spec: &Spec, family: &Family, request: &Value) -> Vec<Violation> {
        let rules = self.for_family(spec, family).into_iter().flat_map(ComponentCheck::warnings);
        rules.flat_map(|rule| rule.violations(request)).take(MAX_VIOLATIONS).collect()
    }

    pub(crate) fn for_family(&self, spec: &Spec, family: &Family) -> Option<&ComponentCheck> {
        self.requests.get(family).map(|lazy| self.get(lazy, spec))
    }

    pub(crate) fn shape(&self, family: &Family, field: &str) -> Option<&FieldShape> {
        self.shapes.get(family)?.get(field)
    }

    pub(crate) fn task(&self, spec: &Spec, task: &Value) -> Vec<Violation> {
        self.task.as_ref().map(|check| self.get(check, spec).violations(task)).unwrap_or_default()
    }

    pub(crate) fn error(&self, spec: &Spec, body: &Value) -> Vec<Violation> {
        self.error.as_ref().map(|check| self.get(check, spec).violations(body)).unwrap_or_default()
    }
}
