//! JSON values with the members that an object has more than once: the last one counts, and the others may name a task all the same.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::repaired_json;

/// A value, and what of it does not count.
#[derive(Debug, Default)]
pub(super) struct Json {
    pub(super) value: Value,
    /// Members that have another value further on in the same object, each as an object.
    pub(super) overridden: Vec<Value>,
}

impl Json {
    /// The first JSON value in a text, ignoring what follows it. A member that is almost JSON hides no task.
    pub(super) fn first_in(text: &str) -> Option<Self> {
        Self::read(text).or_else(|| Self::read(&repaired_json::repair(text)?))
    }

    fn read(text: &str) -> Option<Self> {
        let mut overridden = Vec::new();
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let value = Reader(&mut overridden).deserialize(&mut deserializer).ok()?;
        Some(Self { value, overridden })
    }
}

struct Reader<'o>(&'o mut Vec<Value>);

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Reader(&mut *self.0))? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let value = members.next_value_seed(Reader(&mut *self.0))?;
            match object.get(&name) {
                Some(earlier) if *earlier != value => {
                    self.0.push(Value::Object(Map::from_iter([(name.clone(), earlier.clone())])));
                }
                _ => {}
            }
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_that_are_there_twice_are_listed_at_any_depth() {
        let text = r#"{"id":"a","list":[{"id":1,"id":2,"id":2}],"x":{"y":{"z":null,"z":{"w":1.5}}},"id":"b","t":true,"t":true}"#;
        let Json { value, overridden } = Json::first_in(text).unwrap();
        assert_eq!(value, serde_json::from_str::<Value>(text).unwrap());
        assert_eq!(overridden, [json!({"id": 1}), json!({"z": null}), json!({"id": "a"})]);
    }

    #[test]
    fn value_is_that_of_serde_json() {
        for text in [
            r#"{"a":[1,-2,1.5e300,"\u00e9",true,null],"b":{}}"#,
            "17",
            "-9223372036854775809",
            "18446744073709551616",
            r#"  "text" and more"#,
        ] {
            let expected =
                serde_json::Deserializer::from_str(text).into_iter::<Value>().next().unwrap().unwrap();
            let read = Json::first_in(text).unwrap();
            assert_eq!((read.value, read.overridden), (expected, Vec::new()), "{text}");
        }
        assert!(["", "{", "nul", "{\"a\"}"].iter().all(|text| Json::first_in(text).is_none()));
    }
}
