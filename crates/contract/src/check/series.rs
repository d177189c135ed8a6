//! Many like requests, one after another: what did not change since the one before is not looked at again.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::component::ComponentCheck;
use crate::spec::{Family, Spec};

/// Accepts requests of one family that come one after another, looking only at what is new in each.
///
/// Invariant: what [`Series::accepts`] accepts, [`crate::Contract::check_request`] finds nothing wrong with. A field's value
/// is acceptable or not whatever the other fields are, and a cross-field rule is decided by which fields there are and by the
/// values of those that it reads; where the document says more than that, the whole request is looked at.
#[derive(Debug)]
pub struct Series<'c> {
    spec: &'c Spec,
    family: Family,
    check: Option<&'c ComponentCheck>,
    /// Requests that were accepted: for each set of fields the last one, the latest first.
    accepted: Vec<Accepted>,
}

#[derive(Debug)]
struct Accepted {
    names: Vec<Arc<str>>,
    values: Vec<Arc<Value>>,
}

/// How many sets of fields are remembered.
const REMEMBERED: usize = 16;

impl<'c> Series<'c> {
    pub(crate) fn new(spec: &'c Spec, family: &Family, check: Option<&'c ComponentCheck>) -> Self {
        Self { spec, family: family.clone(), check, accepted: Vec::new() }
    }

    /// Whether a request, given as its fields with `values[i]` under `names[i]`, each name once, is acceptable.
    ///
    /// Where it is not, [`crate::Contract::check_request`] says why.
    pub fn accepts(&mut self, names: &[Arc<str>], values: &[Arc<Value>]) -> bool {
        let known = self.accepted.iter().position(|request| request.names == names);
        if let Some(at) = known {
            self.accepted[..=at].rotate_right(1);
        }
        let before = known.and_then(|_| self.accepted.first()).map(|request| request.values.as_slice());
        if !self.judge(names, values, before) {
            return false;
        }
        match self.accepted.first_mut() {
            Some(last) if known.is_some() => last.values.clone_from_slice(values),
            _ => {
                self.accepted.truncate(REMEMBERED - 1);
                self.accepted.insert(0, Accepted { names: names.to_vec(), values: values.to_vec() });
            }
        }
        true
    }

    /// Looks at a request; `before` is one with the same fields that was accepted.
    fn judge(&self, names: &[Arc<str>], values: &[Arc<Value>], before: Option<&[Arc<Value>]>) -> bool {
        let Some(check) = self.check.filter(|_| names.len() == values.len()) else { return false };
        let mut changed: Vec<&str> = Vec::new();
        for (at, (name, value)) in names.iter().zip(values).enumerate() {
            if before.and_then(|before| before.get(at)).is_some_and(|before| is_same(value, before)) {
                continue;
            }
            changed.push(name);
            if &**name == "model" && !self.is_of_the_family(value) {
                return false;
            }
            match check.field(name, value) {
                Some(true) => {}
                Some(false) => return false,
                None => return self.whole(check, &object(names, values)),
            }
        }
        if before.is_none() {
            let has = |wanted: &str| names.iter().any(|name| &**name == wanted);
            // Without a model the family is not known.
            if !has("model") || !check.required().all(has) {
                return false;
            }
        }
        let mut concerned = check
            .rules()
            .iter()
            .filter(|rule| before.is_none() || changed.iter().any(|field| rule.reads(field)))
            .peekable();
        if concerned.peek().is_none() {
            return true;
        }
        let whole = object(names, values);
        concerned.all(|rule| !rule.is_broken_by(&whole))
    }

    fn is_of_the_family(&self, model: &Value) -> bool {
        let found = self.spec.models.iter().find(|known| model.as_str() == Some(&known.id));
        found.is_some_and(|model| model.family == self.family)
    }

    fn whole(&self, check: &ComponentCheck, request: &Value) -> bool {
        request.get("model").is_some_and(|model| self.is_of_the_family(model))
            && check.violations(request).is_empty()
    }
}

fn is_same(one: &Arc<Value>, other: &Arc<Value>) -> bool {
    Arc::ptr_eq(one, other) || one == other
}

fn object(names: &[Arc<str>], values: &[Arc<Value>]) -> Value {
    let members = names.iter().zip(values).map(|(name, value)| (name.to_string(), Value::clone(value)));
    Value::Object(members.collect::<Map<_, _>>())
}
