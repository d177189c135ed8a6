//! Request fields as a workflow file may write them: as the contract has them, or as a template, or `null` to drop a default.

use std::collections::BTreeSet;

use contract::{Contract, Family, Field, Word};
use serde_json::{Map, Value, json};

use super::template;

/// The key of a shot that names its model, which some requests do not have.
const MODEL: &str = "model";

/// The request fields of all families of some services.
pub(super) struct Fields<'c> {
    services: Vec<FieldsOfService<'c>>,
}

/// Those of one service, with its components under names that are its own.
struct FieldsOfService<'c> {
    contract: &'c Contract,
    /// Before the names of its components.
    prefix: String,
    components: Map<String, Value>,
}

impl<'c> Fields<'c> {
    pub(super) fn new(contracts: &[&'c Contract]) -> Self {
        let services = contracts.iter().enumerate().map(|(index, contract)| {
            let prefix = if index == 0 { String::new() } else { format!("{index}.") };
            FieldsOfService::new(contract, prefix)
        });
        Self { services: services.collect() }
    }

    /// Every field that any family has; one that several have may be as any of them has it.
    pub(super) fn of_any_family(&self) -> Map<String, Value> {
        let mut fields: Map<String, Value> = Map::new();
        for service in &self.services {
            for family in service.contract.families() {
                for (name, field) in service.keys(family) {
                    let schema = service.property(family, field);
                    match fields.get_mut(name).and_then(|variants| variants["anyOf"].as_array_mut()) {
                        Some(variants) if variants.contains(&schema) => {}
                        Some(variants) => variants.insert(0, schema),
                        None => {
                            fields.insert(name.to_owned(), written(field, &schema));
                        }
                    }
                }
            }
        }
        if let Some(model) = self.model() {
            fields.insert(MODEL.to_owned(), model);
        }
        fields
    }

    /// The ids of models, where one field does not say what they are: the body has none, or ids that are not listed are taken too.
    fn model(&self) -> Option<Value> {
        let [FieldsOfService { contract, .. }] = self.services.as_slice() else {
            return Some(self.any_model());
        };
        let has_field = contract.families().all(|family| contract.field(family, MODEL).is_some());
        (!has_field || contract.unlisted_models().next().is_some()).then(|| self.any_model())
    }

    fn any_model(&self) -> Value {
        let ids: BTreeSet<&str> = self.services.iter().flat_map(FieldsOfService::ids).collect();
        let takes_others =
            self.services.iter().any(|service| service.contract.unlisted_models().next().is_some());
        // An editor completes the listed ones.
        let others = if takes_others { json!({ "type": "string" }) } else { template() };
        json!({ "description": "The model that renders the shot.", "anyOf": [{ "enum": ids }, others, { "type": "null" }] })
    }

    /// For each family: where a shot names one of its models, its fields are as the family has them, and those of
    /// other families are refused. A model that several services have may have those of any.
    pub(super) fn by_model(&self) -> Vec<Value> {
        let all = self.of_any_family();
        let has_own_model = self.model().is_some();
        let is_of_one = |id: &&str| {
            self.services.iter().filter(|service| service.ids().any(|own| own == *id)).count() == 1
        };
        let families = self
            .services
            .iter()
            .flat_map(|service| service.contract.families().map(move |family| (service, family)));
        families
            .filter_map(|(service, family)| {
                let ids: Vec<&str> = service.ids_of(family).filter(is_of_one).collect();
                let keys = service.keys(family);
                let own = |name: &str| {
                    let (_, field) = keys.iter().find(|(key, _)| *key == name)?;
                    Some(written(*field, &service.property(family, *field)))
                };
                let names = all.keys().filter(|name| !(has_own_model && *name == MODEL));
                let fields: Map<String, Value> =
                    names.map(|name| (name.clone(), own(name).unwrap_or(Value::Bool(false)))).collect();
                (!ids.is_empty()).then(|| {
                    json!({
                        "if": { "properties": { "model": { "enum": ids } }, "required": ["model"] },
                        "then": { "properties": fields },
                    })
                })
            })
            .collect()
    }

    /// The components that fields refer to, with templates allowed inside.
    pub(super) fn into_components(self) -> Map<String, Value> {
        self.services.into_iter().flat_map(FieldsOfService::into_components).collect()
    }
}

impl<'c> FieldsOfService<'c> {
    fn new(contract: &'c Contract, prefix: String) -> Self {
        let components = contract.definitions().into_iter();
        let components = components.map(|(name, mut component)| {
            rename_references(&mut component, &prefix);
            (format!("{prefix}{name}"), component)
        });
        Self { contract, components: components.collect(), prefix }
    }

    /// The listed models.
    fn ids(&self) -> impl Iterator<Item = &'c str> {
        self.contract.models().iter().map(|model| model.id.as_str())
    }

    fn ids_of(&self, family: &'c Family) -> impl Iterator<Item = &'c str> {
        let of_family = self.contract.models().iter().filter(move |model| model.family == *family);
        of_family.map(|model| model.id.as_str())
    }

    fn request_component(&self, family: &Family) -> Option<String> {
        Some(format!("{}{}", self.prefix, self.contract.request_component(family)?))
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

    fn property(&self, family: &Family, field: Option<&Field>) -> Value {
        let text = json!({ "type": "string" });
        let Some(field) = field else { return text };
        let schema = self.schema_at(family, field);
        let spellings = schema.map(spellings).unwrap_or_default();
        let relaxed = schema.map_or(text, relaxed);
        if !spellings.is_empty() {
            return json!({ "anyOf": [relaxed, { "enum": spellings }] });
        }
        // A number stands for the digits that are sent; the pattern says which digits.
        let Some(numbers) = &field.numbers() else { return relaxed };
        json!({ "anyOf": [relaxed, { "type": "integer", "enum": numbers }] })
    }

    fn schema_at(&self, family: &Family, field: &Field) -> Option<&Value> {
        let mut schema = self.components.get(&self.request_component(family)?)?;
        for token in field.at.tokens() {
            let name = schema.get("$ref").and_then(|reference| reference.as_str()?.rsplit('/').next());
            let object = name.and_then(|name| self.components.get(name)).unwrap_or(schema);
            let member = object.get("properties").and_then(|properties| properties.get(&token));
            schema = member.or_else(|| object.get("items"))?;
        }
        Some(schema)
    }

    /// The components that fields refer to, with templates allowed inside.
    fn into_components(self) -> Map<String, Value> {
        let requests: Vec<String> =
            self.contract.families().filter_map(|family| self.request_component(family)).collect();
        let mut pending: Vec<String> = Vec::new();
        for request in requests {
            references(self.components.get(&request).unwrap_or(&Value::Null), &mut pending);
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

/// Other ways to write the values that a field lists, which is sent as it lists them: `5` for `5s`, `720p` for `720P`.
fn spellings(schema: &Value) -> Vec<Value> {
    let listed = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    let other = |text: &str| {
        if let Ok(number) = text.trim_end_matches('s').parse::<u32>() {
            return Some(Value::from(number));
        }
        let lower = text.to_lowercase();
        (lower != text).then(|| Value::from(lower))
    };
    listed.filter_map(|value| other(value.as_str()?)).collect()
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

/// Puts a prefix before the names of the components that a schema refers to.
fn rename_references(schema: &mut Value, prefix: &str) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(path)) = members.get_mut("$ref") {
                *path = path.replace(DEFINITIONS, &format!("{DEFINITIONS}{prefix}"));
            }
            members.values_mut().for_each(|value| rename_references(value, prefix));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename_references(item, prefix)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

const DEFINITIONS: &str = "#/$defs/";

/// The names of all components that a schema refers to.
fn references(schema: &Value, names: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            if let Some(name) =
                members.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix(DEFINITIONS))
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
