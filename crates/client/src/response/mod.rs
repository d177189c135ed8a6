//! Lenient decoding of responses: unknown status values, seconds or milliseconds, missing, nested and premature fields, HTML.
//!
//! Every accepted form is normalized to one type, and the body is kept as received. Nothing here panics. Invariant: a task id
//! that is in a body is found, because an id that is missed is a task that is paid for and unknown.

mod error;
mod find_id;
mod header_id;
mod json;
mod rate_limit;
mod repaired_json;
mod suspected_id;
mod task;
mod time;

pub use error::ErrorObject;
pub(crate) use error::{is_binary, plain_text};
pub(crate) use find_id::find_new_task_id;
pub use find_id::find_task_id;
pub(crate) use header_id::{id_in_headers, may_trailers_name_task};
pub use rate_limit::RateLimit;
pub(crate) use task::Call;
pub use task::{Status, TaskFailure, TaskResponse};
pub(crate) use time::retry_after;

use serde_json::Value;

use json::Json;

/// JSON responses are read up to this many bytes, beside what they repeat of a request ([`max_response_bytes`]).
pub const MAX_RESPONSE_BYTES: usize = 1024 * 1024;

/// What the response to a request is read up to: it may repeat the request, with its pictures, and with each character escaped.
#[must_use]
pub(crate) const fn max_response_bytes(request_bytes: usize) -> usize {
    MAX_RESPONSE_BYTES.saturating_add(request_bytes.saturating_mul(2))
}

/// Bytes of a request that the response to a poll may repeat: pictures of 23 MiB in Base64, which is what this program sends at most.
const MAX_REPEATED_REQUEST_BYTES: usize = 32 * 1024 * 1024;

/// The first JSON value in a text, ignoring what follows it. A member that is almost JSON hides no task.
fn first_json(text: &str) -> Option<Value> {
    Json::first_in(text).map(|json| json.value)
}

/// Whether a text begins with a JSON value.
pub(crate) fn is_json(text: &str) -> bool {
    first_json(text.trim_start()).is_some()
}

/// A string or a number as text; `None` for an empty string and other types.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
