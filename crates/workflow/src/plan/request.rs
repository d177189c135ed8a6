//! The request of a node. Field names and equal values are shared between the requests of a plan.

use std::ops::Index;
use std::sync::Arc;

use contract::{Inputs, Pointer, Word};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// The fields of a request (spec 2.2, 2.4), in the contract's order, each name once.
///
/// It reads like a map of JSON values.
#[derive(Clone, Debug)]
pub struct Request {
    names: Arc<[Arc<str>]>,
    /// Invariant: one per name.
    values: Box<[Arc<Value>]>,
}

impl Request {
    /// A request with `values[i]` under `names[i]`; surplus names or values are dropped.
    pub(crate) fn new(names: Arc<[Arc<str>]>, values: Vec<Arc<Value>>) -> Self {
        if names.len() == values.len() {
            return Self { names, values: values.into_boxed_slice() };
        }
        let both = names.len().min(values.len());
        Self { names: names[..both].into(), values: values.into_iter().take(both).collect() }
    }

    /// The value of a field.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// Whether there is such a field.
    pub fn contains_key(&self, name: &str) -> bool {
        self.names.iter().any(|key| &**key == name)
    }

    /// The fields with their values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.names.iter().map(|name| &**name).zip(self.values.iter().map(|value| &**value))
    }

    /// How many fields there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is no field.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// What it says of a word: the value that is not `null` at the first of its places.
    pub fn word(&self, inputs: &Inputs, word: Word) -> Option<&Value> {
        let mut places = inputs.get(word)?.places().map(Pointer::as_str);
        places.find_map(|at| self.pointer(at).filter(|value| !value.is_null()))
    }

    /// The value at a JSON pointer (RFC 6901) below the top.
    pub fn pointer(&self, pointer: &str) -> Option<&Value> {
        let path = pointer.strip_prefix('/')?;
        let (name, rest) = path.split_at(path.find('/').unwrap_or(path.len()));
        if name.contains('~') {
            return self.get(&name.replace("~1", "/").replace("~0", "~"))?.pointer(rest);
        }
        self.get(name)?.pointer(rest)
    }

    /// The request as a JSON object of its own.
    pub fn to_map(&self) -> Map<String, Value> {
        self.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect()
    }
}

impl From<Map<String, Value>> for Request {
    fn from(map: Map<String, Value>) -> Self {
        let (names, values): (Vec<Arc<str>>, Vec<Arc<Value>>) =
            map.into_iter().map(|(name, value)| (Arc::from(name), Arc::new(value))).unzip();
        Self::new(names.into(), values)
    }
}

/// The value of a field that must exist.
///
/// # Panics
/// There is no such field.
impl Index<&str> for Request {
    type Output = Value;

    fn index(&self, name: &str) -> &Value {
        match self.get(name) {
            Some(value) => value,
            None => panic!("the request has no field `{name}`"),
        }
    }
}

impl PartialEq for Request {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(name, value)| other.get(name) == Some(value))
    }
}

impl Serialize for Request {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Request {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Map::deserialize(deserializer).map(Self::from)
    }
}

/// Whether the JSON texts of two values are equal: equal values, members in the same order, zeros of the same sign.
pub(crate) fn json_text_eq(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(a), Value::Number(b)) => {
            a == b && (!a.is_f64() || a.as_f64().map(f64::to_bits) == b.as_f64().map(f64::to_bits))
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| json_text_eq(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .zip(b)
                    .all(|((name, a), (other_name, b))| name == other_name && json_text_eq(a, b))
        }
        (left, right) => left == right,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn request_from_map_reads_like_the_map() {
        let value =
            json!({"prompt": "x", "metadata": {"content": [{"image_url": {"url": null}}]}, "a/b": [1]});
        let map = value.as_object().cloned().unwrap_or_default();
        let request = Request::from(map.clone());
        assert_eq!((request.len(), request.is_empty(), request.to_map()), (3, false, map));
        for pointer in
            ["/prompt", "/metadata/content/0/image_url/url", "/a~1b/0", "/nobody", "/prompt/x", "prompt"]
        {
            assert_eq!(request.pointer(pointer), value.pointer(pointer), "{pointer}");
        }
        assert_eq!((request.get("prompt"), request.contains_key("nobody")), (Some(&json!("x")), false));
        let stored = serde_json::to_value(&request).unwrap_or_default();
        assert_eq!(stored, value);
        assert_eq!(serde_json::from_value::<Request>(stored).ok(), Some(request));
    }

    #[test]
    fn json_text_eq_agrees_with_serialized_text() {
        let values = [
            json!(0.0),
            json!(-0.0),
            json!(0),
            json!(1),
            json!(1.0),
            json!("1"),
            json!(null),
            json!([0.0]),
            json!([-0.0]),
            json!({"a": 1, "b": 2}),
            json!({"b": 2, "a": 1}),
            json!({"a": 1}),
            json!([]),
            json!({}),
        ];
        for left in &values {
            for right in &values {
                let (text, other_text) = (left.to_string(), right.to_string());
                assert_eq!(json_text_eq(left, right), text == other_text, "{text} {other_text}");
            }
        }
    }
}
