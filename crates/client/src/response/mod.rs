//! Lenient decoding of responses: unknown status values, seconds or milliseconds, missing, nested and premature fields, HTML.
//!
//! Every accepted form is normalized to one type. Nothing here panics. Invariant: what is read stands in a place that `places` lists; the one
//! exception is `duplicate`.

mod duplicate;
mod error;
mod places;
mod task;
mod time;

pub(crate) use duplicate::may_name_duplicate;
pub use error::ErrorObject;
pub(crate) use error::plain_text;
pub use task::{Status, TaskFailure, TaskResponse};
pub(crate) use time::{poll_after, retry_after};

use serde_json::Value;

/// JSON responses are read up to this many bytes, beside what they repeat of a request ([`max_response_bytes`]).
pub const MAX_RESPONSE_BYTES: usize = 1024 * 1024;

/// What the response to a request is read up to: it may repeat the request, with its images, and with each character escaped.
#[must_use]
pub(crate) const fn max_response_bytes(request_bytes: usize) -> usize {
    MAX_RESPONSE_BYTES.saturating_add(request_bytes.saturating_mul(2))
}

/// Bytes of a request that the response to a poll may repeat: images of 23 MiB in Base64, which is what this program sends at most.
pub(crate) const MAX_REPEATED_REQUEST_BYTES: usize = 32 * 1024 * 1024;

/// A body that is JSON as a whole.
fn json(body: &str) -> Option<Value> {
    serde_json::from_str(body.trim_start_matches('\u{feff}')).ok()
}

/// The ids in a body, where those of tasks stand.
pub(crate) fn task_ids(body: &str) -> Vec<String> {
    json(body).map(|answer| places::ids(&answer)).unwrap_or_default()
}

/// A string or a number as text; `None` for an empty string and other types.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
