//! Which failures a shot's `retry` pays for again.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A failure after which another attempt is another task, to be paid for, and may end better. What is unsafe or useless to repeat has
/// no place here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RetryOn {
    /// The service failed the task for a reason of its own.
    Failed,
    /// The service failed the task because of passing trouble, and says so.
    Transient,
    /// Moderation withheld the finished video.
    OutputModerated,
    /// What was downloaded was no whole video at any try.
    Corrupt,
    /// The service lost the task, or its video, before that was fetched.
    Expired,
}

impl RetryOn {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 5] =
        [Self::Failed, Self::Transient, Self::OutputModerated, Self::Corrupt, Self::Expired];

    /// The word that stands for it in the file.
    #[must_use]
    pub fn word(self) -> &'static str {
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

/// A set of failures. Where the file names none: those after which a service made no video that anyone could have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RetryKinds(u8);

impl RetryKinds {
    /// Whether a failure is among them.
    #[must_use]
    pub fn contains(self, kind: RetryOn) -> bool {
        self.0 & kind.bit() != 0
    }

    /// Those that are among them.
    pub fn iter(self) -> impl Iterator<Item = RetryOn> {
        RetryOn::ALL.into_iter().filter(move |kind| self.contains(*kind))
    }

    /// Whether the file leaves them as they are.
    #[must_use]
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
