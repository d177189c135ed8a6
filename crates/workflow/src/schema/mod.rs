//! The JSON Schema of a workflow file, for editors: the runner's words derived from types, the request fields from the
//! contract's own schemas.
//!
//! It is more lenient than [`crate::check`]: wherever a value stands, a template may stand too, and rules over several
//! fields are not in it, since a field may come from `defaults`. It refuses unknown words and fields, values outside
//! their bounds, and, where a shot names its model, the fields of other families.

mod fields;
#[cfg(test)]
mod tests;
mod types;

use contract::Contract;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The JSON Schema (2020-12) of a workflow file under a contract.
#[must_use]
pub fn workflow_schema(contract: &Contract) -> Value {
    let mut schema =
        SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<types::Workflow>().to_value();
    schema["title"] = json!("workflow");
    schema["description"] =
        json!("A video workflow: shots, what they have in common, and the film they make.");
    let fields = fields::Fields::of(contract);
    if let Some(definitions) = schema.get_mut("$defs").and_then(Value::as_object_mut) {
        add_fields(definitions, "Defaults", fields.of_any_family(), Vec::new());
        add_fields(definitions, "Shot", fields.of_any_family(), fields.by_model());
        for (name, definition) in fields.into_components() {
            definitions.insert(name, definition);
        }
    }
    schema
}

fn add_fields(
    definitions: &mut Map<String, Value>,
    name: &str,
    fields: Map<String, Value>,
    branches: Vec<Value>,
) {
    let Some(definition) = definitions.get_mut(name).and_then(Value::as_object_mut) else { return };
    let properties = definition.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        properties.extend(fields);
    }
    definition.insert("additionalProperties".to_owned(), json!(false));
    if !branches.is_empty() {
        definition.insert("allOf".to_owned(), Value::Array(branches));
    }
}
