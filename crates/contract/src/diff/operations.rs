//! Comparison of operations: parameters, bodies, statuses and authentication.

use serde_json::{Map, Value};

use super::context::{ChangeSet, Documents, Finding, Location, effective};
use super::{Direction, Effect, Subject, Verdict, schema};
use crate::SpecError;

/// The methods that `OpenAPI` 3.0 knows.
pub(super) const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

pub(super) fn compare(documents: &Documents<'_>, changes: &mut ChangeSet) -> Result<(), SpecError> {
    let (before, after) = (operations(documents.old)?, operations(documents.new)?);
    let finding = |verdict, summary: &str| Finding {
        subject: Subject::Operation,
        verdict,
        summary: summary.to_owned(),
    };
    security_schemes(documents, changes);
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        changes.record(
            &Location::new(Direction::Request, name),
            finding(Verdict::Removed, "the operation is gone"),
        );
    }
    for (name, new) in &after {
        let Some(old) = before.get(name) else {
            changes.record(
                &Location::new(Direction::Request, name),
                finding(Verdict::Added, "the operation is new"),
            );
            continue;
        };
        compare_one(documents, name, old, new, changes)?;
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
        let summary = "callers authenticate in another way".to_owned();
        let finding = Finding { subject: Subject::Security, verdict: Verdict::Changed, summary };
        changes.record(&Location::new(Direction::Request, format!("security scheme {name}")), finding);
    }
}

/// The operations by method and path, each with the parameters of its path.
fn operations(document: &Value) -> Result<Map<String, Value>, SpecError> {
    let mut all = Map::new();
    let paths = document.get("paths").and_then(Value::as_object);
    for (path, item) in paths.into_iter().flatten() {
        for method in METHODS {
            let Some(operation) = item.get(method) else { continue };
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
    Ok(all)
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
        let summary = "the key is given in another way".to_owned();
        changes.record(&location, Finding { subject: Subject::Security, verdict: Verdict::Changed, summary });
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
    let empty = Map::new();
    let (before, after) = (old.as_object().unwrap_or(&empty), new.as_object().unwrap_or(&empty));
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        let summary = format!("the {name} is gone");
        let finding = Finding { subject: Subject::Parameter, verdict: Verdict::Removed, summary };
        changes.record(location, finding);
    }
    for (name, new) in after {
        let Some(old) = before.get(name) else {
            let is_required = new.get("required") == Some(&Value::Bool(true));
            let (verdict, summary) = if is_required {
                (Verdict::Narrowed, format!("the {name} is new, and required"))
            } else {
                (Verdict::Added, format!("the {name} is new"))
            };
            changes.record(location, Finding { subject: Subject::Parameter, verdict, summary });
            continue;
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
    let is_required = |value: &Value| value.get("required") == Some(&Value::Bool(true));
    let (verdict, summary) = match (is_required(old), is_required(new)) {
        (false, true) => (Verdict::Narrowed, format!("{subject} is required now")),
        (true, false) => (Verdict::Widened, format!("{subject} is optional now")),
        _ => return,
    };
    changes.record(location, Finding { subject: Subject::Requiredness, verdict, summary });
}

/// Compares `deprecated`.
pub(super) fn deprecation(location: &Location, old: &Value, new: &Value, changes: &mut ChangeSet) {
    let is_deprecated = |value: &Value| value.get("deprecated") == Some(&Value::Bool(true));
    let (verdict, summary) = match (is_deprecated(old), is_deprecated(new)) {
        (false, true) => (Verdict::Added, "is deprecated now"),
        (true, false) => (Verdict::Removed, "is not deprecated any more"),
        _ => return,
    };
    let summary = summary.to_owned();
    changes.record(location, Finding { subject: Subject::Deprecation, verdict, summary });
}

fn statuses(
    documents: &Documents<'_>,
    name: &str,
    old: &Value,
    new: &Value,
    changes: &mut ChangeSet,
) -> Result<(), SpecError> {
    let empty = Map::new();
    let (before, after) = (old.as_object().unwrap_or(&empty), new.as_object().unwrap_or(&empty));
    let location = Location::new(Direction::Response, name);
    for status in before.keys().filter(|status| !after.contains_key(*status)) {
        let summary = format!("status {status} is gone");
        let finding = Finding { subject: Subject::Status, verdict: Verdict::Removed, summary };
        // Callers wait for the success that was documented.
        let effect = if status.starts_with('2') { Effect::Breaks } else { Effect::Harmless };
        changes.record_with_effect(effect, &location, finding);
    }
    for (status, new) in after {
        let Some(old) = before.get(status) else {
            let summary = format!("status {status} is new");
            let finding = Finding { subject: Subject::Status, verdict: Verdict::Added, summary };
            changes.record(&location, finding);
            continue;
        };
        let inner = Location::new(Direction::Response, format!("{name}, status {status}"));
        let (old, new) = (effective(documents.old, old)?, effective(documents.new, new)?);
        contents(documents, &inner, &old, &new, changes)?;
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
    let empty = Map::new();
    let media_types = |value: &'_ Value| value.get("content").and_then(Value::as_object).cloned();
    let (before, after) =
        (media_types(old).unwrap_or_else(|| empty.clone()), media_types(new).unwrap_or(empty));
    let kinds = before.keys().chain(after.keys().filter(|kind| !before.contains_key(*kind)));
    for kind in kinds {
        let (verdict, summary) = match (before.get(kind), after.get(kind)) {
            (Some(old), Some(new)) => {
                if let (Some(old), Some(new)) = (old.get("schema"), new.get("schema")) {
                    schema::compare(documents, location, old, new, changes)?;
                }
                continue;
            }
            (Some(_), None) => (Verdict::Removed, format!("`{kind}` is gone")),
            (None, _) => (Verdict::Added, format!("`{kind}` is new")),
        };
        changes.record(location, Finding { subject: Subject::ContentType, verdict, summary });
    }
    Ok(())
}
