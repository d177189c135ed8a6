//! What a service's answers mean, as its description says ([`crate::Contract`]).
//!
//! Nothing here knows a service: where an id, a state or an error stands, and in which words, is data (`x-tasks`). Invariant: an answer to a
//! submission is a refusal only where a case of `refusals` holds, and never if it has an id where ids stand.

mod asked;
mod duplicate;
mod error;
mod listing;
mod numbers;
mod refusal;
mod task;
#[cfg(feature = "validate")]
mod write;

pub use error::ErrorObject;
pub use refusal::Refusal;
pub use task::Task;
#[cfg(feature = "validate")]
pub use write::{TaskToWrite, Written};

use serde_json::Value;

use crate::spec::Pointer;

/// A body that is JSON as a whole.
fn json(body: &str) -> Option<Value> {
    serde_json::from_str(body.trim_start_matches('\u{feff}')).ok()
}

/// A string, a number or a boolean as text; `None` for an empty string and other types.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

/// The text at the first of these places that has one.
fn text_at(places: &[Pointer], answer: &Value) -> Option<String> {
    places.iter().find_map(|place| text_of(place.get(answer)?))
}

/// The ids in an answer, each once, verbatim; a number as its digits.
fn ids(places: &[Pointer], answer: &Value) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for place in places {
        let id = match place.get(answer) {
            Some(Value::String(text)) if !text.trim().is_empty() => text.clone(),
            // The digits of a number that is too large for an integer are not known.
            Some(Value::Number(number)) if !number.is_f64() => number.to_string(),
            _ => continue,
        };
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}
