//! Validation of many similar requests: only the fields that changed since a similar valid request are validated.

use std::{ptr, sync::Arc};

use serde_json::{Map, Value};

use super::{Checks, component::ComponentCheck, rules::RuleCheck};
use crate::{Violation, spec::Spec};

/// Sets of fields for which the last valid request is kept.
const MAX_REMEMBERED: usize = 16;

/// Checks many requests one after another, memoizing what is valid.
///
/// Invariant: [`Self::check`] returns what [`crate::Contract::check_request`] returns. A field's value is valid or not whatever the
/// other fields are, and a cross-field rule is decided by which fields there are and by the values of those that it reads; so
/// relative to a valid request with the same fields, only changed fields and the rules that read them have to be evaluated.
/// A component that constrains more than that is validated as a whole.
#[derive(Debug)]
pub struct IncrementalValidator<'c> {
    spec: &'c Spec,
    checks: &'c Checks,
    /// The model of the last request, with the check of its family.
    last_model: Option<(Arc<Value>, &'c ComponentCheck)>,
    /// The last valid request for each set of fields, most recently used first.
    valid: Vec<ValidRequest<'c>>,
}

#[derive(Debug)]
struct ValidRequest<'c> {
    check: &'c ComponentCheck,
    names: Arc<[Arc<str>]>,
    values: Vec<Arc<Value>>,
}

impl<'c> IncrementalValidator<'c> {
    pub(crate) fn new(spec: &'c Spec, checks: &'c Checks) -> Self {
        Self { spec, checks, last_model: None, valid: Vec::new() }
    }

    /// The violations of a request with `values[i]` in the field `names[i]`, each name once; empty if it is valid.
    pub fn check(&mut self, names: &Arc<[Arc<str>]>, values: &[Arc<Value>]) -> Vec<Violation> {
        if self.is_valid(names, values) {
            return Vec::new();
        }
        self.checks.request(self.spec, &object(names, values))
    }

    /// As [`crate::Contract::check_request_warnings`]. Requests without a field that such a rule concerns cost nothing.
    pub fn warnings(&mut self, names: &Arc<[Arc<str>]>, values: &[Arc<Value>]) -> Vec<Violation> {
        let Some(check) = self.component_check(names, values) else { return Vec::new() };
        let concerns = |rule: &RuleCheck| names.iter().any(|name| rule.is_within(name));
        if !check.warnings().iter().any(concerns) {
            return Vec::new();
        }
        self.checks.request_warnings(self.spec, &object(names, values))
    }

    fn is_valid(&mut self, names: &Arc<[Arc<str>]>, values: &[Arc<Value>]) -> bool {
        let Some(check) = self.component_check(names, values) else { return false };
        let same_fields = |request: &ValidRequest<'_>| {
            ptr::eq(request.check, check) && (Arc::ptr_eq(&request.names, names) || request.names == *names)
        };
        let known = self.valid.iter().position(same_fields);
        if let Some(index) = known {
            self.valid[..=index].rotate_right(1);
        }
        let before = known.and_then(|_| self.valid.first()).map(|request| request.values.as_slice());
        if !is_valid(check, names, values, before) {
            return false;
        }
        match self.valid.first_mut() {
            Some(last) if known.is_some() => last.values.clone_from_slice(values),
            _ => {
                self.valid.truncate(MAX_REMEMBERED - 1);
                let request = ValidRequest { check, names: Arc::clone(names), values: values.to_vec() };
                self.valid.insert(0, request);
            }
        }
        true
    }

    /// The check of the model's family; `None` without a known model.
    fn component_check(&mut self, names: &[Arc<str>], values: &[Arc<Value>]) -> Option<&'c ComponentCheck> {
        let (_, id) = names.iter().zip(values).find(|(name, _)| &***name == "model")?;
        if let Some((last, check)) = &self.last_model
            && last == id
        {
            return Some(*check);
        }
        let model = self.spec.models.iter().find(|model| id.as_str() == Some(&model.id))?;
        let check = self.checks.for_family(self.spec, &model.family)?;
        self.last_model = Some((Arc::clone(id), check));
        Some(check)
    }
}

/// Whether a request is valid; `before` is a valid request with the same fields.
fn is_valid(
    check: &ComponentCheck,
    names: &[Arc<str>],
    values: &[Arc<Value>],
    before: Option<&[Arc<Value>]>,
) -> bool {
    if before.is_none() && !check.required().all(|field| names.iter().any(|name| **name == *field)) {
        return false;
    }
    let mut changed: Vec<&str> = Vec::new();
    for (index, (name, value)) in names.iter().zip(values).enumerate() {
        if before.and_then(|before| before.get(index)).is_some_and(|before| value == before) {
            continue;
        }
        changed.push(name);
        match check.field(name, value) {
            Some(true) => {}
            Some(false) => return false,
            None => return check.violations(&object(names, values)).is_empty(),
        }
    }
    let mut affected = check
        .rules()
        .iter()
        .filter(|rule| before.is_none() || changed.iter().any(|field| rule.reads(field)))
        .peekable();
    if affected.peek().is_none() {
        return true;
    }
    let request = object(names, values);
    affected.all(|rule| !rule.is_broken_by(&request))
}

fn object(names: &[Arc<str>], values: &[Arc<Value>]) -> Value {
    let members = names.iter().zip(values).map(|(name, value)| (name.to_string(), Value::clone(value)));
    Value::Object(members.collect::<Map<_, _>>())
}
