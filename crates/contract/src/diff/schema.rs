//! Schemas: fields, types, values, patterns, defaults.

use serde_json::{Map, Value};

use super::found::{Documents, Finding, Found, Spot, component_of, effective};
use super::operations::deprecation;
use super::{Subject, Verdict, bounds};
use crate::{SpecError, canonical_json, digits};

/// Compares two schemas. Where both refer to the same component only what stands beside the reference is compared: the
/// component has a comparison of its own.
pub(super) fn compare(
    documents: &Documents<'_>,
    spot: &Spot,
    old: &Value,
    new: &Value,
    found: &mut Found,
) -> Result<(), SpecError> {
    match (component_of(old), component_of(new)) {
        (Some(before), Some(after)) if before == after => {
            remarks(spot, old, new, found);
            Ok(())
        }
        (None, None) => compare_written_out(documents, spot, old, new, found),
        (before, after) => {
            let pair = (before.unwrap_or_default().to_owned(), after.unwrap_or_default().to_owned());
            if spot.within.contains(&pair) {
                return Ok(());
            }
            let mut inner = spot.clone();
            inner.within.push(pair);
            let (old, new) = (effective(documents.old, old)?, effective(documents.new, new)?);
            compare_written_out(documents, &inner, &old, &new, found)
        }
    }
}

fn compare_written_out(
    documents: &Documents<'_>,
    spot: &Spot,
    old: &Value,
    new: &Value,
    found: &mut Found,
) -> Result<(), SpecError> {
    if !kind(spot, old, new, found) {
        return Ok(());
    }
    remarks(spot, old, new, found);
    values(spot, old, new, found);
    bounds::compare(spot, old, new, found);
    pattern(spot, old, new, found);
    undecidable(spot, old, new, found);
    alternatives(spot, old, new, found);
    fields(documents, spot, old, new, found)?;
    if let (Some(old), Some(new)) = (old.get("items"), new.get("items")) {
        compare(documents, &spot.items(), old, new, found)?;
    }
    Ok(())
}

/// What may stand beside a reference and changes nothing about which values are allowed.
fn remarks(spot: &Spot, old: &Value, new: &Value, found: &mut Found) {
    deprecation(spot, old, new, found);
    let (before, after) = (old.get("default"), new.get("default"));
    let (verdict, what) = match (before, after) {
        (Some(before), Some(after)) if before != after => {
            (Verdict::Changed, format!("default {before} becomes {after}"))
        }
        (None, Some(after)) => (Verdict::Added, format!("default {after} is new")),
        (Some(before), None) => (Verdict::Removed, format!("default {before} is gone")),
        _ => return errors(spot, old, new, found),
    };
    found.note(spot, Finding { subject: Subject::Default, verdict, what, old: before, new: after });
    errors(spot, old, new, found);
}

/// The error that the field is reported with; its words may change.
fn errors(spot: &Spot, old: &Value, new: &Value, found: &mut Found) {
    for key in ["param", "code"] {
        let of = |schema: &'_ Value| schema.pointer(&format!("/x-error/{key}")).cloned();
        let (before, after) = (of(old), of(new));
        if before == after {
            continue;
        }
        let word = |value: &Option<Value>| value.as_ref().map_or_else(|| "none".to_owned(), Value::to_string);
        let what = format!("the error's `{key}` {} becomes {}", word(&before), word(&after));
        let verdict = Verdict::Changed;
        found.note(
            spot,
            Finding { subject: Subject::Error, verdict, what, old: before.as_ref(), new: after.as_ref() },
        );
    }
}

/// The type, null and the format; answers whether the types have anything in common.
fn kind(spot: &Spot, old: &Value, new: &Value, found: &mut Found) -> bool {
    let text =
        |schema: &Value, key: &str| schema.get(key).and_then(Value::as_str).unwrap_or("any").to_owned();
    let (before, after) = (text(old, "type"), text(new, "type"));
    if before != after {
        let verdict = match (before.as_str(), after.as_str()) {
            ("integer", "number") | (_, "any") => Verdict::Widened,
            ("number", "integer") | ("any", _) => Verdict::Narrowed,
            _ => Verdict::Changed,
        };
        let what = format!("type {before} becomes {after}");
        let (old, new) = (old.get("type"), new.get("type"));
        found.note(spot, Finding { subject: Subject::Type, verdict, what, old, new });
        if verdict == Verdict::Changed {
            return false;
        }
    }
    let nullable = |schema: &Value| schema.get("nullable") == Some(&Value::Bool(true));
    let change = match (nullable(old), nullable(new)) {
        (false, true) => Some((Verdict::Widened, "may be null now")),
        (true, false) => Some((Verdict::Narrowed, "may not be null any more")),
        _ => None,
    };
    if let Some((verdict, what)) = change {
        let what = what.to_owned();
        found.note(spot, Finding { subject: Subject::Type, verdict, what, old: None, new: None });
    }
    format(spot, &text(old, "format"), &text(new, "format"), found);
    true
}

fn format(spot: &Spot, before: &str, after: &str, found: &mut Found) {
    let verdict = match (before, after) {
        _ if before == after => return,
        ("int32", "int64") | ("float", "double") | (_, "any") => Verdict::Widened,
        ("int64", "int32") | ("double", "float") | ("any", _) => Verdict::Narrowed,
        _ => Verdict::Changed,
    };
    let what = format!("format {before} becomes {after}");
    // A width or a format bounds what the type allows, and is as harmless in an answer as a bound is.
    found.note(spot, Finding { subject: Subject::Bound, verdict, what, old: None, new: None });
}

fn values(spot: &Spot, old: &Value, new: &Value, found: &mut Found) {
    let list = |schema: &'_ Value| schema.get("enum").and_then(Value::as_array).cloned();
    let shown = |values: &[Value]| values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
    match (list(old), list(new)) {
        (None, None) => {}
        (None, Some(values)) => {
            let what = format!("only {} from now on", shown(&values));
            let new = new.get("enum");
            found.note(
                spot,
                Finding { subject: Subject::Value, verdict: Verdict::Narrowed, what, old: None, new },
            );
        }
        (Some(values), None) => {
            let what = format!("not only {} any more", shown(&values));
            let old = old.get("enum");
            found.note(
                spot,
                Finding { subject: Subject::Value, verdict: Verdict::Widened, what, old, new: None },
            );
        }
        (Some(before), Some(after)) => {
            for value in before.iter().filter(|value| !after.contains(value)) {
                let what = format!("the value {value} is gone");
                let verdict = Verdict::Removed;
                found.note(
                    spot,
                    Finding { subject: Subject::Value, verdict, what, old: Some(value), new: None },
                );
            }
            for value in after.iter().filter(|value| !before.contains(value)) {
                let what = format!("the value {value} is new");
                let verdict = Verdict::Added;
                found.note(
                    spot,
                    Finding { subject: Subject::Value, verdict, what, old: None, new: Some(value) },
                );
            }
        }
    }
}

fn pattern(spot: &Spot, old: &Value, new: &Value, found: &mut Found) {
    let (before, after) = (old.get("pattern"), new.get("pattern"));
    let (verdict, what) = match (before.and_then(Value::as_str), after.and_then(Value::as_str)) {
        (None, None) => return,
        (None, Some(pattern)) => (Verdict::Narrowed, format!("the pattern `{pattern}` is new")),
        (Some(pattern), None) => (Verdict::Widened, format!("the pattern `{pattern}` is gone")),
        (Some(before), Some(after)) if before == after => return,
        (Some(before), Some(after)) => match (digits::numbers(before), digits::numbers(after)) {
            (Some(was), Some(is)) if was == is => return,
            (Some(was), Some(is)) => {
                let verdict = if was.is_subset(&is) {
                    Verdict::Widened
                } else if is.is_subset(&was) {
                    Verdict::Narrowed
                } else {
                    Verdict::Changed
                };
                (verdict, format!("{} becomes {}", digits::shown(&was), digits::shown(&is)))
            }
            _ => (Verdict::Changed, format!("the pattern `{before}` becomes `{after}`")),
        },
    };
    found.note(spot, Finding { subject: Subject::Pattern, verdict, what, old: before, new: after });
}

/// Keywords of which only coming and going can be judged.
fn undecidable(spot: &Spot, old: &Value, new: &Value, found: &mut Found) {
    for keyword in ["multipleOf", "uniqueItems", "not"] {
        let says =
            |schema: &'_ Value| schema.get(keyword).filter(|value| **value != Value::Bool(false)).cloned();
        let (before, after) = (says(old), says(new));
        let (verdict, what) = match (&before, &after) {
            (None, Some(_)) => (Verdict::Narrowed, format!("`{keyword}` is new")),
            (Some(_), None) => (Verdict::Widened, format!("`{keyword}` is gone")),
            (Some(before), Some(after)) if canonical_json(before) != canonical_json(after) => {
                (Verdict::Changed, format!("`{keyword}` is another"))
            }
            _ => continue,
        };
        let (old, new) = (before.as_ref(), after.as_ref());
        found.note(spot, Finding { subject: Subject::Bound, verdict, what, old, new });
    }
}

fn alternatives(spot: &Spot, old: &Value, new: &Value, found: &mut Found) {
    for keyword in ["oneOf", "anyOf", "allOf"] {
        let list = |schema: &Value| -> Vec<String> {
            let parts = schema.get(keyword).and_then(Value::as_array).cloned().unwrap_or_default();
            parts
                .iter()
                .map(|part| component_of(part).map_or_else(|| canonical_json(part), str::to_owned))
                .collect()
        };
        // One more part of an `allOf` is one more condition.
        let (gone, come) = match keyword {
            "allOf" => (Verdict::Widened, Verdict::Narrowed),
            _ => (Verdict::Removed, Verdict::Added),
        };
        let (before, after) = (list(old), list(new));
        let subject = Subject::Alternative;
        for part in before.iter().filter(|part| !after.contains(part)) {
            let what = format!("`{keyword}` has `{part}` no more");
            found.note(spot, Finding { subject, verdict: gone, what, old: None, new: None });
        }
        for part in after.iter().filter(|part| !before.contains(part)) {
            let what = format!("`{keyword}` has `{part}` too");
            found.note(spot, Finding { subject, verdict: come, what, old: None, new: None });
        }
    }
}

fn fields(
    documents: &Documents<'_>,
    spot: &Spot,
    old: &Value,
    new: &Value,
    found: &mut Found,
) -> Result<(), SpecError> {
    let closed = |schema: &Value| schema.get("additionalProperties") == Some(&Value::Bool(false));
    let change = match (closed(old), closed(new)) {
        (false, true) => Some((Verdict::Narrowed, "keys that are not listed are refused now")),
        (true, false) => Some((Verdict::Widened, "keys that are not listed are allowed now")),
        _ => None,
    };
    if let Some((verdict, what)) = change {
        let what = what.to_owned();
        found.note(spot, Finding { subject: Subject::Bound, verdict, what, old: None, new: None });
    }
    let empty = Map::new();
    let of = |schema: &'_ Value| schema.get("properties").and_then(Value::as_object).cloned();
    let (before, after) = (of(old).unwrap_or_else(|| empty.clone()), of(new).unwrap_or(empty));
    let needs = |schema: &Value, name: &str| {
        let names = schema.get("required").and_then(Value::as_array);
        names.is_some_and(|names| names.iter().any(|one| one.as_str() == Some(name)))
    };
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        let what = "the field is gone".to_owned();
        let finding =
            Finding { subject: Subject::Field, verdict: Verdict::Removed, what, old: None, new: None };
        found.note(&spot.field(name), finding);
    }
    for (name, schema) in &after {
        let inner = spot.field(name);
        let Some(known) = before.get(name) else {
            added(&inner, schema, needs(new, name), found);
            continue;
        };
        let change = match (needs(old, name), needs(new, name)) {
            (false, true) => Some((Verdict::Narrowed, "is required now")),
            (true, false) => Some((Verdict::Widened, "is optional now")),
            _ => None,
        };
        if let Some((verdict, what)) = change {
            let what = what.to_owned();
            found.note(
                &inner,
                Finding { subject: Subject::Requiredness, verdict, what, old: None, new: None },
            );
        }
        compare(documents, &inner, known, schema, found)?;
    }
    Ok(())
}

/// A new field narrows what may be sent when it is required: a request without it is refused.
fn added(spot: &Spot, schema: &Value, is_required: bool, found: &mut Found) {
    let (verdict, what) = match (is_required, spot.side) {
        (true, super::Side::Request) => (Verdict::Narrowed, "the field is new, and required"),
        (true, super::Side::Response) => (Verdict::Added, "the field is new, and always there"),
        (false, _) => (Verdict::Added, "the field is new"),
    };
    let what = what.to_owned();
    found.note(spot, Finding { subject: Subject::Field, verdict, what, old: None, new: Some(schema) });
}
