//! Request fields as a workflow file may write them: as the contract has them, or as a template, or `null` to drop a default.

use contract::{Contract, Field, Word};
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
            for (name, field) in self.keys(family) {
                let Some(schema) = self.property(family, field) else { continue };
                match fields.get_mut(name).and_then(|variants| variants["anyOf"].as_array_mut()) {
                    Some(variants) if variants.contains(&schema) => {}
                    Some(variants) => variants.insert(0, schema),
                    None => {
                        let written = json!({ "description": field.description, "anyOf": [schema, template(), { "type": "null" }] });
                        fields.insert(name.to_owned(), written);
                    }
                }
            }
        }
        fields
    }

    /// The keys of a shot that set fields of a family: their own names, and the words that are put there.
    fn keys(&self, family: &contract::Family) -> Vec<(&'c str, &'c Field)> {
        let mut keys: Vec<(&str, &Field)> =
            self.contract.fields(family).iter().map(|field| (field.name.as_str(), field)).collect();
        for model in self.contract.models().iter().filter(|model| model.family == *family) {
            for word in Word::ALL.into_iter().filter(|word| word.is_key()) {
                let Some(placement) = model.inputs.get(word).filter(|placement| placement.item.is_none())
                else {
                    continue;
                };
                let name = placement.at.as_str().strip_prefix('/').unwrap_or_default();
                if let Some(field) = self.contract.field(family, name)
                    && !keys.iter().any(|(known, _)| *known == word.as_str())
                {
                    keys.push((word.as_str(), field));
                }
            }
        }
        keys
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
                let keys = self.keys(family);
                let own = |name: &str| {
                    let (_, field) = keys.iter().find(|(key, _)| *key == name)?;
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
