//! The variables of a template.

use std::collections::HashSet;
use std::sync::Arc;

use indexmap::IndexMap;
use minijinja::value::{Enumerator, Object, ObjectRepr, Serde, Value, ValueKind};
use serde_json::Value as Json;

use super::steps::{self, size};
use crate::yaml::keeps_text;

/// Variables with their values. Cheap to clone: a scope refers to its parent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    names: Arc<Names>,
}

#[derive(Clone, Debug, Default)]
struct Names {
    parent: Option<Arc<Names>>,
    own: IndexMap<String, Value>,
    /// The few variables of an instance, searched linearly.
    locals: Vec<(Arc<str>, Value)>,
    /// Variables without a value because of an error that was reported where they are defined.
    broken: HashSet<String>,
}

impl Scope {
    /// A child scope with a few more variables, which shadow those of the same name.
    pub(crate) fn with<'a>(&self, locals: impl IntoIterator<Item = (&'a str, Value)>) -> Self {
        let locals = locals.into_iter().map(|(name, value)| (Arc::from(name), value)).collect();
        let names = Names { parent: Some(Arc::clone(&self.names)), locals, ..Names::default() };
        Self { names: Arc::new(names) }
    }

    pub(crate) fn set(&mut self, name: &str, value: &Json) {
        Arc::make_mut(&mut self.names).own.insert(name.to_owned(), from_json(value));
    }

    /// Adds a variable without a value. A template that uses it fails without another diagnostic.
    pub(crate) fn set_broken(&mut self, name: &str) {
        let names = Arc::make_mut(&mut self.names);
        names.own.insert(name.to_owned(), Value::from(()));
        names.broken.insert(name.to_owned());
    }

    pub(super) fn has_broken(&self) -> bool {
        self.layers().any(|names| !names.broken.is_empty())
    }

    pub(super) fn is_broken(&self, name: &str) -> bool {
        self.layers().any(|names| names.broken.contains(name))
    }

    /// All variables, each once, those of the outermost scope first.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let mut layers: Vec<&Names> = self.layers().collect();
        layers.reverse();
        let mut unique: Vec<&str> = Vec::new();
        for names in layers {
            for name in
                names.own.keys().map(String::as_str).chain(names.locals.iter().map(|(name, _)| &**name))
            {
                if names.parent.is_none() || !unique.contains(&name) {
                    unique.push(name);
                }
            }
        }
        unique.into_iter()
    }

    /// The keys of the map at a dotted path, if there is one.
    pub(super) fn keys_at(&self, path: &str) -> Option<Vec<String>> {
        let mut steps = path.split('.');
        let mut index = self.names.find(steps.next()?)?.clone();
        for step in steps {
            index = index.get_attr(step).ok()?;
        }
        if index.kind() != ValueKind::Map {
            return None;
        }
        Some(index.try_iter().ok()?.take(100).map(|key| key.to_string()).collect())
    }

    /// The first variable, by their order, with a member of this name.
    pub(super) fn holder_of(&self, member: &str) -> Option<&str> {
        self.names().find(|name| {
            let value = self.names.find(name).filter(|value| value.kind() == ValueKind::Map);
            value.and_then(|value| value.get_attr(member).ok()).is_some_and(|value| !value.is_undefined())
        })
    }

    pub(super) fn context(&self) -> Value {
        Value::from_dyn_object(Arc::clone(&self.names))
    }

    fn layers(&self) -> impl Iterator<Item = &Names> {
        std::iter::successors(Some(&*self.names), |names| names.parent.as_deref())
    }
}

/// A JSON value as templates see it. Text such as `24.90` is a number that keeps its text.
pub(crate) fn from_json(value: &Json) -> Value {
    match value {
        Json::Bool(truth) => Value::from(*truth),
        Json::String(text) if keeps_text(text) => Value::from_safe_string(text.clone()),
        Json::String(text) => Value::from(text.as_str()),
        other => Value::from(Serde(other)),
    }
}

/// The value of an axis as templates see it. Rows of tables are not copied: members are looked up in the shared value.
pub(crate) fn axis_value(value: &Arc<Json>) -> Value {
    match &**value {
        Json::Object(_) | Json::Array(_) => Value::from_object(Shared(Arc::clone(value))),
        scalar => from_json(scalar),
    }
}

/// A list or mapping that cells share.
#[derive(Debug)]
struct Shared(Arc<Json>);

impl Object for Shared {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        if self.0.is_array() { ObjectRepr::Seq } else { ObjectRepr::Map }
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let value = match &*self.0 {
            Json::Array(items) => items.get(key.as_usize()?),
            Json::Object(members) => members.get(key.as_str()?),
            _ => None,
        }?;
        // It is copied.
        steps::add(size(value) as u64 / 16).then(|| from_json(value))
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        match &*self.0 {
            Json::Array(items) => Enumerator::Seq(items.len()),
            Json::Object(members) => {
                Enumerator::Values(members.keys().map(|name| Value::from(name.as_str())).collect())
            }
            _ => Enumerator::Empty,
        }
    }
}

impl Names {
    fn find(&self, name: &str) -> Option<&Value> {
        let locals = || self.locals.iter().rev().find(|(key, _)| &**key == name).map(|(_, value)| value);
        self.own.get(name).or_else(locals).or_else(|| self.parent.as_ref()?.find(name))
    }
}

impl Object for Names {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.find(key.as_str()?).cloned()
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        self.find(key).cloned()
    }
}
