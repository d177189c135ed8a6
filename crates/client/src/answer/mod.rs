//! Reading what services really send: unknown words, seconds or milliseconds, missing, nested and premature fields, HTML.
//!
//! Lenient in, strict out: whatever comes, it is brought into one form here, and the text is kept as it came. Nothing here
//! panics, and a task id that is in a body is found.

mod error;
mod find_id;
mod task;
mod time;

pub use error::ApiError;
pub(crate) use error::readable;
pub use find_id::find_task_id;
pub use task::{Status, TaskAnswer, TaskFailure};
pub(crate) use time::retry_after;

use serde_json::Value;

/// Answers in JSON are read up to this many bytes.
pub const MAX_ANSWER: usize = 1024 * 1024;

/// The first JSON value in a text, whatever follows it.
fn first_json(text: &str) -> Option<Value> {
    serde_json::Deserializer::from_str(text).into_iter::<Value>().next()?.ok()
}

/// Whether a text is JSON, as far as it goes.
pub(crate) fn is_json(text: &str) -> bool {
    first_json(text.trim_start()).is_some()
}

/// A string or a number as text; `None` for what is empty.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
