//! API keys (spec 5): who calls, what they may do, and how much of it.
//!
//! A key is shown once, when it is made; only its SHA-256 is kept. The keys are 128 random bits, so a plain
//! digest is enough: there is nothing to guess.

mod book;
mod ring;

use std::fmt;

use secrecy::SecretString;
use serde::{Deserialize, Serialize};

pub use self::book::{KeyBook, KeyEntry, NewKey};
pub(crate) use self::{
    book::{good_keys, used_ms},
    ring::KeyRing,
};
use crate::limits::KeyLimits;

/// Which keys the service knows.
#[derive(Debug, Clone)]
pub enum Keys {
    /// One key, given in memory, with every permission. It is stored nowhere, not even as a digest; tasks belong
    /// to whoever holds the key of the day. For the embedded service.
    Given(SecretString),
    /// Those of the data directory, made and revoked with [`KeyBook`].
    Stored,
}

/// Names a key in the store and in the log; says nothing about the secret.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeyId(String);

impl KeyId {
    pub(crate) fn from_text(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a key may use beyond the ordinary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permissions {
    /// Output of 1080 lines and more (spec 2.2 rule 3).
    pub full_hd: bool,
}

impl Permissions {
    /// Everything.
    #[must_use]
    pub fn all() -> Self {
        Self { full_hd: true }
    }
}

/// A key that is good.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    pub(crate) id: KeyId,
    pub(crate) name: String,
    pub(crate) permissions: Permissions,
    pub(crate) limits: KeyLimits,
}
