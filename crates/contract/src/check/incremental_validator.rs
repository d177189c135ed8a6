//! Validation of many similar requests: only the fields that changed since a similar valid request are validated.

use std::{ptr, sync::Arc};

use serde_json::{Map, Value};

use super::{Checks, component::ComponentCheck, rules::RuleCheck};
use crate::{Family, Violation, spec::Spec};

/// Sets of fields for which the last valid request is kept.
const MAX_REMEMBERED: usize = 16;

/// Checks many requests one after another, memoizing what is valid.
///
/// Invariant: [`Self::check`] returns what [`crate::Contract::check_request_of`] returns. A field's value is valid or not whatever the
/// other fields are, and a cross-field rule is decided by which fields there are and by the values of those that it reads; so
/// relative to a valid request with the same fields, only changed fields and the rules that read them have to be evaluated.
/// A component that constrains more than that is validated as a whole.
#[derive(Debug)]
pub struct IncrementalValidator<'c> {
    spec: &'c Spec,
    checks: &'c Checks,
    valid: RequestCache<'c>,
    /// Those of which nothing is to be warned.
    quiet: RequestCache<'c>,
}

/// The last request for each set of fields, most recently used first.
#[derive(Debug, Default)]
struct RequestCache<'c>(Vec<RememberedRequest<'c>>);

#[derive(Debug)]
struct RememberedRequest<'c> {
    check: &'c ComponentCheck,
    names: Arc<[Arc<str>]>,
    values: Vec<Arc<Value>>,
}

impl<'c> RequestCache<'c> {
    /// The values of the last request with the same fields.
    fn last(&mut self, check: &ComponentCheck, names: &Arc<[Arc<str>]>) -> Option<&mut Vec<Arc<Value>>> {
        let same_fields = |request: &RememberedRequest<'_>| {
            ptr::eq(request.check, check) && (Arc::ptr_eq(&request.names, names) || request.names == *names)
        };
        let index = self.0.iter().position(same_fields)?;
        self.0[..=index].rotate_right(1);
        self.0.first_mut().map(|request| &mut request.values)
    }

    fn remember(&mut self, check: &'c ComponentCheck, names: &Arc<[Arc<str>]>, values: &[Arc<Value>]) {
        if let Some(last) = self.last(check, names) {
            last.clone_from_slice(values);
            return;
        }
        self.0.truncate(MAX_REMEMBERED - 1);
        self.0.insert(0, RememberedRequest { check, names: Arc::clone(names), values: values.to_vec() });
    }
}

impl<'c> IncrementalValidator<'c> {
    pub(crate) fn new(spec: &'c Spec, checks: &'c Checks) -> Self {
        let (valid, quiet) = Default::default();
        Self { spec, checks, valid, quiet }
    }

    /// The violations of a family's request with `values[i]` in the field `names[i]`, each name once; empty if it is valid.
    pub fn check(
        &mut self,
        family: &Family,
        names: &Arc<[Arc<str>]>,
        values: &[Arc<Value>],
    ) -> Vec<Violation> {
        if self.is_valid(family, names, values) {
            return Vec::new();
        }
        self.checks.request_of(self.spec, family, &object(names, values))
    }

    /// As [`crate::Contract::check_request_warnings`] of a family. Nothing is evaluated for requests without a field that such a rule concerns, and for those
    /// that differ from one without warnings only in fields that no such rule reads.
    pub fn warnings(
        &mut self,
        family: &Family,
        names: &Arc<[Arc<str>]>,
        values: &[Arc<Value>],
    ) -> Vec<Violation> {
        let Some(check) = self.checks.for_family(self.spec, family) else { return Vec::new() };
        let concerns = |rule: &RuleCheck| names.iter().any(|name| rule.is_within(name));
        if !check.warnings().iter().any(concerns) {
            return Vec::new();
        }
        let is_read = |field: &str| check.warnings().iter().any(|rule| rule.reads(field));
        if self.quiet.last(check, names).is_some_and(|before| !changed(names, values, before).any(is_read)) {
            return Vec::new();
        }
        let violations = self.checks.request_warnings(self.spec, family, &object(names, values));
        if violations.is_empty() {
            self.quiet.remember(check, names, values);
        }
        violations
    }

    fn is_valid(&mut self, family: &Family, names: &Arc<[Arc<str>]>, values: &[Arc<Value>]) -> bool {
        let Some(check) = self.checks.for_family(self.spec, family) else { return false };
        let before = self.valid.last(check, names).map(|values| values.as_slice());
        let is_valid = is_valid(check, names, values, before);
        if is_valid {
            self.valid.remember(check, names, values);
        }
        is_valid
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

/// The fields whose values differ from those of a request with the same fields.
fn changed<'n>(
    names: &'n [Arc<str>],
    values: &[Arc<Value>],
    before: &[Arc<Value>],
) -> impl Iterator<Item = &'n str> {
    let pairs = values.iter().zip(before).map(|(value, before)| value != before);
    names.iter().zip(pairs).filter(|(_, differs)| *differs).map(|(name, _)| &**name)
}

fn object(names: &[Arc<str>], values: &[Arc<Value>]) -> Value {
    let members = names.iter().zip(values).map(|(name, value)| (name.to_string(), Value::clone(value)));
    Value::Object(members.collect::<Map<_, _>>())
}
