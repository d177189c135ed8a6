//! Errors of the cluster, for its callers.

use std::path::PathBuf;

use crate::store::{SharedStoreError, SharedStoreErrorKind};

/// Why the cluster could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// The shared store cannot be used.
    #[error(transparent)]
    Store(#[from] SharedStoreError),
    /// A file of this machine cannot be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The content of the shared store is not what its name says.
    #[error(
        "{name} in the shared store {store} has another content than its name says; it is damaged or was replaced"
    )]
    Damaged {
        /// The name in the store.
        name: String,
        store: String,
    },
    /// A file of this machine is not what it was when its hash was taken.
    #[error("{} has changed since its hash was taken", path.display())]
    Changed { path: PathBuf },
    /// Restate cannot be reached.
    #[error("Restate at {url} cannot be reached: {reason}")]
    Unreachable { url: String, reason: String },
    /// Restate refused a request, or answered otherwise than expected.
    #[error("Restate at {url} answered {status}: {message}")]
    Refused {
        url: String,
        /// The status of HTTP.
        status: u16,
        message: String,
    },
    /// Workers of another version are registered at an address: runs in flight would be continued by code that did not begin them.
    #[error(
        "Restate has workers of version {registered} at {url}; this program is version {own}, and would continue runs that it did not begin"
    )]
    OtherVersion {
        url: String,
        /// The version that is registered.
        registered: String,
        /// The version of this program.
        own: String,
        /// The URL at which the admin API removes what is registered.
        removal: String,
    },
    /// What was read is of another version, or damaged.
    #[error("{what} cannot be read: {reason}")]
    Unreadable {
        what: String,
        /// Why it cannot be used.
        reason: String,
    },
}

impl ClusterError {
    /// The same error, for another one that was in the same call.
    pub(crate) fn duplicate(&self) -> Self {
        match self {
            Self::Refused { url, status, message } => {
                Self::Refused { url: url.clone(), status: *status, message: message.clone() }
            }
            Self::Unreachable { url, reason } => {
                Self::Unreachable { url: url.clone(), reason: reason.clone() }
            }
            error => Self::Unreadable { what: "the answer of Restate".to_owned(), reason: error.to_string() },
        }
    }

    /// Whether trying again later may help.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Store(error) => error.kind == SharedStoreErrorKind::Unavailable,
            Self::Unreachable { .. } => true,
            Self::Refused { status, .. } => *status >= 500 || *status == 429,
            Self::Io(_)
            | Self::Damaged { .. }
            | Self::Changed { .. }
            | Self::OtherVersion { .. }
            | Self::Unreadable { .. } => false,
        }
    }

    /// Whether a worker tries again until an operator has acted: what was paid for is not given up because credentials have expired or a bucket
    /// is missing.
    pub fn needs_operator(&self) -> bool {
        match self {
            Self::Store(error) => {
                matches!(error.kind, SharedStoreErrorKind::Denied | SharedStoreErrorKind::NoStore)
            }
            _ => false,
        }
    }
}
