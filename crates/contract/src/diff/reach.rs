//! Which components stand in requests, and which in answers.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Side;
use super::found::{Documents, component_of};
use super::operations::METHODS;

/// The components that either document has on a side, in the order of the newer one.
pub(super) fn components(documents: &Documents<'_>, side: Side) -> Vec<String> {
    let mut reached = BTreeSet::new();
    for document in [documents.old, documents.new] {
        for part in parts(document, side) {
            reach(document, part, &mut reached);
        }
    }
    let names = documents.new.pointer("/components/schemas").and_then(Value::as_object);
    names.into_iter().flat_map(|all| all.keys()).filter(|name| reached.contains(*name)).cloned().collect()
}

/// The parts of the operations where a side's schemas begin.
fn parts(document: &Value, side: Side) -> Vec<&Value> {
    let keys: &[&str] = match side {
        Side::Request => &["parameters", "requestBody"],
        Side::Response => &["responses"],
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

fn reach(document: &Value, value: &Value, reached: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
                let name = reference.strip_prefix("#/components/schemas/");
                // A component that is known already has been walked through.
                let is_new = name.is_none_or(|name| reached.insert(name.to_owned()));
                let target = reference.strip_prefix('#').and_then(|pointer| document.pointer(pointer));
                if let Some(target) = target.filter(|_| is_new) {
                    reach(document, target, reached);
                }
            }
            // Rules hold schemas of their own, which are not part of what goes over the wire.
            let inner = members.iter().filter(|(key, _)| !key.starts_with("x-"));
            inner.for_each(|(_, value)| reach(document, value, reached));
        }
        Value::Array(items) => items.iter().for_each(|item| reach(document, item, reached)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The fields that refer to a component which is no object itself: nobody knows a list of values by its component's name.
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
