//! Errors of a call, classified by whether the service may have received the request.

use std::{fmt, time::Duration};

use reqwest::StatusCode;

use contract::Contract;
use contract::answer::{ErrorObject, Refusal};

use crate::response::plain_text;

/// A call without a usable result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallError {
    /// The request definitely did not reach the service: no connection, no such host, or rejected before sending. A submission
    /// may be repeated.
    NotSent { reason: String },
    /// The service, or a gateway in front of it, responded with an error status.
    Http(Box<HttpError>),
    /// The request was sent, or may have been, and no usable response came. A submission may have been accepted and charged.
    Indeterminate {
        reason: String,
        /// Whether a whole response came, with a success status, that is not a task: the server may be another one than the service.
        is_answered: bool,
    },
}

/// A response with an error status, 4xx, 5xx, or a redirect that is not followed; or one with a success status that refuses the submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpError {
    pub status: u16,
    /// What it says, as the description of the service reads it, the key redacted.
    pub refusal: Refusal,
    /// `Retry-After`, when the response had one.
    pub retry_after: Option<Duration>,
    /// The beginning of the body, the key redacted.
    pub body: String,
}

/// Bytes of [`HttpError::body`].
const MAX_BODY_TEXT_BYTES: usize = 4096;

impl HttpError {
    /// The error of a response with this body, of which the beginning is kept; `request` is the body of the submission that it answers.
    pub fn new(
        description: &Contract,
        request: &str,
        status: u16,
        body: &str,
        retry_after: Option<Duration>,
    ) -> Self {
        Self::redacted(description, request, status, body, retry_after, str::to_owned)
    }

    /// As [`Self::new`], with the key redacted.
    pub(crate) fn redacted(
        description: &Contract,
        request: &str,
        status: u16,
        body: &str,
        retry_after: Option<Duration>,
        redact: impl Fn(&str) -> String,
    ) -> Self {
        let mut shown = redact(body);
        shown.truncate(shown.floor_char_boundary(MAX_BODY_TEXT_BYTES));
        // Redacted after decoding, so that escapes do not hide the key.
        let refusal = description.read_refusal(status, body, request);
        let refusal = Refusal {
            error: refusal.error.map(|error| error.map(&redact)),
            task_hint: refusal.task_hint.filter(|id| redact(id) == *id),
            ..refusal
        };
        Self { status, refusal, retry_after, body: shown }
    }

    /// The same error as one whose outcome is open: with the beginning of the body, where that says more than its error.
    pub fn with_body(&self) -> String {
        let error = self.refusal.error.as_ref().filter(|_| self.refusal.has_only_error);
        format!("{}", Described { response: self, error })
    }
}

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Described { response: self, error: self.refusal.error.as_ref() }.fmt(f)
    }
}

/// A response with an error status, with the words of its error or else the beginning of its body.
struct Described<'a> {
    response: &'a HttpError,
    error: Option<&'a ErrorObject>,
}

impl fmt::Display for Described<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HttpError { status, body, retry_after, .. } = self.response;
        write!(f, "the service answered {status}")?;
        let status = StatusCode::from_u16(*status).ok();
        if let Some(error) = self.error {
            write!(f, ": {error}")?;
        } else if status.is_some_and(|status| status.is_redirection()) {
            f.write_str(": it redirects this call; set the base URL to where the service is")?;
        } else {
            let text = plain_text(body);
            let reason = status.and_then(|status| status.canonical_reason()).unwrap_or_default();
            if !reason.is_empty() && !text.contains(reason) {
                write!(f, " {reason}")?;
            }
            if !text.is_empty() {
                write!(f, ": {text}")?;
            }
        }
        match retry_after {
            Some(wait) => write!(f, "; retry after {} s", wait.as_secs_f64().ceil()),
            None => Ok(()),
        }
    }
}

impl CallError {
    pub(crate) fn not_sent(reason: impl Into<String>) -> Self {
        Self::NotSent { reason: reason.into() }
    }

    pub(crate) fn indeterminate(reason: impl Into<String>) -> Self {
        Self::Indeterminate { reason: reason.into(), is_answered: false }
    }

    /// The response is whole, and not a task.
    pub(crate) fn not_a_task(reason: impl Into<String>) -> Self {
        Self::Indeterminate { reason: reason.into(), is_answered: true }
    }

    /// The same error with the beginning of what arrived of the response.
    pub(crate) fn with_beginning(self, body: &str) -> Self {
        match self {
            Self::Indeterminate { reason, is_answered } if !body.trim().is_empty() => Self::Indeterminate {
                reason: format!("{reason}; it begins with {}", plain_text(body)),
                is_answered,
            },
            error => error,
        }
    }

    /// Classifies a transport error: a failed connect is `NotSent`, everything later is `Indeterminate`.
    pub(crate) fn from_transport(error: &reqwest::Error) -> Self {
        let reason = causes(error);
        if error.is_connect() || error.is_builder() {
            Self::NotSent { reason }
        } else {
            Self::indeterminate(reason)
        }
    }

    /// The HTTP status, when there was a response.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Http(error) => Some(error.status),
            Self::NotSent { .. } | Self::Indeterminate { .. } => None,
        }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSent { reason } => write!(f, "the request was not sent: {reason}"),
            Self::Http(error) => error.fmt(f),
            Self::Indeterminate { reason, .. } => {
                write!(f, "the request was sent without a usable response: {reason}")
            }
        }
    }
}

impl std::error::Error for CallError {}

/// An error with its causes, outermost first, each once; without the URL, which may carry a signature.
fn causes(error: &reqwest::Error) -> String {
    let kind = if error.is_timeout() && error.is_connect() {
        "no connection within the timeout"
    } else if error.is_timeout() {
        "no response within the timeout"
    } else if error.is_connect() {
        "no connection"
    } else if error.is_builder() {
        "the request cannot be built"
    } else if error.is_body() || error.is_decode() {
        "the response was cut off"
    } else {
        "the connection broke"
    };
    let mut text = kind.to_owned();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use contract::Contract;

    use super::{CallError, HttpError};

    #[test]
    fn http_error_display_names_status_reason_and_wait() {
        let error = |status, body: &str, wait| {
            HttpError::new(Contract::embedded(), "", status, body, wait).to_string()
        };
        insta::assert_snapshot!(
            [
                error(400, r#"{"error":{"message":"too long","param":"seconds","code":"invalid_duration"}}"#, None),
                error(429, "", Some(Duration::from_millis(1500))),
                error(502, "<html><h1>502 Bad Gateway</h1></html>", None),
                error(503, "upstream is down", None),
                error(301, "", None),
                error(599, "", None),
            ]
            .join("\n"),
            @r"
        the service answered 400: too long (invalid_duration, seconds)
        the service answered 429 Too Many Requests; retry after 2 s
        the service answered 502: 502 Bad Gateway
        the service answered 503 Service Unavailable: upstream is down
        the service answered 301: it redirects this call; set the base URL to where the service is
        the service answered 599
        ",
        );
        assert_eq!(CallError::NotSent { reason: "x".into() }.status(), None);
    }
}
