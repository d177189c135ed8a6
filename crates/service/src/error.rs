//! Errors that keep the service from starting or running. Errors of single requests are [`crate::api_error::ApiError`].

use std::{io, net::SocketAddr, path::PathBuf};

/// Why the service cannot start or continue.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The data directory cannot be created or used.
    #[error("cannot use the data directory {path}: {source}", path = path.display())]
    DataDirectory { path: PathBuf, source: io::Error },
    /// Another process holds the lock of the data directory.
    #[error(
        "the data directory {path} is in use by a running service: stop it or choose another directory",
        path = path.display()
    )]
    InUse { path: PathBuf },
    /// The database was written by another version of this program.
    #[error("the database in {path} has format {format}, and this program uses format {supported}: move it away", path = path.display())]
    OtherFormat {
        path: PathBuf,
        format: i64,
        /// The format of this version.
        supported: i64,
    },
    /// A database operation failed.
    #[error("the task store fails: {0}")]
    Store(String),
    /// Binding the listening address failed.
    #[error("cannot listen on {address}: {source}")]
    Listen { address: SocketAddr, source: io::Error },
    /// Spawning a thread or building the HTTP client failed.
    #[error("cannot start: {0}")]
    Start(String),
    /// The name of a new key is invalid or taken.
    #[error("{0}")]
    KeyName(String),
    /// The file of limits is invalid.
    #[error("the limits are invalid at {location}: {reason}")]
    Limits {
        /// The member at fault, as a path of names.
        location: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The fault profile is invalid.
    #[error("the fault profile is invalid at {location}: {reason}")]
    Faults {
        /// The member at fault, as a path of names and indices.
        location: String,
        /// What is wrong with it.
        reason: String,
    },
}
