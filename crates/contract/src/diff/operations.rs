//! Operations: their parameters, bodies, statuses and the key they need.

use serde_json::{Map, Value};

use super::found::{Documents, Finding, Found, Spot, effective};
use super::{Effect, Side, Subject, Verdict, schema};
use crate::SpecError;

/// The methods that `OpenAPI` 3.0 knows.
pub(super) const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// Compares all operations.
pub(super) fn compare(documents: &Documents<'_>, found: &mut Found) -> Result<(), SpecError> {
    let (before, after) = (operations(documents.old)?, operations(documents.new)?);
    let whole = |verdict, what: &str| Finding {
        subject: Subject::Operation,
        verdict,
        what: what.to_owned(),
        old: None,
        new: None,
    };
    keys(documents, found);
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        found.note(&Spot::new(Side::Request, name), whole(Verdict::Removed, "the operation is gone"));
    }
    for (name, new) in &after {
        let Some(old) = before.get(name) else {
            found.note(&Spot::new(Side::Request, name), whole(Verdict::Added, "the operation is new"));
            continue;
        };
        compare_one(documents, name, old, new, found)?;
    }
    Ok(())
}

/// The ways to authenticate that both documents name.
fn keys(documents: &Documents<'_>, found: &mut Found) {
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
        let Some(new) = after.get(name).filter(|new| *new != old) else { continue };
        let what = "callers authenticate in another way".to_owned();
        let finding = Finding {
            subject: Subject::Security,
            verdict: Verdict::Changed,
            what,
            old: Some(old),
            new: Some(new),
        };
        found.note(&Spot::new(Side::Request, format!("security scheme {name}")), finding);
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
                    let word = |key: &str| parameter.get(key).and_then(Value::as_str).unwrap_or_default();
                    let name = format!("{} parameter `{}`", word("in"), word("name"));
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
    found: &mut Found,
) -> Result<(), SpecError> {
    let spot = Spot::new(Side::Request, name);
    deprecation(&spot, old, new, found);
    if old["security"] != new["security"] {
        let what = "the key is given in another way".to_owned();
        let (old, new) = (old.get("security"), new.get("security"));
        found.note(&spot, Finding { subject: Subject::Security, verdict: Verdict::Changed, what, old, new });
    }
    parameters(documents, &spot, &old["parameters"], &new["parameters"], found)?;
    let body = |document: &Value, operation: &Value| match operation.get("requestBody") {
        Some(body) => effective(document, body),
        None => Ok(Value::Null),
    };
    let (before, after) = (body(documents.old, old)?, body(documents.new, new)?);
    required(&spot, "the body", &before, &after, found);
    contents(documents, &spot, &before, &after, found)?;
    statuses(documents, name, &old["responses"], &new["responses"], found)
}

fn parameters(
    documents: &Documents<'_>,
    spot: &Spot,
    old: &Value,
    new: &Value,
    found: &mut Found,
) -> Result<(), SpecError> {
    let empty = Map::new();
    let (before, after) = (old.as_object().unwrap_or(&empty), new.as_object().unwrap_or(&empty));
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        let what = format!("the {name} is gone");
        let finding =
            Finding { subject: Subject::Parameter, verdict: Verdict::Removed, what, old: None, new: None };
        found.note(spot, finding);
    }
    for (name, new) in after {
        let Some(old) = before.get(name) else {
            let is_required = new.get("required") == Some(&Value::Bool(true));
            let (verdict, what) = if is_required {
                (Verdict::Narrowed, format!("the {name} is new, and required"))
            } else {
                (Verdict::Added, format!("the {name} is new"))
            };
            found.note(spot, Finding { subject: Subject::Parameter, verdict, what, old: None, new: None });
            continue;
        };
        required(spot, &format!("the {name}"), old, new, found);
        let inner = Spot::new(spot.side, format!("{}, {name}", spot.at));
        deprecation(&inner, old, new, found);
        if let (Some(old), Some(new)) = (old.get("schema"), new.get("schema")) {
            schema::compare(documents, &inner, old, new, found)?;
        }
    }
    Ok(())
}

fn required(spot: &Spot, thing: &str, old: &Value, new: &Value, found: &mut Found) {
    let is_required = |value: &Value| value.get("required") == Some(&Value::Bool(true));
    let (verdict, what) = match (is_required(old), is_required(new)) {
        (false, true) => (Verdict::Narrowed, format!("{thing} is required now")),
        (true, false) => (Verdict::Widened, format!("{thing} is optional now")),
        _ => return,
    };
    found.note(spot, Finding { subject: Subject::Requiredness, verdict, what, old: None, new: None });
}

/// Whether something is advised against since, or not any more.
pub(super) fn deprecation(spot: &Spot, old: &Value, new: &Value, found: &mut Found) {
    let is_deprecated = |value: &Value| value.get("deprecated") == Some(&Value::Bool(true));
    let (verdict, what) = match (is_deprecated(old), is_deprecated(new)) {
        (false, true) => (Verdict::Added, "is deprecated now"),
        (true, false) => (Verdict::Removed, "is not deprecated any more"),
        _ => return,
    };
    let what = what.to_owned();
    found.note(spot, Finding { subject: Subject::Deprecation, verdict, what, old: None, new: None });
}

fn statuses(
    documents: &Documents<'_>,
    name: &str,
    old: &Value,
    new: &Value,
    found: &mut Found,
) -> Result<(), SpecError> {
    let empty = Map::new();
    let (before, after) = (old.as_object().unwrap_or(&empty), new.as_object().unwrap_or(&empty));
    let spot = Spot::new(Side::Response, name);
    for status in before.keys().filter(|status| !after.contains_key(*status)) {
        let what = format!("status {status} is gone");
        let finding =
            Finding { subject: Subject::Status, verdict: Verdict::Removed, what, old: None, new: None };
        // Callers wait for the success that was documented.
        let effect = if status.starts_with('2') { Effect::Breaks } else { Effect::Harmless };
        found.note_as(effect, &spot, finding);
    }
    for (status, new) in after {
        let Some(old) = before.get(status) else {
            let what = format!("status {status} is new");
            let finding =
                Finding { subject: Subject::Status, verdict: Verdict::Added, what, old: None, new: None };
            found.note(&spot, finding);
            continue;
        };
        let inner = Spot::new(Side::Response, format!("{name}, status {status}"));
        let (old, new) = (effective(documents.old, old)?, effective(documents.new, new)?);
        contents(documents, &inner, &old, &new, found)?;
    }
    Ok(())
}

fn contents(
    documents: &Documents<'_>,
    spot: &Spot,
    old: &Value,
    new: &Value,
    found: &mut Found,
) -> Result<(), SpecError> {
    let empty = Map::new();
    let of = |value: &'_ Value| value.get("content").and_then(Value::as_object).cloned();
    let (before, after) = (of(old).unwrap_or_else(|| empty.clone()), of(new).unwrap_or(empty));
    let kinds = before.keys().chain(after.keys().filter(|kind| !before.contains_key(*kind)));
    for kind in kinds {
        let (verdict, what) = match (before.get(kind), after.get(kind)) {
            (Some(old), Some(new)) => {
                if let (Some(old), Some(new)) = (old.get("schema"), new.get("schema")) {
                    schema::compare(documents, spot, old, new, found)?;
                }
                continue;
            }
            (Some(_), None) => (Verdict::Removed, format!("`{kind}` is gone")),
            (None, _) => (Verdict::Added, format!("`{kind}` is new")),
        };
        found.note(spot, Finding { subject: Subject::ContentType, verdict, what, old: None, new: None });
    }
    Ok(())
}
