//! What many requests have in common, held once: field names, lists of them, and short values.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

/// Longer values are seldom the same twice.
const LONGEST: usize = 256;

/// Names and values that were met already. Only what is the same to the byte is shared.
#[derive(Default)]
pub(super) struct Interned {
    words: HashSet<Arc<str>>,
    lists: HashSet<Arc<[Arc<str>]>>,
    values: HashMap<String, Arc<Value>>,
}

impl Interned {
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
        if text.len() > LONGEST {
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
    fn only_what_is_the_same_to_the_byte_is_shared() {
        let mut common = Interned::default();
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
