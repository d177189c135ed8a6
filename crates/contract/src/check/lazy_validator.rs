//! A JSON Schema that is compiled on first use: compiling costs far more than validating, and a run uses few of a document's schemas.

use std::{collections::BTreeSet, sync::OnceLock};

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::{Map, Value};

use crate::SpecError;

/// A JSON Schema from the document.
#[derive(Debug)]
pub(crate) struct LazyValidator {
    schema: Value,
    /// JSON pointer of the schema in the document, for errors.
    location: String,
    compiled: OnceLock<Result<Validator, SpecError>>,
}

impl LazyValidator {
    pub(crate) fn new(schema: Value, location: String) -> Self {
        Self { schema, location, compiled: OnceLock::new() }
    }

    /// A schema with the components that it references added under `$defs`.
    pub(crate) fn with_definitions(
        mut schema: Value,
        definitions: &Map<String, Value>,
        location: String,
    ) -> Self {
        let mut used = BTreeSet::new();
        note_references(&schema, definitions, &mut used);
        if let (Some(schema), false) = (schema.as_object_mut(), used.is_empty()) {
            let named =
                used.into_iter().filter_map(|name| Some((name.to_owned(), definitions.get(name)?.clone())));
            let definitions: Map<String, Value> = named.collect();
            schema.insert("$defs".to_owned(), definitions.into());
        }
        Self::new(schema, location)
    }

    /// Compiles it, and returns the error if that fails.
    pub(crate) fn force(&self) -> Result<(), SpecError> {
        self.compiled().as_ref().map(|_| ()).map_err(Clone::clone)
    }

    #[expect(
        clippy::expect_used,
        reason = "a document from outside was compiled whole when it was read; a test compiles the one that is built in"
    )]
    pub(crate) fn validator(&self) -> &Validator {
        self.compiled().as_ref().expect("the document's schemas compile")
    }

    pub(crate) fn is_valid(&self, instance: &Value) -> bool {
        self.validator().is_valid(instance)
    }

    fn compiled(&self) -> &Result<Validator, SpecError> {
        self.compiled.get_or_init(|| compile(&self.schema, &self.location))
    }
}

/// Collects the names of the components that a schema references, directly or transitively.
fn note_references<'a>(schema: &Value, definitions: &'a Map<String, Value>, used: &mut BTreeSet<&'a str>) {
    match schema {
        Value::Object(members) => {
            let target =
                members.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix("#/$defs/"));
            let name = target.map(|path| path.split('/').next().unwrap_or_default());
            if let Some((name, schema)) = name.and_then(|name| definitions.get_key_value(name))
                && used.insert(name)
            {
                note_references(schema, definitions, used);
            }
            members.values().for_each(|member| note_references(member, definitions, used));
        }
        Value::Array(items) => items.iter().for_each(|item| note_references(item, definitions, used)),
        _ => {}
    }
}

fn compile(schema: &Value, location: &str) -> Result<Validator, SpecError> {
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .should_validate_formats(true)
        // Linear in the length of the text, whatever the pattern.
        .with_pattern_options(PatternOptions::regex())
        .offline()
        .build(schema)
        .map_err(|error| {
            // The error's pointer is relative to what was compiled; the components are there under `$defs`.
            let inside = error.instance_path().as_str();
            let location = match inside.strip_prefix("/$defs") {
                Some(component) => format!("/components/schemas{component}"),
                None => format!("{location}{inside}"),
            };
            SpecError::new(location, format!("this is not a usable JSON Schema: {error}"), "correct it")
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn with_definitions_adds_referenced_components_only() {
        let definitions = json!({
            "A": {"properties": {"b": {"$ref": "#/$defs/B"}, "again": {"$ref": "#/$defs/A"}}},
            "B": {"items": [{"$ref": "#/$defs/C/items"}]},
            "C": {"items": {"type": "string"}},
            "D": {"type": "string"},
        });
        let definitions = definitions.as_object().cloned().unwrap_or_default();
        let all = LazyValidator::with_definitions(json!({"$ref": "#/$defs/A"}), &definitions, String::new());
        let names: Vec<&String> = all.schema["$defs"].as_object().into_iter().flat_map(Map::keys).collect();
        assert_eq!(names, ["A", "B", "C"]);
        let alone = LazyValidator::with_definitions(json!({"type": "string"}), &definitions, String::new());
        assert_eq!(alone.schema, json!({"type": "string"}));
    }
}
