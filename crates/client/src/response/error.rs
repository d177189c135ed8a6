//! API errors (spec 7) in error responses, also when flat, nested differently, or not JSON.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::json::Json;
use super::suspected_id::normalized;
use super::{first_json, text_of};

/// Characters of a body without JSON that become the message.
const MAX_TEXT_CHARS: usize = 200;

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
        let value = first_json(body.trim_start_matches('\u{feff}').trim_start())?;
        Some(Self::from_value(&value, 0)).filter(|error| *error != Self::default())
    }

    /// Whether a body is an error as the service sends it (spec 7): an object whose `error` is an object with the texts `message` and `type`.
    /// Gateways send pages, texts, or objects without one of them, also under the name `error`.
    #[must_use]
    pub fn is_in_service_form(body: &str) -> bool {
        // A member that is there twice may be another one for the next reader.
        if Self::has_repeated_members(body) {
            return false;
        }
        let value: Option<Value> = serde_json::from_str(body.trim_start_matches('\u{feff}')).ok();
        let is_text = |error: &Value, name: &str| error[name].is_string();
        value.is_some_and(|value| {
            let error = &value["error"];
            error.is_object() && is_text(error, "message") && is_text(error, "type")
        })
    }

    /// Whether an object in a body has a member twice, with different values: the first may name a task.
    #[must_use]
    pub fn has_repeated_members(body: &str) -> bool {
        let body = body.trim_start_matches('\u{feff}').trim_start();
        Json::first_in(body).is_some_and(|json| !json.overridden.is_empty())
    }

    /// Whether a body says that a task is on its way or finished, in a member for its status.
    #[must_use]
    pub fn has_task_status(body: &str) -> bool {
        let body = body.trim_start_matches('\u{feff}').trim_start();
        let Some(json) = Json::first_in(body) else { return false };
        std::iter::once(&json.value).chain(&json.overridden).any(|value| says_accepted(value, 0))
    }

    /// Whether a body has members that the contract does not define, beside harmless ones: they may say that a task was accepted all the same.
    #[must_use]
    pub fn has_unknown_members(body: &str) -> bool {
        const DEFINED: [&str; 4] = ["message", "type", "param", "code"];
        const HARMLESS: [&str; 13] = [
            "object",
            "success",
            "status",
            "status_code",
            "http_status",
            "request_id",
            "requestId",
            "trace_id",
            "timestamp",
            "retry_after",
            "retryAfter",
            "doc_url",
            "documentation_url",
        ];
        // The name of a field has few digits; an id has many.
        let may_be_id = |value: &Value| {
            let text = value.as_str().unwrap_or_default();
            text.len() >= 8 && text.bytes().filter(u8::is_ascii_digit).count() >= 4
        };
        let is_scalar = |value: &Value| !value.is_object() && !value.is_array();
        let is_empty = |value: &Value| match value {
            Value::Null | Value::Bool(_) => true,
            Value::Array(items) => items.is_empty(),
            Value::Object(members) => members.is_empty(),
            Value::Number(_) | Value::String(_) => false,
        };
        let is_defined = |name: &str, value: &Value| {
            DEFINED.contains(&name) && is_scalar(value) && (name != "param" || !may_be_id(value))
        };
        let is_known =
            |name: &str, value: &Value| is_empty(value) || (HARMLESS.contains(&name) && is_scalar(value));
        match serde_json::from_str(body.trim_start_matches('\u{feff}')) {
            Ok(Value::Object(object)) => object.iter().any(|(name, value)| match value {
                Value::Object(error) if name == "error" => {
                    error.iter().any(|(name, value)| !(is_defined(name, value) || is_known(name, value)))
                }
                value => !is_known(name, value),
            }),
            _ => true,
        }
    }

    /// The error in a JSON value: its own fields, or those of what it wraps.
    pub(super) fn from_value(value: &Value, depth: usize) -> Self {
        const WRAPPERS: [&str; 4] = ["error", "errors", "detail", "data"];
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
                    message: first(&["message", "msg", "error_description", "fail_reason", "title"])
                        .unwrap_or_default(),
                    kind: first(&["type"]),
                    param: first(&["param", "parameter"]),
                    code: first(&["code", "error_code"]),
                };
                let wrapped = WRAPPERS
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

/// What services say of a task that they have accepted, in lower case and with `_` between words.
const ACCEPTED: [&str; 11] = [
    "queued",
    "pending",
    "accepted",
    "submitted",
    "created",
    "scheduled",
    "processing",
    "in_progress",
    "running",
    "completed",
    "succeeded",
];

fn says_accepted(value: &Value, depth: usize) -> bool {
    if depth > 8 {
        return false;
    }
    match value {
        Value::Array(items) => items.iter().any(|item| says_accepted(item, depth + 1)),
        Value::Object(object) => object.iter().any(|(name, value)| {
            let name = normalized(name);
            let is_status = ["status", "state"].iter().any(|end| name.ends_with(end));
            let word = || text_of(value).map(|text| text.to_ascii_lowercase().replace(['-', ' '], "_"));
            (is_status && word().is_some_and(|word| ACCEPTED.contains(&word.as_str())))
                || says_accepted(value, depth + 1)
        }),
        _ => false,
    }
}

/// The text of an HTML page or plain text: without tags, white space collapsed, truncated.
pub(crate) fn plain_text(body: &str) -> String {
    if is_binary(body) {
        return "(data that is not text)".to_owned();
    }
    let mut text = String::new();
    let mut in_tag = false;
    for c in body.chars().take(16 * MAX_TEXT_CHARS) {
        match c {
            '<' => in_tag = true,
            '>' if in_tag => {
                in_tag = false;
                text.push(' ');
            }
            _ if in_tag => {}
            c if c.is_whitespace() || c.is_control() => text.push(' '),
            c => text.push(c),
        }
    }
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().nth(MAX_TEXT_CHARS).is_none() {
        return text;
    }
    text.chars().take(MAX_TEXT_CHARS).chain(['…']).collect()
}

/// Whether a body is compressed or otherwise not text: an eighth of its first characters could not be decoded.
pub(crate) fn is_binary(body: &str) -> bool {
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
    fn unknown_members_are_those_that_may_name_a_task() {
        for (body, has_unknown) in [
            (r#"{"error":{"message":"m","type":"server_error","param":null,"code":"c"}}"#, false),
            (r#"{"error":{"message":"m","type":"t","request_id":"r1"},"status":503}"#, false),
            (r#"{"error":{"message":"m","type":"t","code":"ERR_50301","details":null,"fields":[]}}"#, false),
            (r#"{"error":{"message":"m","type":"t","accepted":"x9"}}"#, true),
            (r#"{"error":{"message":"m","type":"t","param":"5f0c9a1e-77d2"}}"#, true),
            (r#"{"error":{"message":"m","type":"t"},"queue":["x9"]}"#, true),
            (r#"{"error":{"message":"m","type":"t","code":{"x":1}}}"#, true),
            (r#"{"error":{"message":"m","type":"t","status":["x9"]}}"#, true),
            ("<html>", true),
        ] {
            assert_eq!(ErrorObject::has_unknown_members(body), has_unknown, "{body}");
        }
    }

    #[test]
    fn status_of_a_task_says_that_it_was_accepted() {
        for (body, is_accepted) in [
            (r#"{"error":{"message":"m","type":"t"},"status":"queued"}"#, true),
            (r#"{"error":{"message":"m","type":"t","status":"In progress"}}"#, true),
            (r#"{"error":{"message":"m","details":[{"task_status":"PENDING"}]}}"#, true),
            (r#"{"state":"running","state":"error","message":"m"}"#, true),
            (r#"{"error":{"message":"m","type":"t"},"status":"error"}"#, false),
            (r#"{"error":{"message":"queued","type":"t"},"status":503}"#, false),
            (r#"{"error":{"message":"m","status":"UNAVAILABLE"},"success":false}"#, false),
            ("queued", false),
        ] {
            assert_eq!(ErrorObject::has_task_status(body), is_accepted, "{body}");
        }
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
            r#"{"error":{"message":"x","type":"t","code":"a","code":"b"}}"#,
            r#"{"error":{"task":"x"},"error":{"message":"x","type":"t"}}"#,
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
        assert_eq!(plain_text(&"é".repeat(10_000)).chars().count(), 201);
    }

    #[test]
    fn decode_error_in_the_contracts_form_reads_all_fields() {
        let body = r#"{"error":{"message":"m","type":"invalid_request_error","param":"seconds","code":"invalid_duration"}}"#;
        let read = ErrorObject::decode(body).expect("an error");
        assert_eq!(read.kind.as_deref(), Some("invalid_request_error"));
        assert_eq!(read.to_string(), "m (invalid_duration, seconds)");
    }
}
