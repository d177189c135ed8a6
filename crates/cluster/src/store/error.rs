//! Errors of the shared store: which store, what failed, and of which kind it is, so that callers can say what to do. Without credentials.

use std::fmt;

/// The longest reason that is shown.
const MAX_REASON_LEN: usize = 300;
/// Codes of S3 and GCS (in XML) and Azure that mean that the credentials are not accepted, whatever the status.
const DENIED_CODES: [&str; 7] = [
    "AccessDenied",
    "ExpiredToken",
    "InvalidAccessKeyId",
    "InvalidToken",
    "SignatureDoesNotMatch",
    "AuthenticationFailed",
    "AuthorizationFailure",
];
/// Codes that mean that the bucket, the container or the account does not exist.
const NO_STORE_CODES: [&str; 4] =
    ["NoSuchBucket", "ContainerNotFound", "AccountNotFound", "InvalidBucketName"];

/// Why the shared store could not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedStoreError {
    /// Its URL, without credentials.
    pub store: String,
    /// Of which kind the error is.
    pub kind: SharedStoreErrorKind,
    /// What was attempted, as in `read plans/….json`; empty for opening it.
    pub action: String,
    /// What the store says.
    pub reason: String,
}

/// Kinds of errors of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedStoreErrorKind {
    /// The URL or a setting cannot be used.
    Invalid,
    /// The folder, bucket or container does not exist.
    NoStore,
    /// No credentials were set, or they are not accepted.
    Denied,
    /// The store has no such object.
    Missing,
    /// The store cannot be reached, or failed.
    Unavailable,
}

impl fmt::Display for SharedStoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { store, kind, action, reason } = self;
        match kind {
            SharedStoreErrorKind::Invalid => write!(f, "the shared store {store} cannot be used: {reason}"),
            SharedStoreErrorKind::NoStore => write!(f, "the shared store {store} does not exist: {reason}"),
            SharedStoreErrorKind::Denied => {
                write!(f, "the shared store {store} denies to {action}: {reason}")
            }
            SharedStoreErrorKind::Missing => {
                write!(f, "the shared store {store} cannot {action}: it is not there")
            }
            SharedStoreErrorKind::Unavailable => {
                write!(f, "the shared store {store} failed to {action}: {reason}")
            }
        }
    }
}

impl std::error::Error for SharedStoreError {}

/// What errors say of a store, and what they must not say.
#[derive(Clone)]
pub(super) struct Wording {
    /// The URL without credentials.
    pub(super) store: String,
    pub(super) secrets: Vec<secrecy::SecretString>,
}

impl Wording {
    pub(super) fn invalid(&self, reason: impl fmt::Display) -> SharedStoreError {
        self.error(SharedStoreErrorKind::Invalid, String::new(), &reason.to_string())
    }

    /// An error of `object_store` at `action`.
    pub(super) fn failed(&self, action: String, error: &object_store::Error) -> SharedStoreError {
        let (text, cause) = chain(error);
        // The answer of the store, where there is one; otherwise what happened at last.
        let reason = if text.contains("<Code>") { &text } else { &cause };
        self.error(kind(error, &text), action, reason)
    }

    fn error(&self, kind: SharedStoreErrorKind, action: String, text: &str) -> SharedStoreError {
        SharedStoreError { store: self.store.clone(), kind, action, reason: self.reason(text) }
    }

    /// A text of the store in one line, without credentials, signatures and control characters.
    fn reason(&self, text: &str) -> String {
        use secrecy::ExposeSecret as _;
        let mut text = text.to_owned();
        for secret in &self.secrets {
            let secret = secret.expose_secret();
            if !secret.is_empty() {
                text = text.replace(secret, "…");
            }
        }
        // Signatures are in queries.
        let words = text.split_whitespace().map(|word| match word.split_once('?') {
            Some((url, _)) if url.contains("://") => url,
            _ => word,
        });
        let line = words.collect::<Vec<_>>().join(" ");
        let line = match (element(&line, "Code"), element(&line, "Message")) {
            (Some(code), Some(message)) => format!("{code}: {message}"),
            (Some(code), None) => code.to_owned(),
            _ => line,
        };
        let mut shown: String = line.chars().filter(|shown| !shown.is_control()).collect();
        if let Some((cut, _)) = shown.char_indices().nth(MAX_REASON_LEN) {
            shown.truncate(cut);
            shown.push('…');
        }
        shown
    }
}

fn kind(error: &object_store::Error, text: &str) -> SharedStoreErrorKind {
    use object_store::Error;
    let has = |codes: &[&str]| codes.iter().any(|code| text.contains(code));
    if has(&NO_STORE_CODES) {
        return SharedStoreErrorKind::NoStore;
    }
    match error {
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => SharedStoreErrorKind::Denied,
        // Without credentials the metadata service of a cloud's machine is asked for some.
        _ if has(&DENIED_CODES) || has(&["169.254.169.254", "metadata.google.internal"]) => {
            SharedStoreErrorKind::Denied
        }
        Error::NotFound { .. } => SharedStoreErrorKind::Missing,
        Error::InvalidPath { .. }
        | Error::NotSupported { .. }
        | Error::NotImplemented { .. }
        | Error::UnknownConfigurationKey { .. } => SharedStoreErrorKind::Invalid,
        _ => SharedStoreErrorKind::Unavailable,
    }
}

/// An error with its causes as one text, and the first cause alone.
fn chain(error: &object_store::Error) -> (String, String) {
    let mut cause = error.to_string();
    let mut text = cause.clone();
    let mut source = std::error::Error::source(error);
    while let Some(next) = source {
        cause = next.to_string();
        text = format!("{text}: {cause}");
        source = next.source();
    }
    cause.truncate(cause.trim_end_matches([':', ' ']).len());
    (text, cause)
}

/// The text of an XML element.
fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    Some(rest.split_once("</")?.0.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wording() -> Wording {
        Wording { store: "s3://films".to_owned(), secrets: vec!["sk-secret".to_owned().into()] }
    }

    #[test]
    fn reasons_have_no_credentials() {
        let reason =
            wording().reason("GET https://films.example/a?sig=abc&se=1 failed\nwith \u{1b}[1m sk-secret");
        assert_eq!(reason, "GET https://films.example/a failed with [1m …");
        let long = wording().reason(&"x".repeat(MAX_REASON_LEN * 2));
        assert_eq!(long.chars().count(), MAX_REASON_LEN + 1);
    }

    #[test]
    fn answers_of_stores_are_classified() {
        let generic =
            |text: &str| object_store::Error::Generic { store: "S3", source: text.to_owned().into() };
        for (text, expected, reason) in [
            (
                "status 400: <Error><Code>ExpiredToken</Code><Message>The token is old.</Message></Error>",
                SharedStoreErrorKind::Denied,
                "ExpiredToken: The token is old.",
            ),
            ("<Error><Code>NoSuchBucket</Code></Error>", SharedStoreErrorKind::NoStore, "NoSuchBucket"),
            ("PUT http://169.254.169.254/latest/api/token", SharedStoreErrorKind::Denied, ""),
            ("connection refused", SharedStoreErrorKind::Unavailable, ""),
        ] {
            let error = wording().failed("read a".to_owned(), &generic(text));
            assert_eq!(error.kind, expected, "{text}");
            assert!(error.reason.contains(reason) && error.to_string().contains("s3://films"), "{error}");
        }
    }
}
