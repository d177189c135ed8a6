//! An interner for field names, lists of field names, and short values that many requests share.

use std::collections::{HashMap, HashSet};
use std::ptr;
use std::sync::Arc;

use contract::Field;
use serde_json::Value;

use crate::plan::{PriceInputs, Said};
use crate::syntax::Entry;
use crate::template;

/// Values whose JSON text is longer are not interned, in bytes: they are seldom equal.
const MAX_SHARED_LEN: usize = 256;
/// What a value takes besides its text, in bytes.
const NODE_BYTES: usize = 64;

/// Interned names and values. Two values share an entry only if their JSON texts are byte-identical.
#[derive(Default)]
pub(super) struct Interner {
    names: HashSet<Arc<str>>,
    lists: HashSet<Arc<[Arc<str>]>>,
    said: HashSet<Arc<[Said]>>,
    prices: HashSet<Arc<PriceInputs>>,
    values: HashMap<String, Arc<Value>>,
    /// Literal values of `defaults`, by the addresses of entry and field.
    defaults: HashMap<(usize, usize), Arc<Value>>,
    /// The size of the values that are not shared, in bytes.
    bytes: usize,
}

impl Interner {
    pub(super) fn name(&mut self, name: &str) -> Arc<str> {
        if let Some(existing) = self.names.get(name) {
            return Arc::clone(existing);
        }
        let name: Arc<str> = name.into();
        self.names.insert(Arc::clone(&name));
        name
    }

    pub(super) fn names(&mut self, names: Vec<Arc<str>>) -> Arc<[Arc<str>]> {
        if let Some(existing) = self.lists.get(names.as_slice()) {
            return Arc::clone(existing);
        }
        let list: Arc<[Arc<str>]> = names.into();
        self.lists.insert(Arc::clone(&list));
        list
    }

    pub(super) fn said(&mut self, said: Vec<Said>) -> Arc<[Said]> {
        if let Some(existing) = self.said.get(said.as_slice()) {
            return Arc::clone(existing);
        }
        let said: Arc<[Said]> = said.into();
        self.said.insert(Arc::clone(&said));
        said
    }

    pub(super) fn price(&mut self, price: PriceInputs) -> Arc<PriceInputs> {
        if let Some(existing) = self.prices.get(&price) {
            return Arc::clone(existing);
        }
        let price = Arc::new(price);
        self.prices.insert(Arc::clone(&price));
        price
    }

    /// A literal value of `defaults`, made once for all shots.
    pub(super) fn default_value(
        &mut self,
        entry: &Entry,
        field: &Field,
        make: impl FnOnce() -> Value,
    ) -> Arc<Value> {
        let key = (ptr::from_ref(entry).addr(), ptr::from_ref(field).addr());
        if let Some(existing) = self.defaults.get(&key) {
            return Arc::clone(existing);
        }
        let value = self.value(make());
        self.defaults.insert(key, Arc::clone(&value));
        value
    }

    /// A value that is not shared.
    pub(super) fn own(&mut self, value: Value) -> Arc<Value> {
        self.bytes += NODE_BYTES + template::size(&value) * 2;
        Arc::new(value)
    }

    /// Counts values that are stored elsewhere, in bytes.
    pub(super) fn count(&mut self, bytes: usize) {
        self.bytes += bytes;
    }

    /// The size of the values that are not shared, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn value(&mut self, value: Value) -> Arc<Value> {
        if template::size(&value) > MAX_SHARED_LEN {
            return self.own(value);
        }
        let text = value.to_string();
        if text.len() > MAX_SHARED_LEN {
            return self.own(value);
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
