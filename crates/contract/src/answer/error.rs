//! The error that an answer has: its words, where the description says that they stand.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::spec::{ErrorPlaces, Pointer};

/// The error of a refusal or of a failed task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorObject {
    /// The message for people; may be empty.
    pub message: String,
    /// The kind, such as `invalid_request_error`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The parameter concerned, such as `seconds`.
    pub param: Option<String>,
    /// The machine-readable code, such as `invalid_duration`.
    pub code: Option<String>,
}

impl fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.message.is_empty() { "no reason given" } else { &self.message })?;
        match (&self.code, &self.param) {
            (Some(code), Some(param)) => write!(f, " ({code}, {param})"),
            (Some(name), None) | (None, Some(name)) => write!(f, " ({name})"),
            (None, None) => Ok(()),
        }
    }
}

impl ErrorObject {
    /// The same error with each text replaced.
    pub fn map(self, replace: impl Fn(&str) -> String) -> Self {
        let optional = |text: Option<String>| text.as_deref().map(&replace);
        Self {
            message: replace(&self.message),
            kind: optional(self.kind),
            param: optional(self.param),
            code: optional(self.code),
        }
    }

    /// Whether these are all the words that an answer has.
    pub(super) fn is_all_of(&self, answer: &Value) -> bool {
        match answer {
            Value::Object(members) => members.values().all(|member| self.is_all_of(member)),
            Value::Array(items) => items.iter().all(|item| self.is_all_of(item)),
            Value::Null => true,
            scalar => text_of(scalar).is_none_or(|text| {
                let own = [Some(&self.message), self.kind.as_ref(), self.param.as_ref(), self.code.as_ref()];
                own.into_iter().flatten().any(|own| *own == text)
            }),
        }
    }
}

impl ErrorPlaces {
    /// The error that stands there.
    pub(crate) fn read(&self, answer: &Value) -> ErrorObject {
        let first = |places: &[Pointer]| places.iter().find_map(|place| text_of(place.get(answer)?));
        ErrorObject {
            message: first(&self.message).unwrap_or_default(),
            kind: first(&self.kind),
            param: first(&self.param),
            code: first(&self.code),
        }
    }
}

/// A string or a number as text. A boolean, as in `"error": false`, says nothing.
fn text_of(value: &Value) -> Option<String> {
    if value.is_boolean() { None } else { super::text_of(value) }
}
