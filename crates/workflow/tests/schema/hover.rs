//! What an editor shows: every field of every family is completed and explained.

use contract::{Contract, Field};
use serde_json::Value;
use workflow::workflow_schema;

/// The branches of a shot, one for each family: for a model's id, the branch that applies.
fn branch<'s>(schema: &'s Value, model: &str) -> &'s Value {
    let branches = schema["$defs"]["Shot"]["allOf"].as_array().expect("a branch for each family");
    let applies = |branch: &&Value| {
        let ids = branch["if"]["properties"]["model"]["enum"].as_array();
        ids.is_some_and(|ids| ids.iter().any(|id| id == model))
    };
    let mut matching = branches.iter().filter(applies);
    let only = matching.next().expect("a branch for the model");
    assert!(matching.next().is_none(), "{model} has several");
    &only["then"]["properties"]
}

#[test]
fn schema_describes_fields_per_family() {
    let contract = Contract::embedded();
    let schema = workflow_schema(contract);
    for model in contract.models() {
        let fields = branch(&schema, &model.id);
        for field in contract.fields(&model.family) {
            let description = fields[&field.name]["description"].as_str();
            assert_eq!(description, Some(field.description.as_str()), "{} of {}", field.name, model.id);
            assert!(!field.description.is_empty(), "{} of {}", field.name, model.id);
        }
        let foreign = |field: &&Field| contract.field(&model.family, &field.name).is_none();
        for field in contract.families().flat_map(|family| contract.fields(family)).filter(foreign) {
            assert_eq!(fields[&field.name], Value::Bool(false), "{} of {}", field.name, model.id);
        }
    }
}

#[test]
fn schema_lists_enum_values() {
    let contract = Contract::embedded();
    let schema = workflow_schema(contract);
    for model in contract.models() {
        let fields = branch(&schema, &model.id);
        for field in contract.fields(&model.family) {
            let text = fields[&field.name].to_string();
            let component = field.component.as_deref().map(|name| schema["$defs"][name].to_string());
            for value in &field.values {
                let offered = text.contains(&value.to_string())
                    || component.as_ref().is_some_and(|component| component.contains(&value.to_string()));
                assert!(offered, "{value} of {} of {}", field.name, model.id);
            }
        }
    }
}

#[test]
fn schema_describes_nested_fields() {
    let schema = workflow_schema(Contract::embedded());
    for component in ["VideoMetadataA", "ContentItem", "MediaUrl"] {
        let fields = schema["$defs"][component]["properties"].as_object().expect("an object");
        for (name, field) in fields {
            assert!(field["description"].is_string(), "{component}.{name}");
        }
    }
}
