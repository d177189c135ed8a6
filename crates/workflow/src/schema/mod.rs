//! The JSON Schema of a workflow file, for editors: the runner's keys from the tables in [`crate::syntax::keys`], the request
//! fields from the contract's schemas.
//!
//! It is more lenient than [`crate::check`]: a template is allowed wherever a value is, and rules across fields are left
//! out, because a field may come from `defaults`. It refuses unknown keys and fields, values outside their bounds, and, in
//! a shot with a `model`, the fields of other families.

mod fields;
mod film_shapes;
mod shapes;
#[cfg(test)]
mod tests;

use contract::Contract;
use serde_json::{Map, Value, json};

/// The JSON Schema (2020-12) of a workflow file under a contract.
pub fn workflow_schema(contract: &Contract) -> Value {
    workflow_schema_of(&[contract])
}

/// The JSON Schema (2020-12) of workflow files whose shots may be of several services. The fields of a shot follow from its model.
pub fn workflow_schema_of(contracts: &[&Contract]) -> Value {
    let mut schema = shapes::workflow();
    schema["title"] = json!("workflow");
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    let fields = fields::Fields::new(contracts);
    let mut definitions = shapes::definitions();
    add_fields(&mut definitions, "Defaults", fields.of_any_family(), Vec::new());
    add_fields(&mut definitions, "Shot", fields.of_any_family(), fields.by_model());
    definitions.extend(fields.into_components());
    schema["$defs"] = Value::Object(definitions);
    schema["description"] =
        json!("A video workflow: shots, their common fields, and the films that they are joined into.");
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

/// Text that is a template, as far as a schema can tell.
fn template() -> Value {
    json!({ "type": "string", "pattern": "\\{[{%]" })
}
