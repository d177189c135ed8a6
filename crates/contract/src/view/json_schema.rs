//! The view as JSON Schema 2020-12, for editors, `check` and the service's own validation.

use std::slice;

use serde_json::{Map, Value, json};

use super::{Meaning, rewrite_schemas, sole_reference};
use crate::spec::{Rule, Severity, Spec};

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The components without rules, but with their extensions: what the crate's own checks compile and look things up in.
#[cfg(feature = "validate")]
pub(crate) fn plain_definitions(document: &Value, spec: &Spec) -> Map<String, Value> {
    convert(document, spec, &translate)
}

/// The components as published: rules in, extensions out.
pub(crate) fn definitions(document: &Value, spec: &Spec) -> Map<String, Value> {
    let mut all = convert(document, spec, &|schema| {
        translate(schema);
        schema.retain(|keyword, _| !keyword.starts_with("x-"));
    });
    for (component, rules) in &spec.rules {
        if let Some(schema) = all.get_mut(component).and_then(Value::as_object_mut) {
            let refusals = rules.iter().filter(|rule| rule.severity == Severity::Error).map(refusal);
            let refusals: Vec<Value> = refusals.collect();
            if refusals.is_empty() {
                continue;
            }
            match schema.entry("allOf").or_insert_with(|| json!([])) {
                Value::Array(list) => list.extend(refusals),
                entry => *entry = refusals.into(),
            }
        }
    }
    all
}

fn refusal(rule: &Rule) -> Value {
    json!({
        "$comment": format!("{}, section {}", rule.id, rule.spec_section),
        "errorMessage": rule.message,
        "not": rule.reject,
    })
}

pub(crate) fn request_schema(document: &Value, spec: &Spec) -> Value {
    let mut all = definitions(document, spec);
    let name = spec.request.as_deref().unwrap_or("Request");
    let request = all.remove(name).unwrap_or_default();
    let branches: Vec<Value> = spec
        .families
        .iter()
        .map(|family| {
            let models = spec.catalogue.models.iter().filter(|model| model.family == family.name);
            let ids: Vec<&str> = models.map(|model| model.id.as_str()).collect();
            json!({
                "if": { "properties": { "model": { "enum": ids } }, "required": ["model"] },
                "then": { "$ref": format!("#/$defs/{}", family.component) },
            })
        })
        .collect();
    let ids: Vec<&str> = spec.catalogue.models.iter().map(|model| model.id.as_str()).collect();
    let mut used = Map::new();
    for family in &spec.families {
        collect_reachable(&all, &family.component, &mut used);
    }
    json!({
        "$schema": DIALECT,
        "title": name,
        "description": request.get("description").cloned().unwrap_or_default(),
        "type": "object",
        "required": ["model"],
        "properties": {
            "model": { "type": "string", "enum": ids, "description": "The model that renders the video; it decides which fields apply." },
        },
        "allOf": branches,
        "$defs": used,
    })
}

/// Collects a component and what it refers to.
fn collect_reachable(all: &Map<String, Value>, component: &str, used: &mut Map<String, Value>) {
    let Some(schema) = all.get(component).filter(|_| !used.contains_key(component)) else { return };
    used.insert(component.to_owned(), schema.clone());
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(object) => {
                if let Some(next) =
                    object.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix("#/$defs/"))
                {
                    collect_reachable(all, next, used);
                }
                open.extend(object.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
}

fn convert(document: &Value, spec: &Spec, rewrite: &dyn Fn(&mut Map<String, Value>)) -> Map<String, Value> {
    let schemas = document.pointer("/components/schemas").unwrap_or(&Value::Null);
    let mut all = match rewrite_schemas(schemas, Meaning::NamedSchemas, rewrite) {
        Value::Object(all) => all,
        _ => Map::new(),
    };
    leave_to_rules(&mut all, spec);
    all
}

/// Drops each `not` whose parts rules refuse too: it is there for tools that know no rules, and the rule's error says more.
pub(crate) fn leave_to_rules(schemas: &mut Map<String, Value>, spec: &Spec) {
    for (component, rules) in &spec.rules {
        let is_refused =
            |part: &Value| rules.iter().any(|rule| rule.severity == Severity::Error && rule.reject == *part);
        let Some(Value::Object(schema)) = schemas.get_mut(component) else { continue };
        drop_not(schema, is_refused);
        for (name, field) in schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten()
        {
            if let Value::Object(field) = field {
                drop_not(field, |part| {
                    is_refused(&json!({ "required": [name], "properties": { name: part } }))
                });
            }
        }
    }
}

fn drop_not(schema: &mut Map<String, Value>, is_refused: impl Fn(&Value) -> bool) {
    let Some(not) = schema.get("not") else { return };
    if not["anyOf"].as_array().map_or(slice::from_ref(not), Vec::as_slice).iter().all(is_refused) {
        schema.shift_remove("not");
    }
}

/// Converts one schema from `OpenAPI` 3.0 to JSON Schema 2020-12.
fn translate(schema: &mut Map<String, Value>) {
    for keyword in ["discriminator", "externalDocs", "xml"] {
        schema.remove(keyword);
    }
    if let Some(reference) = sole_reference(schema) {
        schema.remove("allOf");
        schema.insert("$ref".into(), reference);
    }
    if let Some(Value::String(reference)) = schema.get_mut("$ref") {
        *reference = reference.replacen("#/components/schemas/", "#/$defs/", 1);
    }
    if let Some(example) = schema.remove("example") {
        schema.insert("examples".into(), json!([example]));
    }
    if schema.remove("nullable") == Some(Value::Bool(true)) {
        allow_null(schema);
    }
    exclusive(schema, "exclusiveMinimum", "minimum");
    exclusive(schema, "exclusiveMaximum", "maximum");
    let bounds = match schema.get("format").and_then(Value::as_str) {
        Some("int32") => Some((json!(i32::MIN), json!(i32::MAX))),
        Some("int64") => Some((json!(i64::MIN), json!(i64::MAX))),
        _ => None,
    };
    if let Some((min, max)) = bounds {
        // A format is a remark to most validators; the width of the integer is not.
        schema.entry("minimum").or_insert(min);
        schema.entry("maximum").or_insert(max);
    }
}

fn allow_null(schema: &mut Map<String, Value>) {
    if let Some(kind) = schema.get("type").cloned() {
        schema.insert("type".into(), json!([kind, "null"]));
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.push(Value::Null);
    }
}

/// 3.0 marks a bound as exclusive; 2020-12 writes the bound there.
fn exclusive(schema: &mut Map<String, Value>, exclusive_key: &str, bound_key: &str) {
    match schema.get(exclusive_key) {
        Some(Value::Bool(true)) => match schema.remove(bound_key) {
            Some(limit) => {
                schema.insert(exclusive_key.into(), limit);
            }
            None => {
                schema.remove(exclusive_key);
            }
        },
        Some(Value::Bool(false)) => {
            schema.remove(exclusive_key);
        }
        _ => {}
    }
}
