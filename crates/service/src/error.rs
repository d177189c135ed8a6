//! Why the service cannot start or go on. What single requests are refused for is `refusal`.

use std::{io, net::SocketAddr, path::PathBuf};

/// The service itself cannot do its work.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The data directory cannot be made or used.
    #[error("cannot use the data directory {path}: {source}", path = path.display())]
    DataDirectory {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Another process works on the same directory.
    #[error(
        "the data directory {path} belongs to a service that is running: stop that one, or give this one a directory of its own",
        path = path.display()
    )]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// A later version of this program has written the database.
    #[error("the database in {path} has format {found}, newer than {known}, the newest this version knows: use the newer version", path = path.display())]
    Newer {
        /// The directory.
        path: PathBuf,
        /// The database's format.
        found: i64,
        /// The newest format known here.
        known: i64,
    },
    /// The database refuses.
    #[error("the task store fails: {0}")]
    Store(String),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// A thread cannot be started, or the HTTP client for media cannot be made.
    #[error("cannot start: {0}")]
    Start(String),
    /// A key cannot be made under that name.
    #[error("{0}")]
    KeyName(String),
    /// A fault profile does not say what it should.
    #[error("the fault profile is wrong at {place}: {reason}")]
    Faults {
        /// Where in the profile, as a path of names and indices.
        place: String,
        /// What is wrong there.
        reason: String,
    },
}
