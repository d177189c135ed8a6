//! What the client's generated types demand of a field beyond its JSON Schema: integers without a fraction, and no member that an
//! object does not define.
//!
//! To JSON Schema `7.0` is an integer, and an object takes further members unless it says otherwise. The generated types take
//! neither: a request with one of them could not be sent.

use std::collections::BTreeMap;

use serde_json::{Map, Number, Value};

use crate::spec::escape;

/// Levels of nested components that are followed: a component may contain itself.
const MAX_DEPTH: usize = 16;

/// The integers and the objects within a field.
#[derive(Debug, Default, PartialEq)]
pub struct FieldShape {
    is_integer: bool,
    /// The members of an object that lists them.
    members: Option<Members>,
    /// The items of a list.
    items: Option<Box<FieldShape>>,
}

#[derive(Debug, PartialEq)]
struct Members {
    by_name: BTreeMap<String, FieldShape>,
    /// Whether the document accepts further members.
    open: bool,
}

impl FieldShape {
    pub(crate) fn new(schema: &Value, definitions: &Map<String, Value>) -> Self {
        let mut shape = Self::default();
        shape.read(schema, definitions, 0);
        shape
    }

    fn read(&mut self, schema: &Value, definitions: &Map<String, Value>, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        let read_nested = |schema: &Value| {
            let mut shape = Self::default();
            shape.read(schema, definitions, depth + 1);
            shape
        };
        if let Some(target) = schema
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|text| definitions.get(text.strip_prefix("#/$defs/")?))
        {
            self.read(target, definitions, depth + 1);
        }
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.read(part, definitions, depth + 1);
        }
        self.is_integer |= match schema.get("type") {
            Some(Value::String(kind)) => kind == "integer",
            Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "integer"),
            _ => false,
        };
        if let Some(items) = schema.get("items") {
            self.items = Some(Box::new(read_nested(items)));
        }
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            let open = schema
                .get("additionalProperties")
                .is_some_and(|additional| additional != &Value::Bool(false));
            let members =
                self.members.get_or_insert_with(|| Members { by_name: BTreeMap::new(), open: false });
            members.open |= open;
            members
                .by_name
                .extend(properties.iter().map(|(name, schema)| (name.clone(), read_nested(schema))));
        }
    }

    /// Whether there is anything to normalize or to look for.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Writes every number that the document calls an integer as one: `7.0` becomes `7`. Other values stay as they are.
    pub fn normalize(&self, value: &mut Value) {
        match value {
            Value::Number(number) if self.is_integer => {
                if let Some(integer) = as_integer(number) {
                    *number = integer;
                }
            }
            Value::Array(list) => {
                if let Some(items) = &self.items {
                    for item in list {
                        items.normalize(item);
                    }
                }
            }
            Value::Object(object) => {
                for (name, value) in object {
                    if let Some(shape) = self.members.as_ref().and_then(|members| members.by_name.get(name)) {
                        shape.normalize(value);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// The members that the document does not define, in objects that accept no others. `max` of them at most.
    pub fn unknown_members(&self, value: &Value, max: usize) -> Vec<UnknownMember<'_>> {
        let mut unknown = Vec::new();
        self.find_unknown(value, "", (false, max), &mut unknown);
        unknown
    }

    /// The members that the document does not define, in objects that accept further ones. `max` of them at most.
    pub fn further_members(&self, value: &Value, max: usize) -> Vec<UnknownMember<'_>> {
        let mut unknown = Vec::new();
        self.find_unknown(value, "", (true, max), &mut unknown);
        unknown
    }

    fn find_unknown<'s>(
        &'s self,
        value: &Value,
        pointer: &str,
        (in_open, max): (bool, usize),
        unknown: &mut Vec<UnknownMember<'s>>,
    ) {
        match value {
            Value::Array(list) => {
                let Some(items) = &self.items else { return };
                for (index, item) in list.iter().enumerate().filter(|(_, item)| !item.is_number()) {
                    if unknown.len() >= max {
                        return;
                    }
                    items.find_unknown(item, &format!("{pointer}/{index}"), (in_open, max), unknown);
                }
            }
            Value::Object(object) => {
                let Some(members) = &self.members else { return };
                for (name, value) in object {
                    if unknown.len() >= max {
                        return;
                    }
                    let pointer = || format!("{pointer}/{}", escape(name));
                    match members.by_name.get(name) {
                        Some(shape) => shape.find_unknown(value, &pointer(), (in_open, max), unknown),
                        None if members.open != in_open => {}
                        None => unknown.push(UnknownMember {
                            pointer: pointer(),
                            name: name.clone(),
                            expected: members.by_name.keys().map(String::as_str).collect(),
                        }),
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

/// A member that the document does not define.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownMember<'s> {
    /// JSON pointer from the value that was looked at.
    pub pointer: String,
    pub name: String,
    /// The members that the object has, sorted.
    pub expected: Vec<&'s str>,
}

/// A float that is a whole number of 64 bits, as an integer.
fn as_integer(number: &Number) -> Option<Number> {
    let float = number.as_f64().filter(|_| number.is_f64())?;
    // -2^63 is the least number of 64 bits, and 2^63 is one more than the greatest. The least itself is no float: what was rounded to
    // it is below it, and stays so.
    if float.total_cmp(&-9_223_372_036_854_775_808.0).is_eq() {
        return Number::from_f64(float.next_down());
    }
    (float.fract() == 0.0 && (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&float))
        .then(|| Number::from(float as i64))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Contract;

    fn metadata() -> &'static FieldShape {
        let contract = Contract::embedded();
        let family = &contract.models()[0].family;
        contract.field_shape(family, "metadata").expect("family A has metadata")
    }

    #[test]
    fn normalize_writes_whole_floats_as_integers() {
        let mut value = json!({ "seed": 1e3, "duration": 5.0, "mine": 7.0, "ratio": "16:9" });
        metadata().normalize(&mut value);
        assert_eq!(value, json!({ "seed": 1_000, "duration": 5, "mine": 7.0, "ratio": "16:9" }));
        for (float, expected) in [
            (-0.0, json!(0)),
            (1e18, json!(1_000_000_000_000_000_000_i64)),
            (-9_223_372_036_854_775_808.0, json!((-9_223_372_036_854_775_808.0_f64).next_down())),
            (9_223_372_036_854_775_808.0, json!(9_223_372_036_854_775_808.0)),
            (1.5, json!(1.5)),
        ] {
            let mut value = json!({ "seed": float });
            metadata().normalize(&mut value);
            assert_eq!(value["seed"], expected);
        }
    }

    #[test]
    fn unknown_members_are_reported_in_closed_objects_only() {
        let value = json!({
            "mine": { "deep": 1 },
            "content": [
                { "type": "image_url", "image_url": { "url": "https://a.test", "detail": "high" } },
                { "type": "image_url", "weight": 0.5, "image_url": { "url": "https://a.test" } },
            ],
        });
        let unknown = metadata().unknown_members(&value, 100);
        let pointers: Vec<_> = unknown.iter().map(|member| member.pointer.as_str()).collect();
        assert_eq!(pointers, ["/content/0/image_url/detail", "/content/1/weight"]);
        assert_eq!(unknown[0].expected, ["url"]);
        assert_eq!(metadata().unknown_members(&value, 1).len(), 1);
        let further = metadata().further_members(&value, 100);
        assert_eq!(further.iter().map(|member| member.pointer.as_str()).collect::<Vec<_>>(), ["/mine"]);
    }
}
