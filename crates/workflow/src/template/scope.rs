//! The names that a template can use.

use std::sync::Arc;

use indexmap::IndexMap;
use minijinja::value::{Object, Serde, Value, ValueKind};
use serde_json::Value as Json;

/// Names with their values. Cheap to copy: copies share the names that they have in common.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    names: Arc<Names>,
}

#[derive(Clone, Debug, Default)]
struct Names {
    /// Names that are looked up where this scope has none of its own.
    around: Option<Arc<Names>>,
    own: IndexMap<String, Value>,
    /// The same for the few names of an instance, which need no table.
    few: Vec<(Arc<str>, Value)>,
    /// Names that have no value because something is wrong with them, which is reported where they are set.
    broken: Vec<String>,
}

impl Scope {
    /// A scope with a few more names, which hide those of the same name.
    pub(crate) fn with<'a>(&self, few: impl IntoIterator<Item = (&'a str, Value)>) -> Self {
        let few = few.into_iter().map(|(name, value)| (Arc::from(name), value)).collect();
        let names = Names { around: Some(Arc::clone(&self.names)), few, ..Names::default() };
        Self { names: Arc::new(names) }
    }

    /// Adds a name, or gives it another value.
    pub(crate) fn set(&mut self, name: &str, value: &Json) {
        Arc::make_mut(&mut self.names).own.insert(name.to_owned(), from_json(value));
    }

    /// Adds a name whose value could not be made. What uses it fails without a word.
    pub(crate) fn set_broken(&mut self, name: &str) {
        let names = Arc::make_mut(&mut self.names);
        names.own.insert(name.to_owned(), Value::from(()));
        names.broken.push(name.to_owned());
    }

    pub(super) fn broken(&self) -> impl Iterator<Item = &str> {
        self.layers().flat_map(|names| &names.broken).map(String::as_str)
    }

    /// All names, each once, those of the file first.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let mut layers: Vec<&Names> = self.layers().collect();
        layers.reverse();
        let mut found: Vec<&str> = Vec::new();
        for names in layers {
            for name in names.own.keys().map(String::as_str).chain(names.few.iter().map(|(name, _)| &**name))
            {
                if names.around.is_none() || !found.contains(&name) {
                    found.push(name);
                }
            }
        }
        found.into_iter()
    }

    /// The keys of the map at the end of a dotted path, where there is one.
    pub(super) fn keys_at(&self, path: &str) -> Option<Vec<String>> {
        let mut steps = path.split('.');
        let mut at = self.names.find(steps.next()?)?.clone();
        for step in steps {
            at = at.get_attr(step).ok()?;
        }
        if at.kind() != ValueKind::Map {
            return None;
        }
        Some(at.try_iter().ok()?.take(100).map(|key| key.to_string()).collect())
    }

    pub(super) fn context(&self) -> Value {
        Value::from_dyn_object(Arc::clone(&self.names))
    }

    fn layers(&self) -> impl Iterator<Item = &Names> {
        std::iter::successors(Some(&*self.names), |names| names.around.as_deref())
    }
}

/// A JSON value as templates see it.
pub(crate) fn from_json(value: &Json) -> Value {
    match value {
        Json::Bool(truth) => Value::from(*truth),
        Json::String(text) => Value::from(text.as_str()),
        other => Value::from(Serde(other)),
    }
}

impl Names {
    fn find(&self, name: &str) -> Option<&Value> {
        let few = || self.few.iter().rev().find(|(known, _)| &**known == name).map(|(_, value)| value);
        self.own.get(name).or_else(few).or_else(|| self.around.as_ref()?.find(name))
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
