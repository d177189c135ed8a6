//! Comparison of operations: parameters, bodies, statuses and authentication.

use serde_json::{Map, Value};

use super::context::{ChangeSet, Documents, Location, effective, flipped, is_set, pairs};
use super::{Direction, Effect, Subject, Verdict, schema};
use crate::SpecError;

/// The methods that `OpenAPI` 3.0 knows.
pub(super) const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

pub(super) fn compare(documents: &Documents<'_>, changes: &mut ChangeSet) -> Result<(), SpecError> {
    let (before, after) = (operations(documents.old)?, operations(documents.new)?);
    security_schemes(documents, changes);
    for (name, old, new) in pairs(&before, &after) {
        let mut record = |verdict, summary| {
            changes.record(&Location::new(Direction::Request, name), Subject::Operation, verdict, summary);
        };
        match (old, new) {
            (Some(old), Some(new)) => compare_one(documents, name, old, new, changes)?,
            (Some(_), None) => record(Verdict::Removed, "the operation is gone"),
            (None, _) => record(Verdict::Added, "the operation is new"),
        }
    }
    Ok(())
}

/// Compares the security schemes that both documents name.
fn security_schemes(documents: &Documents<'_>, changes: &mut ChangeSet) {
    let schemes = |document: &Value| {
        let all = document.pointer("/components/securitySchemes").and_then(Value::as_object).cloned();
        let mut all = all.unwrap_or_default();
        all.values_mut().filter_map(Value::as_object_mut).for_each(|scheme| {
            scheme.shift_remove("description");
        });
        all
    };
    let after = schemes(documents.new);
    for (name, old) in &schemes(documents.old) {
        if after.get(name).is_none_or(|new| new == old) {
            continue;
        }
        let location = Location::new(Direction::Request, format!("security scheme {name}"));
        let summary = "callers authenticate in another way";
        changes.record(&location, Subject::Security, Verdict::Changed, summary);
    }
}

/// The operations by method and path, each with the parameters of its path.
fn operations(document: &Value) -> Result<Value, SpecError> {
    let mut all = Map::new();
    let paths = document.get("paths").and_then(Value::as_object);
    for (path, item) in paths.into_iter().flatten() {
        for method in METHODS {
            let Some(operation @ Value::Object(_)) = item.get(method) else { continue };
            let mut parameters = Map::new();
            for holder in [item, operation] {
                for parameter in holder.get("parameters").and_then(Value::as_array).into_iter().flatten() {
                    let parameter = effective(document, parameter)?;
                    let text = |key: &str| parameter.get(key).and_then(Value::as_str).unwrap_or_default();
                    let name = format!("{} parameter `{}`", text("in"), text("name"));
                    parameters.insert(name, parameter);
                }
            }
            let mut operation = operation.clone();
            operation["parameters"] = Value::Object(parameters);
            if operation.get("security").is_none() {
                operation["security"] = document.get("security").cloned().unwrap_or_default();
            }
            all.insert(format!("{} {path}", method.to_uppercase()), operation);
        }
    }
    Ok(Value::Object(all))
}

fn compare_one(
    documents: &Documents<'_>,
    name: &str,
    old: &Value,
    new: &Value,
    changes: &mut ChangeSet,
) -> Result<(), SpecError> {
    let location = Location::new(Direction::Request, name);
    deprecation(&location, old, new, changes);
    if old["security"] != new["security"] {
        let summary = "the key is given in another way";
        changes.record(&location, Subject::Security, Verdict::Changed, summary);
    }
    parameters(documents, &location, &old["parameters"], &new["parameters"], changes)?;
    let body = |document: &Value, operation: &Value| match operation.get("requestBody") {
        Some(body) => effective(document, body),
        None => Ok(Value::Null),
    };
    let (before, after) = (body(documents.old, old)?, body(documents.new, new)?);
    required(&location, "the body", &before, &after, changes);
    contents(documents, &location, &before, &after, changes)?;
    statuses(documents, name, &old["responses"], &new["responses"], changes)
}

fn parameters(
    documents: &Documents<'_>,
    location: &Location,
    old: &Value,
    new: &Value,
    changes: &mut ChangeSet,
) -> Result<(), SpecError> {
    for (name, old, new) in pairs(old, new) {
        let (old, new) = match (old, new) {
            (Some(old), Some(new)) => (old, new),
            (_, added) => {
                let (verdict, summary) = match added {
                    None => (Verdict::Removed, "gone"),
                    Some(new) if is_set(new, "required") => (Verdict::Narrowed, "new, and required"),
                    Some(_) => (Verdict::Added, "new"),
                };
                changes.record(location, Subject::Parameter, verdict, format!("the {name} is {summary}"));
                continue;
            }
        };
        required(location, &format!("the {name}"), old, new, changes);
        let inner = Location::new(location.direction, format!("{}, {name}", location.path));
        deprecation(&inner, old, new, changes);
        if let (Some(old), Some(new)) = (old.get("schema"), new.get("schema")) {
            schema::compare(documents, &inner, old, new, changes)?;
        }
    }
    Ok(())
}

fn required(location: &Location, subject: &str, old: &Value, new: &Value, changes: &mut ChangeSet) {
    let (verdict, summary) = match flipped(is_set(old, "required"), is_set(new, "required")) {
        Some(true) => (Verdict::Narrowed, "required"),
        Some(false) => (Verdict::Widened, "optional"),
        None => return,
    };
    changes.record(location, Subject::Requiredness, verdict, format!("{subject} is {summary} now"));
}

/// Compares `deprecated`.
pub(super) fn deprecation(location: &Location, old: &Value, new: &Value, changes: &mut ChangeSet) {
    let (verdict, summary) = match flipped(is_set(old, "deprecated"), is_set(new, "deprecated")) {
        Some(true) => (Verdict::Added, "is deprecated now"),
        Some(false) => (Verdict::Removed, "is not deprecated any more"),
        None => return,
    };
    changes.record(location, Subject::Deprecation, verdict, summary);
}

fn statuses(
    documents: &Documents<'_>,
    name: &str,
    old: &Value,
    new: &Value,
    changes: &mut ChangeSet,
) -> Result<(), SpecError> {
    let location = Location::new(Direction::Response, name);
    for (status, old, new) in pairs(old, new) {
        match (old, new) {
            (Some(old), Some(new)) => {
                let inner = Location::new(Direction::Response, format!("{name}, status {status}"));
                let (old, new) = (effective(documents.old, old)?, effective(documents.new, new)?);
                contents(documents, &inner, &old, &new, changes)?;
            }
            (Some(_), None) => {
                let summary = format!("status {status} is gone");
                // Callers wait for the success that was documented.
                let effect = if status.starts_with('2') { Effect::Breaks } else { Effect::Harmless };
                changes.record_with_effect(effect, &location, Subject::Status, Verdict::Removed, summary);
            }
            (None, _) => {
                changes.record(&location, Subject::Status, Verdict::Added, format!("status {status} is new"));
            }
        }
    }
    Ok(())
}

fn contents(
    documents: &Documents<'_>,
    location: &Location,
    old: &Value,
    new: &Value,
    changes: &mut ChangeSet,
) -> Result<(), SpecError> {
    for (kind, old, new) in pairs(&old["content"], &new["content"]) {
        let (verdict, summary) = match (old, new) {
            (Some(old), Some(new)) => {
                if let (Some(old), Some(new)) = (old.get("schema"), new.get("schema")) {
                    schema::compare(documents, location, old, new, changes)?;
                }
                continue;
            }
            (Some(_), None) => (Verdict::Removed, format!("`{kind}` is gone")),
            (None, _) => (Verdict::Added, format!("`{kind}` is new")),
        };
        changes.record(location, Subject::ContentType, verdict, summary);
    }
    Ok(())
}
