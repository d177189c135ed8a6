//! Request fields as a workflow file may write them: as the contract has them, or as a template, or `null` to drop a default.

use contract::{Contract, Family, Field, Word};
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
                let schema = self.property(family, field);
                match fields.get_mut(name).and_then(|variants| variants["anyOf"].as_array_mut()) {
                    Some(variants) if variants.contains(&schema) => {}
                    Some(variants) => variants.insert(0, schema),
                    None => {
                        fields.insert(name.to_owned(), written(field, &schema));
                    }
                }
            }
        }
        fields
    }

    /// The keys of a shot that set fields of a family: their own names, and the words that its models take. `None`: text.
    fn keys(&self, family: &Family) -> Vec<(&'c str, Option<&'c Field>)> {
        let models = || self.contract.models().iter().filter(|model| model.family == *family);
        let is_taken = |word: &Word| models().any(|model| model.inputs.get(*word).is_some());
        let words: Vec<Word> = Word::ALL.into_iter().filter(|word| word.is_key()).filter(is_taken).collect();
        let of_word = |word: Word| (word.as_str(), self.contract.word_field(family, word));
        let own = self.contract.fields(family).iter().map(|field| {
            let word = words.iter().find(|word| word.as_str() == field.name);
            word.map_or((field.name.as_str(), Some(field)), |word| of_word(*word))
        });
        let mut keys: Vec<_> = own.collect();
        for word in &words {
            if !keys.iter().any(|(name, _)| *name == word.as_str()) {
                keys.push(of_word(*word));
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
                    Some(written(*field, &self.property(family, *field)))
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

    fn property(&self, family: &Family, field: Option<&Field>) -> Value {
        let text = json!({ "type": "string" });
        let Some(field) = field else { return text };
        let relaxed = self.schema_at(family, field).map_or(text, relaxed);
        // A number stands for the digits that are sent; the pattern says which digits.
        let Some(numbers) = &field.numbers() else { return relaxed };
        json!({ "anyOf": [relaxed, { "type": "integer", "enum": numbers }] })
    }

    fn schema_at(&self, family: &Family, field: &Field) -> Option<&Value> {
        let mut schema = self.components.get(self.contract.request_component(family)?)?;
        for token in field.at.tokens() {
            let name = schema.get("$ref").and_then(|reference| reference.as_str()?.rsplit('/').next());
            let object = name.and_then(|name| self.components.get(name)).unwrap_or(schema);
            let member = object.get("properties").and_then(|properties| properties.get(&token));
            schema = member.or_else(|| object.get("items"))?;
        }
        Some(schema)
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

/// A field as it may be written.
fn written(field: Option<&Field>, schema: &Value) -> Value {
    let mut written = json!({});
    if let Some(description) = field.map(|field| &field.description).filter(|text| !text.is_empty()) {
        written["description"] = description.as_str().into();
    }
    written["anyOf"] = json!([schema, template(), { "type": "null" }]);
    written
}
