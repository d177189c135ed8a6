//! An interner for field names, lists of field names, and short values that many requests share.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

/// Values whose JSON text is longer are not interned, in bytes: they are seldom equal.
const MAX_SHARED_LEN: usize = 256;

/// Interned names and values. Two values share an entry only if their JSON texts are byte-identical.
#[derive(Default)]
pub(super) struct Interner {
    words: HashSet<Arc<str>>,
    lists: HashSet<Arc<[Arc<str>]>>,
    values: HashMap<String, Arc<Value>>,
}

impl Interner {
    pub(super) fn word(&mut self, word: &str) -> Arc<str> {
        if let Some(known) = self.words.get(word) {
            return Arc::clone(known);
        }
        let word: Arc<str> = word.into();
        self.words.insert(Arc::clone(&word));
        word
    }

    pub(super) fn list(&mut self, words: Vec<Arc<str>>) -> Arc<[Arc<str>]> {
        if let Some(known) = self.lists.get(words.as_slice()) {
            return Arc::clone(known);
        }
        let list: Arc<[Arc<str>]> = words.into();
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
        let mut common = Interner::default();
        let first = common.value(json!({"a": 1, "b": 2}));
        assert!(Arc::ptr_eq(&first, &common.value(json!({"a": 1, "b": 2}))));
        for other in [json!({"b": 2, "a": 1}), json!({"a": 1.0, "b": 2}), json!("{\"a\":1,\"b\":2}")] {
            assert_eq!(*common.value(other.clone()), other);
        }
        let words = vec![common.word("x"), common.word("x")];
        assert!(Arc::ptr_eq(&words[0], &words[1]));
        assert!(Arc::ptr_eq(&common.list(words.clone()), &common.list(words)));
    }
}
