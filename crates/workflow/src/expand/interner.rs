//! An interner for field names, lists of field names, and short values that many requests share.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

/// Values whose JSON text is longer are not interned, in bytes: they are seldom equal.
const MAX_SHARED_LEN: usize = 256;

/// Interned names and values. Two values share an entry only if their JSON texts are byte-identical.
#[derive(Default)]
pub(super) struct Interner {
    names: HashSet<Arc<str>>,
    lists: HashSet<Arc<[Arc<str>]>>,
    values: HashMap<String, Arc<Value>>,
}

impl Interner {
    pub(super) fn name(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.names.get(name) {
            return Arc::clone(known);
        }
        let name: Arc<str> = name.into();
        self.names.insert(Arc::clone(&name));
        name
    }

    pub(super) fn names(&mut self, names: Vec<Arc<str>>) -> Arc<[Arc<str>]> {
        if let Some(known) = self.lists.get(names.as_slice()) {
            return Arc::clone(known);
        }
        let list: Arc<[Arc<str>]> = names.into();
        self.lists.insert(Arc::clone(&list));
        list
    }

    pub(super) fn value(&mut self, value: Value) -> Arc<Value> {
        let text = value.to_string();
        if text.len() > MAX_SHARED_LEN {
            return Arc::new(value);
        }
        Arc::clone(self.values.entry(text).or_insert_with(|| Arc::new(value)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn interner_shares_byte_identical_values_only() {
        let mut interner = Interner::default();
        let first = interner.value(json!({"a": 1, "b": 2}));
        assert!(Arc::ptr_eq(&first, &interner.value(json!({"a": 1, "b": 2}))));
        for other in [json!({"b": 2, "a": 1}), json!({"a": 1.0, "b": 2}), json!("{\"a\":1,\"b\":2}")] {
            assert_eq!(*interner.value(other.clone()), other);
        }
        let names = vec![interner.name("x"), interner.name("x")];
        assert!(Arc::ptr_eq(&names[0], &names[1]));
        assert!(Arc::ptr_eq(&interner.names(names.clone()), &interner.names(names)));
    }
}
