//! Ids of runs, attempts and tasks, and sequence numbers of events, as distinct types.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }
    };
}

id! {
    /// One invocation of `runner run`. Chosen by the caller; unique within a ledger.
    RunId
}
id! {
    /// One submission of one node; recorded in the ledger before its POST is sent.
    AttemptId
}
id! {
    /// The service's id of a submitted task (spec 2.5 `id`).
    TaskId
}

/// The sequence number of a recorded event: larger than those of all events that were recorded before it in the same log. 0 is before the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Seq(pub i64);
