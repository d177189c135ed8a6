//! Request fields as a workflow file may write them: as the contract has them, or as a template, or `null` to drop a default.

use contract::{Contract, Field};
use serde_json::{Map, Value, json};

use super::template;

/// The request fields of all families.
pub(super) struct Fields<'c> {
    contract: &'c Contract,
    components: Map<String, Value>,
}

impl<'c> Fields<'c> {
    pub(super) fn new(contract: &'c Contract) -> Self {
        Self { contract, components: contract.definitions() }
    }

    /// Every field that any family has; one that several have may be as any of them has it.
    pub(super) fn of_any_family(&self) -> Map<String, Value> {
        let mut fields: Map<String, Value> = Map::new();
        for family in self.contract.families() {
            for field in self.contract.fields(family) {
                let Some(schema) = self.property(family, field) else { continue };
                match fields.get_mut(&field.name).and_then(|variants| variants["anyOf"].as_array_mut()) {
                    Some(variants) if variants.contains(&schema) => {}
                    Some(variants) => variants.insert(0, schema),
                    None => {
                        let written = json!({ "description": field.description, "anyOf": [schema, template(), { "type": "null" }] });
                        fields.insert(field.name.clone(), written);
                    }
                }
            }
        }
        fields
    }

    /// For each family: where a shot names one of its models, its fields are as the family has them, and those of
    /// other families are refused.
    pub(super) fn by_model(&self) -> Vec<Value> {
        let all = self.of_any_family();
        self.contract
            .families()
            .map(|family| {
                let ids: Vec<&str> = self
                    .contract
                    .models()
                    .iter()
                    .filter(|model| model.family == *family)
                    .map(|model| model.id.as_str())
                    .collect();
                let own = |name: &str| {
                    let field = self.contract.field(family, name)?;
                    let schema = self.property(family, field)?;
                    Some(json!({ "description": field.description, "anyOf": [schema, template(), { "type": "null" }] }))
                };
                let fields: Map<String, Value> =
                    all.keys().map(|name| (name.clone(), own(name).unwrap_or(Value::Bool(false)))).collect();
                json!({
                    "if": { "properties": { "model": { "enum": ids } }, "required": ["model"] },
                    "then": { "properties": fields },
                })
            })
            .collect()
    }

    fn property(&self, family: &contract::Family, field: &Field) -> Option<Value> {
        let component = self.contract.request_component(family)?;
        let schema = self.components.get(component)?.get("properties")?.get(&field.name)?;
        let relaxed = relaxed(schema);
        // A number stands for the digits that are sent; the pattern says which digits.
        let Some(numbers) = &field.numbers() else { return Some(relaxed) };
        Some(json!({ "anyOf": [relaxed, { "type": "integer", "enum": numbers }] }))
    }

    /// The components that fields refer to, with templates allowed inside.
    pub(super) fn into_components(self) -> Map<String, Value> {
        let requests: Vec<&str> =
            self.contract.families().filter_map(|family| self.contract.request_component(family)).collect();
        let mut pending: Vec<String> = Vec::new();
        for request in requests {
            references(self.components.get(request).unwrap_or(&Value::Null), &mut pending);
        }
        let mut components = Map::new();
        while let Some(name) = pending.pop() {
            if components.contains_key(&name) {
                continue;
            }
            if let Some(component) = self.components.get(&name) {
                references(component, &mut pending);
                components.insert(name, relaxed(component));
            }
        }
        components
    }
}

/// A schema with templates allowed wherever a scalar is.
fn relaxed(schema: &Value) -> Value {
    let Some(members) = schema.as_object() else { return schema.clone() };
    let mut relaxed_members = members.clone();
    if let Some(properties) = relaxed_members.get_mut("properties").and_then(Value::as_object_mut) {
        for property in properties.values_mut() {
            *property = relaxed(property);
        }
    }
    if let Some(items) = relaxed_members.get_mut("items") {
        *items = relaxed(items);
    }
    let scalar = ["string", "integer", "number", "boolean"];
    let is_scalar = members.get("type").and_then(Value::as_str).is_some_and(|kind| scalar.contains(&kind));
    if !is_scalar {
        return Value::Object(relaxed_members);
    }
    let description = relaxed_members.shift_remove("description");
    let mut out = json!({ "anyOf": [Value::Object(relaxed_members), template()] });
    if let Some(description) = description {
        out["description"] = description;
    }
    out
}

/// The names of all components that a schema refers to.
fn references(schema: &Value, names: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            if let Some(name) =
                members.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix("#/$defs/"))
            {
                names.push(name.to_owned());
            }
            members.values().for_each(|value| references(value, names));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
