//! The states of an attempt. The ledger stores their names.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Defines [`AttemptState`]: one variant per state, with its stored name.
macro_rules! attempt_states {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// The state of an attempt.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum AttemptState {
            $($(#[$doc])* $name,)*
        }

        impl AttemptState {
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The stored name.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

attempt_states! {
    /// The intent is durable. Only the run that wrote it knows whether the POST was sent.
    Intended = "intended",
    /// The POST was sent and no usable response came: accepted or not.
    Indeterminate = "indeterminate",
    /// The service accepted it; its task is in flight, or finished and not downloaded.
    Submitted = "submitted",
    /// Its video was downloaded.
    Completed = "completed",
    /// The service failed its task; or a server error answered it, which the user's policy takes for a failure.
    Failed = "failed",
    /// The service refused it.
    Refused = "refused",
    /// The shot's `retry` gave its task up, which the service does not know or whose video is damaged. Where no other was accepted since, the
    /// next run asks about it again.
    Expired = "expired",
    /// The service does not know its task, which is paid for, or has no intact video of it. Runs ask again; only a person decides to pay again.
    Missing = "missing",
    /// It was indeterminate and found not to be accepted.
    NotAccepted = "not-accepted",
    /// It was indeterminate, and a person decided that it cannot be found out. Its reservation counts as spent.
    Abandoned = "abandoned",
}

impl AttemptState {
    /// The state of this name; `None` if there is none.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|state| state.as_str() == name)
    }

    /// Whether the attempt keeps its key from being submitted again.
    pub const fn holds_key(self) -> bool {
        match self {
            Self::Intended
            | Self::Indeterminate
            | Self::Submitted
            | Self::Completed
            | Self::Missing
            | Self::Abandoned => true,
            Self::Failed | Self::Refused | Self::Expired | Self::NotAccepted => false,
        }
    }

    /// Whether a task is or may be in flight, for which the budget is reserved.
    pub const fn is_in_flight(self) -> bool {
        match self {
            Self::Intended | Self::Indeterminate | Self::Submitted => true,
            Self::Completed
            | Self::Failed
            | Self::Refused
            | Self::Expired
            | Self::Missing
            | Self::NotAccepted
            | Self::Abandoned => false,
        }
    }

    /// Whether its task is paid for, or may be. Once the attempt has ended, what was reserved for it counts as spent then, where its cost is
    /// not known, and is released otherwise.
    pub const fn may_be_paid(self) -> bool {
        match self {
            Self::Intended
            | Self::Indeterminate
            | Self::Submitted
            | Self::Completed
            | Self::Failed
            | Self::Expired
            | Self::Missing
            | Self::Abandoned => true,
            Self::Refused | Self::NotAccepted => false,
        }
    }

    /// Whether the attempt has a task that is paid for and whose video was not downloaded, or is gone.
    pub const fn has_open_task(self) -> bool {
        match self {
            Self::Submitted | Self::Missing | Self::Expired => true,
            Self::Intended
            | Self::Indeterminate
            | Self::Completed
            | Self::Failed
            | Self::Refused
            | Self::NotAccepted
            | Self::Abandoned => false,
        }
    }

    /// Whether the attempt expires when a `retry` gives its task up, which frees its key for another one. An attempt whose video is stored
    /// (`has_video`) keeps its key, whatever a run that waited for its task has learned of that.
    pub const fn may_expire(self, has_video: bool) -> bool {
        match self {
            Self::Submitted | Self::Completed | Self::Missing => !has_video,
            Self::Intended
            | Self::Indeterminate
            | Self::Failed
            | Self::Refused
            | Self::Expired
            | Self::NotAccepted
            | Self::Abandoned => false,
        }
    }

    /// Whether `runner resolve` can resolve the attempt.
    pub const fn is_resolvable(self) -> bool {
        match self {
            Self::Intended | Self::Indeterminate | Self::Abandoned => true,
            Self::Submitted
            | Self::Completed
            | Self::Failed
            | Self::Refused
            | Self::Expired
            | Self::Missing
            | Self::NotAccepted => false,
        }
    }
}

impl fmt::Display for AttemptState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for AttemptState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for AttemptState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::parse(&name)
            .ok_or_else(|| serde::de::Error::custom(format!("`{name}` is no state of an attempt")))
    }
}
