//! Comparison of the bounds of numbers, lengths and counts.

use std::cmp::Ordering;

use serde_json::Value;

use super::context::{ChangeSet, Location, is_set};
use super::{Subject, Verdict};

/// A keyword, the one that makes it exclusive, and whether a greater value allows more.
const BOUNDS: [(&str, Option<&str>, bool); 8] = [
    ("minimum", Some("exclusiveMinimum"), false),
    ("maximum", Some("exclusiveMaximum"), true),
    ("minLength", None, false),
    ("maxLength", None, true),
    ("minItems", None, false),
    ("maxItems", None, true),
    ("minProperties", None, false),
    ("maxProperties", None, true),
];

pub(super) fn compare(location: &Location, old: &Value, new: &Value, changes: &mut ChangeSet) {
    for (keyword, exclusive, greater_is_wider) in BOUNDS {
        let is_exclusive = |schema: &Value| exclusive.is_some_and(|keyword| is_set(schema, keyword));
        let before = old.get(keyword).filter(|value| value.is_number());
        let after = new.get(keyword).filter(|value| value.is_number());
        let shown = |value: &Value, schema: &Value| {
            format!("{value}{}", if is_exclusive(schema) { " (exclusive)" } else { "" })
        };
        let (verdict, summary) = match (before, after) {
            (None, None) => continue,
            (None, Some(bound)) => (Verdict::Narrowed, format!("`{keyword}` {} is new", shown(bound, new))),
            (Some(bound), None) => (Verdict::Widened, format!("`{keyword}` {} is gone", shown(bound, old))),
            (Some(before), Some(after)) => {
                let ordering = before.as_f64().partial_cmp(&after.as_f64()).unwrap_or(Ordering::Equal);
                // At the same number, the inclusive bound allows more.
                let is_wider = match ordering {
                    Ordering::Less => greater_is_wider,
                    Ordering::Greater => !greater_is_wider,
                    Ordering::Equal if is_exclusive(old) == is_exclusive(new) => continue,
                    Ordering::Equal => is_exclusive(old),
                };
                let summary = format!("`{keyword}` {} becomes {}", shown(before, old), shown(after, new));
                (if is_wider { Verdict::Widened } else { Verdict::Narrowed }, summary)
            }
        };
        changes.record(location, Subject::Bound, verdict, summary);
    }
}
