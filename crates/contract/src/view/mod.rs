//! Views: the document rewritten for tools that would misread the original.

mod codegen;
mod json_schema;

pub(crate) use codegen::codegen;
pub use codegen::inline_objects;
#[cfg(feature = "validate")]
pub(crate) use json_schema::leave_to_rules;
#[cfg(feature = "validate")]
pub(crate) use json_schema::plain_definitions;
pub(crate) use json_schema::{definitions, request_schema};

use serde_json::{Map, Value};

/// The kind of a value in the document, as far as rewriting depends on it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// A schema, whose keys are keywords.
    Schema,
    /// A mapping of names of the author's choice to schemas.
    NamedSchemas,
    SchemaList,
    /// Values that are given as they are, such as enums and examples.
    Literal,
}

/// What a keyword of a schema holds.
fn meaning_below(keyword: &str) -> Meaning {
    match keyword {
        "properties" => Meaning::NamedSchemas,
        "allOf" | "anyOf" | "oneOf" => Meaning::SchemaList,
        "items" | "not" | "additionalProperties" => Meaning::Schema,
        _ => Meaning::Literal,
    }
}

/// Rewrites every schema at and below a value, the outer one first.
fn rewrite_schemas(value: &Value, meaning: Meaning, rewrite: &dyn Fn(&mut Map<String, Value>)) -> Value {
    match (meaning, value) {
        (Meaning::Schema, Value::Object(schema)) => {
            let mut schema = schema.clone();
            rewrite(&mut schema);
            let rewrite_member = |(key, value): (&String, &Value)| {
                (key.clone(), rewrite_schemas(value, meaning_below(key), rewrite))
            };
            Value::Object(schema.iter().map(rewrite_member).collect())
        }
        (Meaning::NamedSchemas, Value::Object(named)) => Value::Object(
            named
                .iter()
                .map(|(name, schema)| (name.clone(), rewrite_schemas(schema, Meaning::Schema, rewrite)))
                .collect(),
        ),
        (Meaning::SchemaList, Value::Array(list)) => {
            list.iter().map(|schema| rewrite_schemas(schema, Meaning::Schema, rewrite)).collect()
        }
        _ => value.clone(),
    }
}

/// Rewrites the schemas under `components`, leaving the rest of a document to the caller.
fn rewrite_components(document: &mut Value, rewrite: &dyn Fn(&mut Map<String, Value>)) {
    if let Some(schemas) = document.pointer_mut("/components/schemas") {
        *schemas = rewrite_schemas(schemas, Meaning::NamedSchemas, rewrite);
    }
}

/// Removes the extensions everywhere but in literal values and among names of the author's choice.
pub(crate) fn without_extensions(value: &Value) -> Value {
    match value {
        Value::Object(object) => Value::Object(
            object
                .iter()
                .filter(|(key, _)| !key.starts_with("x-"))
                .map(|(key, value)| {
                    let value = match key.as_str() {
                        "default" | "enum" | "example" => value.clone(),
                        "properties" => property_schemas_without_extensions(value),
                        _ => without_extensions(value),
                    };
                    (key.clone(), value)
                })
                .collect(),
        ),
        Value::Array(items) => items.iter().map(without_extensions).collect(),
        scalar => scalar.clone(),
    }
}

fn property_schemas_without_extensions(named: &Value) -> Value {
    match named {
        Value::Object(named) => Value::Object(
            named.iter().map(|(name, value)| (name.clone(), without_extensions(value))).collect(),
        ),
        value => value.clone(),
    }
}

/// The reference of an `allOf` that holds nothing else: how `OpenAPI` 3.0 gives a reference a description of its own.
fn sole_reference(schema: &Map<String, Value>) -> Option<Value> {
    match schema.get("allOf")?.as_array()?.as_slice() {
        [only] => only.get("$ref").cloned(),
        _ => None,
    }
}
