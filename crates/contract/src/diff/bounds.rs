//! Bounds of numbers, lengths and counts: moved inwards or outwards.

use std::cmp::Ordering;

use serde_json::Value;

use super::found::{Finding, Found, Spot};
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

pub(super) fn compare(spot: &Spot, old: &Value, new: &Value, found: &mut Found) {
    for (keyword, exclusive, greater_is_wider) in BOUNDS {
        let is_exclusive =
            |schema: &Value| exclusive.is_some_and(|word| schema.get(word) == Some(&Value::Bool(true)));
        let before = old.get(keyword).filter(|value| value.is_number());
        let after = new.get(keyword).filter(|value| value.is_number());
        let words = |value: &Value, schema: &Value| {
            format!("{value}{}", if is_exclusive(schema) { " (exclusive)" } else { "" })
        };
        let (verdict, what) = match (before, after) {
            (None, None) => continue,
            (None, Some(bound)) => (Verdict::Narrowed, format!("`{keyword}` {} is new", words(bound, new))),
            (Some(bound), None) => (Verdict::Widened, format!("`{keyword}` {} is gone", words(bound, old))),
            (Some(before), Some(after)) => {
                let moved = before.as_f64().partial_cmp(&after.as_f64()).unwrap_or(Ordering::Equal);
                // At the same number, the inclusive bound allows more.
                let wider = match moved {
                    Ordering::Less => greater_is_wider,
                    Ordering::Greater => !greater_is_wider,
                    Ordering::Equal if is_exclusive(old) == is_exclusive(new) => continue,
                    Ordering::Equal => is_exclusive(old),
                };
                let what = format!("`{keyword}` {} becomes {}", words(before, old), words(after, new));
                (if wider { Verdict::Widened } else { Verdict::Narrowed }, what)
            }
        };
        found.note(spot, Finding { subject: Subject::Bound, verdict, what, old: before, new: after });
    }
}
