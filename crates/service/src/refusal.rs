//! Why the service says no: the one form in which every part of it does (spec 7).

use std::{borrow::Cow, time::Duration};

/// A request that is not granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) kind: RefusalKind,
    pub(crate) message: String,
    pub(crate) param: Option<String>,
    pub(crate) code: Cow<'static, str>,
    pub(crate) retry_after: Option<Duration>,
}

/// The kinds of refusal; the HTTP layer gives each its status and `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefusalKind {
    /// The request itself is wrong: repeating it is of no use.
    Invalid,
    /// No API key, or not one that is known.
    Unauthenticated,
    /// Nothing of that name, or nothing that this key may see.
    NotFound,
    /// The path exists, for another method.
    MethodNotAllowed,
    /// It was there, and is no more.
    Gone,
    /// More bytes than are read.
    TooLarge,
    /// Too much at once, or too much altogether.
    Limited,
    /// The service's own fault.
    Internal,
}

impl Refusal {
    pub(crate) fn new(
        kind: RefusalKind,
        code: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) -> Self {
        Self { kind, message: message.into(), param: None, code: code.into(), retry_after: None }
    }

    pub(crate) fn invalid(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(RefusalKind::Invalid, code, message)
    }

    /// A fault of the service. The cause goes to the log, where the operator looks, not to the caller.
    pub(crate) fn internal(what: &'static str, cause: &dyn std::fmt::Display) -> Self {
        tracing::error!(%cause, "{what}");
        Self::new(
            RefusalKind::Internal,
            "internal_error",
            format!("{what}; the request may be repeated, and the service's log says more"),
        )
    }

    pub(crate) fn about(mut self, param: impl Into<String>) -> Self {
        self.param = Some(param.into());
        self
    }

    pub(crate) fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }
}
