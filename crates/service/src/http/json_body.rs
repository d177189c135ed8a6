//! Parses a JSON request body, bounded in depth and in the number of values.
//!
//! A parsed value takes up to a hundred times the bytes of its text, so the bounds hold while parsing. RFC 8259 section
//! 4 leaves open what a repeated name means; here it is an error, because one of the two would be ignored.

use std::{cell::Cell, fmt};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::api_error::ApiError;

/// Objects and arrays inside of each other.
const MAX_DEPTH: usize = 32;

/// Values of a body, counting objects, arrays, members and items.
const MAX_VALUES: usize = 10_000;

/// Parses a body; it must be an object.
pub(super) fn parse(bytes: &[u8]) -> Result<Value, ApiError> {
    let value = parse_value(bytes)?;
    if value.is_object() {
        Ok(value)
    } else {
        Err(ApiError::invalid("invalid_json", "the body must be a JSON object"))
    }
}

/// Parses a body, or the part of a form, that is any value.
pub(super) fn parse_value(bytes: &[u8]) -> Result<Value, ApiError> {
    let bounds = Bounds { values_left: Cell::new(MAX_VALUES), violation: Cell::new(None) };
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let parsed = ValueSeed { bounds: &bounds, depth_left: MAX_DEPTH }
        .deserialize(&mut deserializer)
        .and_then(|value| deserializer.end().map(|()| value));
    match parsed {
        Ok(value) => Ok(value),
        Err(error) => Err(match bounds.violation.take() {
            Some(Violation::Repeated(name)) => {
                let message = format!(
                    "`{name}` is given twice (line {}, column {}); which one counts would be ambiguous",
                    error.line(),
                    error.column()
                );
                ApiError::invalid("duplicate_field", message).with_param(name)
            }
            Some(Violation::Deep) => {
                too_complex(format!("the body is nested deeper than {MAX_DEPTH} levels"))
            }
            Some(Violation::Many) => too_complex(format!("the body has more than {MAX_VALUES} values")),
            None => ApiError::invalid("invalid_json", format!("the body is not JSON: {error}")),
        }),
    }
}

fn too_complex(message: String) -> ApiError {
    ApiError::invalid("body_too_complex", message)
}

/// What is left of the bounds.
struct Bounds {
    values_left: Cell<usize>,
    violation: Cell<Option<Violation>>,
}

enum Violation {
    Repeated(String),
    Deep,
    Many,
}

impl Bounds {
    fn fail<E: serde::de::Error>(&self, violation: Violation) -> E {
        self.violation.set(Some(violation));
        E::custom("out of bounds")
    }

    fn count<E: serde::de::Error>(&self) -> Result<(), E> {
        let left = self.values_left.get().checked_sub(1).ok_or_else(|| self.fail(Violation::Many))?;
        self.values_left.set(left);
        Ok(())
    }
}

#[derive(Clone, Copy)]
struct ValueSeed<'a> {
    bounds: &'a Bounds,
    depth_left: usize,
}

impl ValueSeed<'_> {
    fn inner<E: serde::de::Error>(self) -> Result<Self, E> {
        match self.depth_left.checked_sub(1) {
            Some(depth_left) => Ok(Self { depth_left, ..self }),
            None => Err(self.bounds.fail(Violation::Deep)),
        }
    }
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.bounds.count()?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
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

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number is not finite"))
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
        let inner = self.inner()?;
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(inner)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let inner = self.inner()?;
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if object.contains_key(&name) {
                return Err(self.bounds.fail(Violation::Repeated(name)));
            }
            let value = members.next_value_seed(inner)?;
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn code(text: &str) -> String {
        parse(text.as_bytes()).map_or_else(|error| error.code.into_owned(), |value| value.to_string())
    }

    #[test]
    fn parse_equals_serde_json() {
        let value = json!({
            "text": "a \"quoted\" \u{1f3ac} line\n", "numbers": [0, -1, 1.5, 1e300, u64::MAX, i64::MIN],
            "nested": {"none": null, "yes": true, "empty": {}, "list": []},
        });
        assert_eq!(parse(value.to_string().as_bytes()).unwrap(), value);
        for text in ["", "{", "[1,]", "{\"a\":1} x", "{\"a\":01}", "\"text\"", "3", "[]"] {
            assert_eq!(code(text), "invalid_json", "{text}");
        }
    }

    #[test]
    fn repeated_names_are_refused_at_any_depth() {
        assert_eq!(code(r#"{"seconds":"99","seconds":"4"}"#), "duplicate_field");
        assert_eq!(code(r#"{"a":[{"b":{"c":1,"\u0063":2}}]}"#), "duplicate_field");
        assert_eq!(code(r#"{"a":{"b":1},"c":{"b":1}}"#), r#"{"a":{"b":1},"c":{"b":1}}"#);
        let error = parse(b"{\"prompt\":\"a\",\n \"prompt\":\"b\"}").unwrap_err();
        assert_eq!(error.param.as_deref(), Some("prompt"));
        assert_eq!(
            error.message,
            "`prompt` is given twice (line 2, column 9); which one counts would be ambiguous"
        );
    }

    #[test]
    fn depth_and_number_of_values_are_bounded() {
        let nested = |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        assert!(code(&nested(MAX_DEPTH - 1)).starts_with('{'));
        assert_eq!(code(&nested(MAX_DEPTH)), "body_too_complex");
        assert_eq!(code(&nested(200_000)), "body_too_complex");
        // The object and the array are values, too.
        let list = |items: usize| format!("{{\"a\":[{}0]}}", "0,".repeat(items - 1));
        assert!(code(&list(MAX_VALUES - 2)).starts_with('{'));
        assert_eq!(code(&list(MAX_VALUES - 1)), "body_too_complex");
    }
}
