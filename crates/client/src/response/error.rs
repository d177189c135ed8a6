//! API errors (spec 7) in error responses, also when flat, nested differently, or not JSON.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::places::{ERRORS, MESSAGES};
use super::{json, text_of};

/// Bytes of a body that are shown.
const MAX_SHOWN_BYTES: usize = 500;

/// The error object of an error response.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorObject {
    /// The message for people.
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
    /// Decodes a body. `None` when it is not JSON or contains no error.
    #[must_use]
    pub fn decode(body: &str) -> Option<Self> {
        Some(Self::from_value(&json(body)?, 0)).filter(|error| *error != Self::default())
    }

    /// Whether a body is an error as the service sends it (spec 7): an object whose `error` is an object with the texts `message` and `type`.
    /// Gateways send pages, texts, or objects without one of them, also under the name `error`.
    #[must_use]
    pub fn is_in_service_form(body: &str) -> bool {
        json(body).is_some_and(|answer| {
            answer["error"]["message"].is_string() && answer["error"]["type"].is_string()
        })
    }

    /// Whether a body is an error with the contract's members only, so that its words are all that it says.
    pub(crate) fn is_all_of(body: &str) -> bool {
        let has_only = |value: &Value, names: &[&str]| {
            value.as_object().is_some_and(|object| object.keys().all(|name| names.contains(&name.as_str())))
        };
        json(body).is_some_and(|answer| {
            has_only(&answer, &["error"]) && has_only(&answer["error"], &["message", "type", "param", "code"])
        })
    }

    /// The same error with each text replaced.
    pub(crate) fn map(self, replace: impl Fn(&str) -> String) -> Self {
        let optional = |text: Option<String>| text.as_deref().map(&replace);
        Self {
            message: replace(&self.message),
            kind: optional(self.kind),
            param: optional(self.param),
            code: optional(self.code),
        }
    }

    /// The error in a JSON value: its own fields, or those of what it wraps.
    pub(super) fn from_value(value: &Value, depth: usize) -> Self {
        if depth > 4 {
            return Self::default();
        }
        match value {
            Value::String(text) => Self { message: text.trim().to_owned(), ..Self::default() },
            Value::Array(items) => {
                items.first().map(|item| Self::from_value(item, depth + 1)).unwrap_or_default()
            }
            Value::Object(object) => {
                let first = |names: &[&str]| names.iter().find_map(|name| text_of(object.get(*name)?));
                let own = Self {
                    message: first(&MESSAGES).unwrap_or_default(),
                    kind: first(&["type"]),
                    param: first(&["param"]),
                    code: first(&["code"]),
                };
                let wrapped = ERRORS
                    .iter()
                    .filter_map(|name| object.get(*name))
                    .map(|inner| Self::from_value(inner, depth + 1))
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

/// The beginning of a body on one line, of an HTML page without its tags.
pub(crate) fn plain_text(body: &str) -> String {
    if is_binary(body) {
        return "(data that is not text)".to_owned();
    }
    let is_page = body.trim_start().starts_with('<');
    let mut text = String::new();
    let mut in_tag = false;
    for c in body.chars().take(16 * MAX_SHOWN_BYTES) {
        match c {
            '<' if is_page => in_tag = true,
            '>' if in_tag => {
                in_tag = false;
                text.push(' ');
            }
            _ if in_tag => {}
            c if c.is_whitespace() || c.is_control() => text.push(' '),
            c => text.push(c),
        }
    }
    let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.len() > MAX_SHOWN_BYTES {
        text.truncate(text.floor_char_boundary(MAX_SHOWN_BYTES));
        text.push('…');
    }
    text
}

/// Whether a body is compressed or otherwise not text: an eighth of its first characters could not be decoded.
fn is_binary(body: &str) -> bool {
    let (unreadable, total) = body.chars().take(64).fold((0, 0), |(unreadable, total), c| {
        (unreadable + usize::from(c == '\0' || c == char::REPLACEMENT_CHARACTER), total + 1)
    });
    unreadable * 8 > total
}

#[cfg(test)]
mod tests {
    use super::{ErrorObject, plain_text};

    fn error(message: &str, code: Option<&str>) -> ErrorObject {
        ErrorObject { message: message.into(), code: code.map(Into::into), ..ErrorObject::default() }
    }

    #[test]
    fn decode_error_in_every_supported_form() {
        for (body, expected) in [
            (r#"{"message":"flat","code":"c"}"#, error("flat", Some("c"))),
            (r#"{"error":"text"}"#, error("text", None)),
            (r#"{"error":{"error":{"message":"deep","code":7}}}"#, error("deep", Some("7"))),
            (r#"{"code":"outer","error":{"message":"inner"}}"#, error("inner", Some("outer"))),
            (r#"{"detail":[{"msg":"field required"}]}"#, error("field required", None)),
            (r#"{"error":null,"message":"flat"}"#, error("flat", None)),
            (r#""just text""#, error("just text", None)),
        ] {
            assert_eq!(ErrorObject::decode(body), Some(expected), "{body}");
        }
    }

    #[test]
    fn service_form_excludes_gateway_responses() {
        for body in [
            r#"{"error":{"message":"","type":"server_error"}} "#,
            r#"{"error":{"message":"no","type":"invalid_request_error","param":null,"code":17}}"#,
        ] {
            assert!(ErrorObject::is_in_service_form(body), "{body}");
        }
        for body in [
            "",
            "<html>404</html>",
            r#"{"message":"no Route matched with those values"}"#,
            r#"{"error":"text"}"#,
            r#"{"error":{"code":"x"}}"#,
            r#"{"error":{"message":"cut"#,
            r#"{"error":{"message":"x","type":"server_error"}} <html>"#,
            r#"{"error":{"message":"upstream reset before headers"}}"#,
            r#"{"error":{"message":"Bad gateway","code":503,"status":"UNAVAILABLE"}}"#,
            r#"{"error":{"message":"x","type":null}}"#,
        ] {
            assert!(!ErrorObject::is_in_service_form(body), "{body}");
        }
    }

    #[test]
    fn decode_body_without_error_is_none() {
        for body in
            ["", "{}", "[]", "null", "17", r#"{"errors":[]}"#, "<html>502</html>", r#"{"error":{"message":"#]
        {
            assert_eq!(ErrorObject::decode(body), None, "{body}");
        }
    }

    #[test]
    fn plain_text_of_html_is_one_line() {
        for (body, line) in [
            ("<html><head><title>502 Bad Gateway</title></head>\n<body></body></html>", "502 Bad Gateway"),
            ("upstream\u{1b}[31m  failed", "upstream [31m failed"),
            ("", ""),
            // gzip, and a page in Windows-1252.
            (
                &String::from_utf8_lossy(b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xabV\xcaLQ\xb2"),
                "(data that is not text)",
            ),
            ("Diese Seite ist \u{fffd}berlastet", "Diese Seite ist \u{fffd}berlastet"),
        ] {
            assert_eq!(plain_text(body), line);
        }
        assert_eq!(plain_text(&"é".repeat(10_000)).chars().count(), 251);
    }

    #[test]
    fn decode_error_in_the_contracts_form_reads_all_fields() {
        let body = r#"{"error":{"message":"m","type":"invalid_request_error","param":"seconds","code":"invalid_duration"}}"#;
        let read = ErrorObject::decode(body).expect("an error");
        assert_eq!(read.kind.as_deref(), Some("invalid_request_error"));
        assert_eq!(read.to_string(), "m (invalid_duration, seconds)");
    }
}
