//! The view for progenitor, which silently drops what it does not understand.
//!
//! | In the document | What the generator would do | In the view |
//! |---|---|---|
//! | `allOf`, `anyOf`, `oneOf`, `not` beside `properties` | drop the fields they name | left out |
//! | `default` | always send the field | left out |
//! | `pattern`, lengths, bounds | types that cannot be built without a check, `NonZero` | left out: [`crate::Contract::check_request`] checks |
//! | `additionalProperties: true` | drop the extras | `{}`, which keeps them |
//! | `discriminator`, extensions | ignore them | left out |
//! | request bodies | serialize the generated type, without its empty lists | raw bytes, which the client has validated |
//! | answers | fail on an unknown status or a missing field, and read without bound | raw bytes, which the client decodes leniently |

use serde_json::{Map, Value, json};

use super::{rewrite_components, without_extensions};

const CONSTRAINTS: [&str; 14] = [
    "default",
    "discriminator",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "multipleOf",
    "not",
    "pattern",
    "uniqueItems",
];
const COMBINATORS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

pub(crate) fn codegen(document: &Value) -> Value {
    let mut view = without_extensions(document);
    rewrite_components(&mut view, &shape_only);
    raw_bodies(&mut view);
    plain_parameters(&mut view);
    view
}

fn shape_only(schema: &mut Map<String, Value>) {
    schema.retain(|keyword, _| !CONSTRAINTS.contains(&keyword.as_str()));
    if schema.contains_key("properties") {
        schema.retain(|keyword, _| !COMBINATORS.contains(&keyword.as_str()));
    }
    if schema.get("additionalProperties") == Some(&Value::Bool(true)) {
        schema.insert("additionalProperties".into(), json!({}));
    }
}

/// The fields, as `(component, field)`, that are objects and no components, or lists of such: the generator chooses the names of
/// their structs, so that nobody can say whether it dropped properties.
pub fn inline_objects(document: &Value) -> Vec<(&str, &str)> {
    let is_inline = |schema: &Value| schema.get("properties").is_some_and(Value::is_object);
    let components = document.pointer("/components/schemas").and_then(Value::as_object);
    let mut found = Vec::new();
    for (component, schema) in components.into_iter().flatten() {
        for (name, field) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if is_inline(field) || field.get("items").is_some_and(is_inline) {
                found.push((component.as_str(), name.as_str()));
            }
        }
    }
    found
}

fn raw_bodies(view: &mut Value) {
    let raw = json!({ "schema": { "type": "string", "format": "binary" } });
    let operations = view
        .get_mut("paths")
        .and_then(Value::as_object_mut)
        .into_iter()
        .flat_map(|paths| paths.values_mut())
        .filter_map(Value::as_object_mut)
        .flat_map(|path| path.values_mut());
    for operation in operations {
        if let Some(request) = operation.get_mut("requestBody") {
            *request = json!({ "required": true, "content": { "application/octet-stream": raw } });
        }
        if let Some(answers) = operation.get_mut("responses") {
            let any_type = json!({ "*/*": raw });
            *answers =
                json!({ "default": { "description": "the response as received", "content": any_type } });
        }
    }
    if let Some(components) = view.get_mut("components").and_then(Value::as_object_mut) {
        components.remove("responses");
    }
}

fn plain_parameters(view: &mut Value) {
    let parameters = view.pointer_mut("/components/parameters").and_then(Value::as_object_mut);
    for schema in parameters
        .into_iter()
        .flat_map(|parameters| parameters.values_mut())
        .filter_map(|parameter| parameter.get_mut("schema")?.as_object_mut())
    {
        shape_only(schema);
    }
}
