//! What a refusal says (spec 7), also where it is flat, nested otherwise, or no JSON at all.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{first_json, text_of};

/// Of a body that is no JSON, this many characters make the message.
const EXCERPT: usize = 200;

/// The error of a refusal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiError {
    /// For people.
    pub message: String,
    /// The kind, such as `invalid_request_error`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The parameter concerned, such as `seconds`.
    pub param: Option<String>,
    /// For programs, such as `invalid_duration`.
    pub code: Option<String>,
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.message.is_empty() { "no reason given" } else { &self.message })?;
        match (&self.code, &self.param) {
            (Some(code), Some(param)) => write!(f, " ({code}, {param})"),
            (Some(word), None) | (None, Some(word)) => write!(f, " ({word})"),
            (None, None) => Ok(()),
        }
    }
}

impl ApiError {
    /// Reads a body. `None` when it holds no error that a service would write: no JSON, or nothing of the kind in it.
    #[must_use]
    pub fn decode(body: &str) -> Option<Self> {
        let value = first_json(body.trim_start_matches('\u{feff}').trim_start())?;
        Some(Self::of_value(&value, 0)).filter(|error| *error != Self::default())
    }

    /// The error in a JSON value: its own fields, or those of what it wraps.
    pub(super) fn of_value(value: &Value, depth: usize) -> Self {
        const WRAPPERS: [&str; 4] = ["error", "errors", "detail", "data"];
        if depth > 4 {
            return Self::default();
        }
        match value {
            Value::String(text) => Self { message: text.trim().to_owned(), ..Self::default() },
            Value::Array(items) => {
                items.first().map(|item| Self::of_value(item, depth + 1)).unwrap_or_default()
            }
            Value::Object(object) => {
                let first = |names: &[&str]| names.iter().find_map(|name| text_of(object.get(*name)?));
                let own = Self {
                    message: first(&["message", "msg", "error_description", "fail_reason", "title"])
                        .unwrap_or_default(),
                    kind: first(&["type"]),
                    param: first(&["param", "parameter"]),
                    code: first(&["code", "error_code"]),
                };
                let wrapped = WRAPPERS
                    .iter()
                    .filter_map(|name| object.get(*name))
                    .map(|inner| Self::of_value(inner, depth + 1))
                    .find(|inner| *inner != Self::default());
                match wrapped {
                    Some(inner) => Self {
                        message: if inner.message.is_empty() { own.message } else { inner.message },
                        kind: inner.kind.or(own.kind),
                        param: inner.param.or(own.param),
                        code: inner.code.or(own.code),
                    },
                    None => own,
                }
            }
            _ => Self::default(),
        }
    }
}

/// The words of a page or another text: no tags, no runs of space, not long.
pub(crate) fn readable(body: &str) -> String {
    let mut words = String::new();
    let mut in_tag = false;
    for c in body.chars().take(16 * EXCERPT) {
        match c {
            '<' => in_tag = true,
            '>' if in_tag => {
                in_tag = false;
                words.push(' ');
            }
            _ if in_tag => {}
            c if c.is_whitespace() || c.is_control() => words.push(' '),
            c => words.push(c),
        }
    }
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().nth(EXCERPT).is_none() {
        return words;
    }
    words.chars().take(EXCERPT).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::{ApiError, readable};

    fn error(message: &str, code: Option<&str>) -> ApiError {
        ApiError { message: message.into(), code: code.map(Into::into), ..ApiError::default() }
    }

    #[test]
    fn errors_are_found_wherever_services_put_them() {
        for (body, expected) in [
            (r#"{"message":"flat","code":"c"}"#, error("flat", Some("c"))),
            (r#"{"error":"text"}"#, error("text", None)),
            (r#"{"error":{"error":{"message":"deep","code":7}}}"#, error("deep", Some("7"))),
            (r#"{"code":"outer","error":{"message":"inner"}}"#, error("inner", Some("outer"))),
            (r#"{"detail":[{"msg":"field required"}]}"#, error("field required", None)),
            (r#"{"error":null,"message":"flat"}"#, error("flat", None)),
            (r#""just text""#, error("just text", None)),
        ] {
            assert_eq!(ApiError::decode(body), Some(expected), "{body}");
        }
    }

    #[test]
    fn what_no_service_wrote_is_no_error() {
        for body in
            ["", "{}", "[]", "null", "17", r#"{"errors":[]}"#, "<html>502</html>", r#"{"error":{"message":"#]
        {
            assert_eq!(ApiError::decode(body), None, "{body}");
        }
    }

    #[test]
    fn pages_become_a_line() {
        for (body, line) in [
            ("<html><head><title>502 Bad Gateway</title></head>\n<body></body></html>", "502 Bad Gateway"),
            ("upstream\u{1b}[31m  failed", "upstream [31m failed"),
            ("", ""),
        ] {
            assert_eq!(readable(body), line);
        }
        assert_eq!(readable(&"é".repeat(10_000)).chars().count(), 201);
    }

    #[test]
    fn the_documents_own_form_is_read_whole() {
        let body = r#"{"error":{"message":"m","type":"invalid_request_error","param":"seconds","code":"invalid_duration"}}"#;
        let read = ApiError::decode(body).expect("an error");
        assert_eq!(read.kind.as_deref(), Some("invalid_request_error"));
        assert_eq!(read.to_string(), "m (invalid_duration, seconds)");
    }
}
