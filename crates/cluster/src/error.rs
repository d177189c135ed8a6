//! Errors of the cluster, for its callers.

/// Why the cluster could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// The shared store cannot be used.
    #[error("the shared store cannot be used: {0}")]
    Store(#[from] object_store::Error),
    /// A file of this machine cannot be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The content of the shared store is not what its name says.
    #[error(
        "{name} in the shared store has another content than its name says; it is damaged or was replaced"
    )]
    Damaged {
        /// The name in the store.
        name: String,
    },
    /// Restate cannot be reached.
    #[error("Restate at {url} cannot be reached: {reason}")]
    Unreachable {
        /// The address.
        url: String,
        /// Why.
        reason: String,
    },
    /// Restate refused a request, or answered otherwise than expected.
    #[error("Restate at {url} answered {status}: {message}")]
    Refused {
        /// The address.
        url: String,
        /// The status of HTTP.
        status: u16,
        /// What it says.
        message: String,
    },
    /// What was read is of another version, or damaged.
    #[error("{what} cannot be read: {reason}")]
    Unreadable {
        /// What was read.
        what: String,
        /// Why it cannot be used.
        reason: String,
    },
}

impl ClusterError {
    /// Whether trying again later may help.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Store(error) => !matches!(error, object_store::Error::NotFound { .. }),
            Self::Unreachable { .. } => true,
            Self::Refused { status, .. } => *status >= 500 || *status == 429,
            Self::Io(_) | Self::Damaged { .. } | Self::Unreadable { .. } => false,
        }
    }
}
