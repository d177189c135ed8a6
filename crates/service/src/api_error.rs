//! [`ApiError`]: a rejected request, in the one form that every part of the service uses (spec 7).

use std::{borrow::Cow, time::Duration};

use crate::store::StoreError;

/// The code of a refusal by moderation.
const INPUT_MODERATED: &str = "input_moderated";

/// When a client may try again while the disk is full.
const STORAGE_RETRY: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiError {
    pub(crate) kind: ApiErrorKind,
    pub(crate) message: String,
    pub(crate) param: Option<String>,
    pub(crate) code: Cow<'static, str>,
    pub(crate) retry_after: Option<Duration>,
}

/// Kinds of error; the HTTP layer maps each to a status and an `error.type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ApiErrorKind {
    /// The request is wrong; repeating it unchanged fails again.
    Invalid,
    /// No API key, or an unknown one.
    Unauthenticated,
    /// Not found, or not visible to this key.
    NotFound,
    /// The task is in a state in which it cannot be done.
    Conflict,
    /// The path exists, but not for this method.
    MethodNotAllowed,
    /// It existed and has expired.
    Gone,
    /// The body exceeds the size limit.
    TooLarge,
    /// A rate limit, a concurrency limit or a quota.
    Limited,
    /// The service cannot take requests for the moment.
    Unavailable,
    /// A fault of the service.
    Internal,
}

impl ApiError {
    pub(crate) fn new(
        kind: ApiErrorKind,
        code: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) -> Self {
        Self { kind, message: message.into(), param: None, code: code.into(), retry_after: None }
    }

    pub(crate) fn invalid(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(ApiErrorKind::Invalid, code, message)
    }

    /// Moderation refuses the prompt.
    pub(crate) fn moderated() -> Self {
        Self::invalid(INPUT_MODERATED, "the prompt was rejected by moderation").with_param("prompt")
    }

    pub(crate) fn is_moderated(&self) -> bool {
        self.code == INPUT_MODERATED
    }

    /// A fault of the service. The cause goes to the log, where the operator looks, not to the caller.
    pub(crate) fn internal(problem: &'static str, cause: &dyn std::fmt::Display) -> Self {
        tracing::error!(%cause, "{problem}");
        Self::new(
            ApiErrorKind::Internal,
            "internal_error",
            format!("{problem}; the request may be repeated, and the service's log has the cause"),
        )
    }

    /// A failed write.
    pub(crate) fn from_store(problem: &'static str, error: &StoreError) -> Self {
        match error {
            // Nothing was stored, so the request may be repeated.
            StoreError::Full => {
                tracing::error!("{problem}: {error}");
                Self::new(ApiErrorKind::Unavailable, "storage_unavailable", format!("{problem}: {error}"))
                    .retry_after(STORAGE_RETRY)
            }
            error => Self::internal(problem, error),
        }
    }

    pub(crate) fn with_param(mut self, param: impl Into<String>) -> Self {
        self.param = Some(param.into());
        self
    }

    pub(crate) fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }
}
