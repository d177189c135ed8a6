//! Judging requests and answers: each field against its schema, then the objects against the cross-field rules.

mod component;
mod message;
mod rules;
mod unknown_model;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    SpecError, Violation,
    spec::{ERROR, Family, Spec, TASK},
    view,
};
use component::ComponentCheck;

/// More violations than this are not listed: they are the same mistake again.
const MAX_VIOLATIONS: usize = 100;

/// The compiled checks of a contract.
#[derive(Debug)]
pub(crate) struct Checks {
    requests: BTreeMap<Family, ComponentCheck>,
    task: ComponentCheck,
    error: ComponentCheck,
}

impl Checks {
    pub(crate) fn compile(document: &Value, spec: &Spec) -> Result<Self, SpecError> {
        let definitions = view::plain_definitions(document);
        let compile = |component: &str| ComponentCheck::compile(&definitions, component, &spec.rules);
        let mut requests = BTreeMap::new();
        for family in &spec.families {
            requests.insert(family.name.clone(), compile(&family.component)?);
        }
        Ok(Self { requests, task: compile(TASK)?, error: compile(ERROR)? })
    }

    pub(crate) fn request(&self, spec: &Spec, request: &Value) -> Vec<Violation> {
        let id = request.get("model").and_then(Value::as_str);
        let model = id.and_then(|id| spec.models.iter().find(|model| model.id == id));
        match model.and_then(|model| self.requests.get(&model.family)) {
            Some(check) => check.violations(request),
            None => vec![unknown_model::violation(request, &spec.models)],
        }
    }

    pub(crate) fn task(&self, task: &Value) -> Vec<Violation> {
        self.task.violations(task)
    }

    pub(crate) fn error(&self, body: &Value) -> Vec<Violation> {
        self.error.violations(body)
    }
}
