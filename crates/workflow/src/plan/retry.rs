//! The failures after which a shot's `retry` submits another task.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A failure after which another task may succeed. Each retry is paid for; failures after which a retry is unsafe or useless are not
/// listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RetryOn {
    /// The service failed the task for an internal reason.
    Failed,
    /// The service failed the task with an error that it reports as transient.
    Transient,
    /// Moderation withheld the finished video.
    OutputModerated,
    /// Every download was corrupt or incomplete.
    Corrupt,
    /// The task or its video expired before the download.
    Expired,
}

impl RetryOn {
    /// All kinds, in the order in which they are listed in messages.
    pub const ALL: [Self; 5] =
        [Self::Failed, Self::Transient, Self::OutputModerated, Self::Corrupt, Self::Expired];

    /// The name in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Transient => "transient",
            Self::OutputModerated => "output-moderated",
            Self::Corrupt => "corrupt",
            Self::Expired => "expired",
        }
    }

    fn bit(self) -> u8 {
        1 << (self as u8)
    }
}

/// A set of failures. The default is every failure after which the service delivered no video.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RetryKinds(u8);

impl RetryKinds {
    /// Whether the set contains a failure.
    pub fn contains(self, kind: RetryOn) -> bool {
        self.0 & kind.bit() != 0
    }

    /// The failures in the set.
    pub fn iter(self) -> impl Iterator<Item = RetryOn> {
        RetryOn::ALL.into_iter().filter(move |kind| self.contains(*kind))
    }

    /// Whether this is the default set.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for RetryKinds {
    fn default() -> Self {
        [RetryOn::Failed, RetryOn::Transient, RetryOn::OutputModerated].into_iter().collect()
    }
}

impl FromIterator<RetryOn> for RetryKinds {
    fn from_iter<I: IntoIterator<Item = RetryOn>>(kinds: I) -> Self {
        Self(kinds.into_iter().fold(0, |bits, kind| bits | kind.bit()))
    }
}

impl fmt::Debug for RetryKinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl Serialize for RetryKinds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for RetryKinds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<RetryOn>::deserialize(deserializer)?.into_iter().collect())
    }
}
