//! What can go wrong with a call, cut by the one question that matters with money at stake: did the request arrive?

use std::{fmt, time::Duration};

use reqwest::StatusCode;

use crate::answer::{ApiError, is_json, readable};

/// A call that gave nothing usable. Made by hand in tests as well as by [`crate::Client`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallError {
    /// The request surely never reached the service: no connection, no such name, or refused before it was sent.
    /// A submission may be repeated.
    NotSent {
        /// Why.
        reason: String,
    },
    /// The service, or something in front of it, answered, and not with success.
    Refused(Box<Refusal>),
    /// The request was sent, or may have been, and no usable answer came. A submission may have been accepted and paid for.
    Lost {
        /// Why.
        reason: String,
    },
}

/// An answer other than success: 4xx, 5xx, or a redirect that is not followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// What the service says. `None` when the body is not of its making, such as the page of a gateway, or empty.
    pub error: Option<ApiError>,
    /// How long to wait, when the answer said so.
    pub retry_after: Option<Duration>,
    /// The beginning of the body, the key blotted out. Where a gateway fails after the service accepted,
    /// [`crate::find_task_id`] may find a task in it.
    pub body: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the service answered {}", self.status)?;
        let status = StatusCode::from_u16(self.status).ok();
        if let Some(error) = &self.error {
            write!(f, ": {error}")?;
        } else if status.is_some_and(|status| status.is_redirection()) {
            f.write_str(": it redirects this call; set the base URL to where the service is")?;
        } else {
            let said = if is_json(&self.body) { String::new() } else { readable(&self.body) };
            let reason = status.and_then(|status| status.canonical_reason()).unwrap_or_default();
            if !reason.is_empty() && !said.contains(reason) {
                write!(f, " {reason}")?;
            }
            if !said.is_empty() {
                write!(f, ": {said}")?;
            }
        }
        match self.retry_after {
            Some(wait) => write!(f, "; it asks to wait {} s", wait.as_secs_f64().ceil()),
            None => Ok(()),
        }
    }
}

impl CallError {
    pub(crate) fn not_sent(reason: impl Into<String>) -> Self {
        Self::NotSent { reason: reason.into() }
    }

    pub(crate) fn lost(reason: impl Into<String>) -> Self {
        Self::Lost { reason: reason.into() }
    }

    /// Tells a connection that never was from one that broke.
    pub(crate) fn of_transport(error: &reqwest::Error) -> Self {
        let reason = causes(error);
        if error.is_connect() || error.is_builder() {
            Self::NotSent { reason }
        } else {
            Self::Lost { reason }
        }
    }

    /// The HTTP status, when there was an answer.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Refused(refusal) => Some(refusal.status),
            Self::NotSent { .. } | Self::Lost { .. } => None,
        }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSent { reason } => write!(f, "the request was not sent: {reason}"),
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Lost { reason } => write!(f, "the request was sent and no usable answer came: {reason}"),
        }
    }
}

impl std::error::Error for CallError {}

/// An error with its causes, outermost first, each said once; without the URL, which may carry a signature.
fn causes(error: &reqwest::Error) -> String {
    let kind = if error.is_timeout() && error.is_connect() {
        "no connection within the time allowed"
    } else if error.is_timeout() {
        "no answer within the time allowed"
    } else if error.is_connect() {
        "no connection"
    } else if error.is_builder() {
        "the request cannot be built"
    } else if error.is_body() || error.is_decode() {
        "the answer broke off"
    } else {
        "the connection broke"
    };
    let mut text = kind.to_owned();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        let said = cause.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{CallError, Refusal};
    use crate::ApiError;

    #[test]
    fn refusals_read_well() {
        let refusal = |status, body: &str, wait| {
            let retry_after = wait;
            Refusal { status, error: ApiError::decode(body), retry_after, body: body.into() }.to_string()
        };
        insta::assert_snapshot!(
            [
                refusal(400, r#"{"error":{"message":"too long","param":"seconds","code":"invalid_duration"}}"#, None),
                refusal(429, "{}", Some(Duration::from_millis(1500))),
                refusal(502, "<html><h1>502 Bad Gateway</h1></html>", None),
                refusal(503, "upstream is down", None),
                refusal(301, "", None),
                refusal(599, "", None),
            ]
            .join("\n"),
            @r"
        the service answered 400: too long (invalid_duration, seconds)
        the service answered 429 Too Many Requests; it asks to wait 2 s
        the service answered 502: 502 Bad Gateway
        the service answered 503 Service Unavailable: upstream is down
        the service answered 301: it redirects this call; set the base URL to where the service is
        the service answered 599
        ",
        );
        assert_eq!(CallError::NotSent { reason: "x".into() }.status(), None);
    }
}
