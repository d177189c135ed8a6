//! The names that a template can use.

use indexmap::IndexMap;
use minijinja::value::{Serde, Value, ValueKind};
use serde_json::Value as Json;

/// Names with their values. Cheap to copy and to extend.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    names: IndexMap<String, Value>,
    /// Names that have no value because something is wrong with them, which is reported where they are set.
    broken: Vec<String>,
}

impl Scope {
    /// Adds a name, or gives it another value.
    pub(crate) fn set(&mut self, name: &str, value: &Json) {
        self.names.insert(name.to_owned(), Value::from(Serde(value)));
    }

    /// Adds a name whose value could not be made. What uses it fails without a word.
    pub(crate) fn set_broken(&mut self, name: &str) {
        self.names.insert(name.to_owned(), Value::from(()));
        self.broken.push(name.to_owned());
    }

    pub(super) fn broken(&self) -> impl Iterator<Item = &str> {
        self.broken.iter().map(String::as_str)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    /// The keys of the map at the end of a dotted path, where there is one.
    pub(super) fn keys_at(&self, path: &str) -> Option<Vec<String>> {
        let mut steps = path.split('.');
        let mut at = self.names.get(steps.next()?)?.clone();
        for step in steps {
            at = at.get_attr(step).ok()?;
        }
        if at.kind() != ValueKind::Map {
            return None;
        }
        Some(at.try_iter().ok()?.take(100).map(|key| key.to_string()).collect())
    }

    pub(super) fn context(&self) -> Value {
        Value::from_pairs(self.names.iter().map(|(name, value)| (name.clone(), value.clone())))
    }
}
