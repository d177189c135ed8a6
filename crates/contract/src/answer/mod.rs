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

use crate::Contract;
use crate::spec::{IdPlace, Pointer};

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

impl Contract {
    /// The ids in an answer, each once, verbatim; a number as its digits.
    fn ids(&self, answer: &Value) -> Vec<String> {
        let mut ids: Vec<String> = Vec::new();
        for place in &self.tasks().id {
            let id = match place {
                IdPlace::Id(pointer) => match pointer.get(answer) {
                    Some(Value::String(text)) if !text.trim().is_empty() => Some(text.clone()),
                    // The digits of a number that is too large for an integer are not known.
                    Some(Value::Number(number)) if !number.is_f64() => Some(number.to_string()),
                    _ => None,
                },
                IdPlace::PollUrl { poll_url } => {
                    poll_url.get(answer).and_then(Value::as_str).and_then(|url| self.id_in_poll_url(url))
                }
            };
            ids.extend(id.filter(|id| !ids.contains(id)));
        }
        ids
    }

    /// The id for which a poll is this URL. `None` for any other URL: a poll elsewhere would say that there is no such task.
    fn id_in_poll_url(&self, url: &str) -> Option<String> {
        let (before, after) = self.poll().around_parameter()?;
        let has_slashes = self.poll().parameters.iter().any(|parameter| parameter.has_slashes);
        let id_below = |server| url.strip_prefix(server)?.strip_prefix(before)?.strip_suffix(after);
        let id = self.servers().find_map(id_below)?;
        (id.split('/').all(is_plain_segment) && (has_slashes || !id.contains('/'))).then(|| id.to_owned())
    }
}

/// Whether a text is the same as a segment of a path: it needs no encoding (RFC 3986, 2.3), and leads to no other place.
fn is_plain_segment(text: &str) -> bool {
    !matches!(text, "" | "." | "..")
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
}
