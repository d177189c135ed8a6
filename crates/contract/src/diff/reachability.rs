//! Reachability of components from requests and from responses.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Direction;
use super::context::{Documents, component_of};
use super::operations::METHODS;

/// The components that are reachable in a direction in either document, in the newer document's order.
pub(super) fn components(documents: &Documents<'_>, direction: Direction) -> Vec<String> {
    let mut reached = BTreeSet::new();
    for document in [documents.old, documents.new] {
        for part in parts(document, direction) {
            visit(document, part, &mut reached);
        }
    }
    let names = documents.new.pointer("/components/schemas").and_then(Value::as_object);
    names.into_iter().flat_map(|all| all.keys()).filter(|name| reached.contains(*name)).cloned().collect()
}

/// The parts of operations from which a direction's components are reached.
fn parts(document: &Value, direction: Direction) -> Vec<&Value> {
    let keys: &[&str] = match direction {
        Direction::Request => &["parameters", "requestBody"],
        Direction::Response => &["responses"],
    };
    let paths = document.get("paths").and_then(Value::as_object);
    let mut parts = Vec::new();
    for path in paths.into_iter().flat_map(|paths| paths.values()) {
        let operations = METHODS.iter().filter_map(|method| path.get(method));
        for holder in operations.chain([path]) {
            parts.extend(keys.iter().filter_map(|key| holder.get(key)));
        }
    }
    parts
}

fn visit(document: &Value, value: &Value, reached: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
                let name = reference.strip_prefix("#/components/schemas/");
                // A component that is in the set has been visited.
                let is_new = name.is_none_or(|name| reached.insert(name.to_owned()));
                let target = reference.strip_prefix('#').and_then(|pointer| document.pointer(pointer));
                if let Some(target) = target.filter(|_| is_new) {
                    visit(document, target, reached);
                }
            }
            // Rules (`x-rules`) contain schemas that do not describe messages.
            let inner = members.iter().filter(|(key, _)| !key.starts_with("x-"));
            inner.for_each(|(_, value)| visit(document, value, reached));
        }
        Value::Array(items) => items.iter().for_each(|item| visit(document, item, reached)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The fields that refer to a component other than an object, because readers know such components by the fields.
pub(super) fn users(document: &Value, name: &str, schema: &Value) -> Vec<String> {
    if schema.get("properties").is_some() || schema.get("oneOf").is_some() {
        return Vec::new();
    }
    let mut users = Vec::new();
    let all = document.pointer("/components/schemas").and_then(Value::as_object);
    for (component, schema) in all.into_iter().flatten() {
        let fields = schema.get("properties").and_then(Value::as_object);
        for (field, property) in fields.into_iter().flatten() {
            let item = property.get("items").and_then(component_of);
            if component_of(property).or(item) == Some(name) {
                users.push(format!("{component}.{field}"));
            }
        }
    }
    users
}
