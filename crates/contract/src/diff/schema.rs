//! Comparison of schemas: fields, types, values, patterns, defaults.

use serde_json::Value;

use super::context::{ChangeSet, Documents, Location, component_of, effective, flipped, is_set, pairs};
use super::operations::deprecation;
use super::{Subject, Verdict, bounds};
use crate::digit_pattern;
use crate::{SpecError, canonical_json};

/// Compares two schemas. When both refer to the same component, only the keywords beside the reference are compared: the
/// component is compared by itself.
pub(super) fn compare(
    documents: &Documents<'_>,
    location: &Location,
    old: &Value,
    new: &Value,
    changes: &mut ChangeSet,
) -> Result<(), SpecError> {
    match (component_of(old), component_of(new)) {
        (Some(before), Some(after)) if before == after => {
            annotations(location, old, new, changes);
            Ok(())
        }
        (None, None) => compare_inline(documents, location, old, new, changes),
        (before, after) => {
            let pair = (before.unwrap_or_default().to_owned(), after.unwrap_or_default().to_owned());
            if location.in_progress.contains(&pair) {
                return Ok(());
            }
            let mut inner = location.clone();
            inner.in_progress.push(pair);
            let (old, new) = (effective(documents.old, old)?, effective(documents.new, new)?);
            compare_inline(documents, &inner, &old, &new, changes)
        }
    }
}

fn compare_inline(
    documents: &Documents<'_>,
    location: &Location,
    old: &Value,
    new: &Value,
    changes: &mut ChangeSet,
) -> Result<(), SpecError> {
    if !kind(location, old, new, changes) {
        return Ok(());
    }
    annotations(location, old, new, changes);
    values(location, old, new, changes);
    bounds::compare(location, old, new, changes);
    pattern(location, old, new, changes);
    opaque_keywords(location, old, new, changes);
    alternatives(location, old, new, changes);
    fields(documents, location, old, new, changes)?;
    if let (Some(old), Some(new)) = (old.get("items"), new.get("items")) {
        compare(documents, &location.items(), old, new, changes)?;
    }
    Ok(())
}

/// Compares the keywords that may stand beside a reference and do not constrain values.
fn annotations(location: &Location, old: &Value, new: &Value, changes: &mut ChangeSet) {
    deprecation(location, old, new, changes);
    let (before, after) = (old.get("default"), new.get("default"));
    let (verdict, summary) = match (before, after) {
        (Some(before), Some(after)) if before != after => {
            (Verdict::Changed, format!("default {before} becomes {after}"))
        }
        (None, Some(after)) => (Verdict::Added, format!("default {after} is new")),
        (Some(before), None) => (Verdict::Removed, format!("default {before} is gone")),
        _ => return errors(location, old, new, changes),
    };
    changes.record(location, Subject::Default, verdict, summary);
    errors(location, old, new, changes);
}

/// Compares `x-error`, the error that a field is reported with.
fn errors(location: &Location, old: &Value, new: &Value, changes: &mut ChangeSet) {
    for key in ["param", "code"] {
        let error_member = |schema: &'_ Value| schema.pointer(&format!("/x-error/{key}")).cloned();
        let (before, after) = (error_member(old), error_member(new));
        if before == after {
            continue;
        }
        let shown =
            |value: &Option<Value>| value.as_ref().map_or_else(|| "none".to_owned(), Value::to_string);
        let summary = format!("the error's `{key}` {} becomes {}", shown(&before), shown(&after));
        changes.record(location, Subject::Error, Verdict::Changed, summary);
    }
}

/// Compares type, nullability and format; returns whether the types overlap.
fn kind(location: &Location, old: &Value, new: &Value, changes: &mut ChangeSet) -> bool {
    let text =
        |schema: &Value, key: &str| schema.get(key).and_then(Value::as_str).unwrap_or("any").to_owned();
    let (before, after) = (text(old, "type"), text(new, "type"));
    if before != after {
        let verdict = match (before.as_str(), after.as_str()) {
            ("integer", "number") | (_, "any") => Verdict::Widened,
            ("number", "integer") | ("any", _) => Verdict::Narrowed,
            _ => Verdict::Changed,
        };
        let summary = format!("type {before} becomes {after}");
        changes.record(location, Subject::Type, verdict, summary);
        if verdict == Verdict::Changed {
            return false;
        }
    }
    match flipped(is_set(old, "nullable"), is_set(new, "nullable")) {
        Some(true) => changes.record(location, Subject::Type, Verdict::Widened, "may be null now"),
        Some(false) => changes.record(location, Subject::Type, Verdict::Narrowed, "may not be null any more"),
        None => {}
    }
    format(location, &text(old, "format"), &text(new, "format"), changes);
    true
}

fn format(location: &Location, before: &str, after: &str, changes: &mut ChangeSet) {
    let verdict = match (before, after) {
        _ if before == after => return,
        ("int32", "int64") | ("float", "double") | (_, "any") => Verdict::Widened,
        ("int64", "int32") | ("double", "float") | ("any", _) => Verdict::Narrowed,
        _ => Verdict::Changed,
    };
    let summary = format!("format {before} becomes {after}");
    // Reported as a bound: it restricts the type, with the same effect on callers as a bound.
    changes.record(location, Subject::Bound, verdict, summary);
}

fn values(location: &Location, old: &Value, new: &Value, changes: &mut ChangeSet) {
    let list = |schema: &'_ Value| schema.get("enum").and_then(Value::as_array).cloned();
    let shown = |values: &[Value]| values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
    match (list(old), list(new)) {
        (None, None) => {}
        (None, Some(values)) => {
            let summary = format!("only {} from now on", shown(&values));
            changes.record(location, Subject::Value, Verdict::Narrowed, summary);
        }
        (Some(values), None) => {
            let summary = format!("not only {} any more", shown(&values));
            changes.record(location, Subject::Value, Verdict::Widened, summary);
        }
        (Some(before), Some(after)) => {
            for value in before.iter().filter(|value| !after.contains(value)) {
                let summary = format!("the value {value} is gone");
                changes.record(location, Subject::Value, Verdict::Removed, summary);
            }
            for value in after.iter().filter(|value| !before.contains(value)) {
                let summary = format!("the value {value} is new");
                changes.record(location, Subject::Value, Verdict::Added, summary);
            }
        }
    }
}

fn pattern(location: &Location, old: &Value, new: &Value, changes: &mut ChangeSet) {
    let (before, after) = (old.get("pattern"), new.get("pattern"));
    let (verdict, summary) = match (before.and_then(Value::as_str), after.and_then(Value::as_str)) {
        (None, None) => return,
        (None, Some(pattern)) => (Verdict::Narrowed, format!("the pattern `{pattern}` is new")),
        (Some(pattern), None) => (Verdict::Widened, format!("the pattern `{pattern}` is gone")),
        (Some(before), Some(after)) if before == after => return,
        (Some(before), Some(after)) => {
            match (digit_pattern::numbers(before), digit_pattern::numbers(after)) {
                (Some(was), Some(is)) if was == is => return,
                (Some(was), Some(is)) => {
                    let verdict = if was.is_subset(&is) {
                        Verdict::Widened
                    } else if is.is_subset(&was) {
                        Verdict::Narrowed
                    } else {
                        Verdict::Changed
                    };
                    (
                        verdict,
                        format!(
                            "{} becomes {}",
                            digit_pattern::format_ranges(&was),
                            digit_pattern::format_ranges(&is)
                        ),
                    )
                }
                _ => (Verdict::Changed, format!("the pattern `{before}` becomes `{after}`")),
            }
        }
    };
    changes.record(location, Subject::Pattern, verdict, summary);
}

/// Keywords whose addition and removal can be judged, but not their change.
fn opaque_keywords(location: &Location, old: &Value, new: &Value, changes: &mut ChangeSet) {
    for keyword in ["multipleOf", "uniqueItems", "not"] {
        let says =
            |schema: &'_ Value| schema.get(keyword).filter(|value| **value != Value::Bool(false)).cloned();
        let (before, after) = (says(old), says(new));
        let (verdict, summary) = match (&before, &after) {
            (None, Some(_)) => (Verdict::Narrowed, format!("`{keyword}` is new")),
            (Some(_), None) => (Verdict::Widened, format!("`{keyword}` is gone")),
            (Some(before), Some(after)) if canonical_json(before) != canonical_json(after) => {
                (Verdict::Changed, format!("`{keyword}` is another"))
            }
            _ => continue,
        };
        changes.record(location, Subject::Bound, verdict, summary);
    }
}

fn alternatives(location: &Location, old: &Value, new: &Value, changes: &mut ChangeSet) {
    for keyword in ["oneOf", "anyOf", "allOf"] {
        let list = |schema: &Value| -> Vec<String> {
            let parts = schema.get(keyword).and_then(Value::as_array).cloned().unwrap_or_default();
            parts
                .iter()
                .map(|part| component_of(part).map_or_else(|| canonical_json(part), str::to_owned))
                .collect()
        };
        // One more part of an `allOf` is one more condition.
        let (removed, added) = match keyword {
            "allOf" => (Verdict::Widened, Verdict::Narrowed),
            _ => (Verdict::Removed, Verdict::Added),
        };
        let (before, after) = (list(old), list(new));
        for part in before.iter().filter(|part| !after.contains(part)) {
            let summary = format!("`{keyword}` has `{part}` no more");
            changes.record(location, Subject::Alternative, removed, summary);
        }
        for part in after.iter().filter(|part| !before.contains(part)) {
            let summary = format!("`{keyword}` has `{part}` too");
            changes.record(location, Subject::Alternative, added, summary);
        }
    }
}

fn fields(
    documents: &Documents<'_>,
    location: &Location,
    old: &Value,
    new: &Value,
    changes: &mut ChangeSet,
) -> Result<(), SpecError> {
    let closed = |schema: &Value| schema.get("additionalProperties") == Some(&Value::Bool(false));
    if let Some(is_closed) = flipped(closed(old), closed(new)) {
        let (verdict, now) =
            if is_closed { (Verdict::Narrowed, "refused") } else { (Verdict::Widened, "allowed") };
        let summary = format!("keys that are not listed are {now} now");
        changes.record(location, Subject::Bound, verdict, summary);
    }
    let needs = |schema: &Value, name: &str| {
        let names = schema.get("required").and_then(Value::as_array);
        names.is_some_and(|names| names.iter().any(|entry| entry.as_str() == Some(name)))
    };
    for (name, old_schema, new_schema) in pairs(&old["properties"], &new["properties"]) {
        let inner = location.field(name);
        match (old_schema, new_schema) {
            (Some(old_schema), Some(new_schema)) => {
                match flipped(needs(old, name), needs(new, name)) {
                    Some(true) => {
                        changes.record(&inner, Subject::Requiredness, Verdict::Narrowed, "is required now");
                    }
                    Some(false) => {
                        changes.record(&inner, Subject::Requiredness, Verdict::Widened, "is optional now");
                    }
                    None => {}
                }
                compare(documents, &inner, old_schema, new_schema, changes)?;
            }
            (Some(_), None) => {
                changes.record(&inner, Subject::Field, Verdict::Removed, "the field is gone");
            }
            (None, _) => added(&inner, needs(new, name), changes),
        }
    }
    Ok(())
}

/// A new field narrows what may be sent when it is required: a request without it is refused.
fn added(location: &Location, is_required: bool, changes: &mut ChangeSet) {
    let (verdict, summary) = match (is_required, location.direction) {
        (true, super::Direction::Request) => (Verdict::Narrowed, "the field is new, and required"),
        (true, super::Direction::Response) => (Verdict::Added, "the field is new, and always there"),
        (false, _) => (Verdict::Added, "the field is new"),
    };
    changes.record(location, Subject::Field, verdict, summary);
}
