//! API keys (spec 5) with their permissions and limits.
//!
//! A key is shown once, when it is created; only its SHA-256 is stored. Keys are 128 random bits, so a plain digest
//! suffices: guessing is infeasible.

mod api_key_store;
mod api_keys;

use std::fmt;

use secrecy::SecretString;
use serde::{Deserialize, Serialize};

pub use self::api_key_store::{ApiKeyStore, KeyEntry, NewKey};
pub(crate) use self::{
    api_key_store::{active_key, used_ms},
    api_keys::ApiKeys,
};
use crate::limits::KeyLimits;

/// Which API keys the service accepts.
#[derive(Debug, Clone)]
pub enum Keys {
    /// One key in memory, with every permission, for the embedded service. It is not stored, not even as a digest; all
    /// tasks belong to the holder of the current key.
    Single(SecretString),
    /// The keys of the data directory, managed with [`ApiKeyStore`].
    Stored,
}

/// Identifies a key in the store and in the log; reveals nothing about the secret.
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

/// Optional permissions of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permissions {
    /// Output of 1080 lines or more (spec 2.2 rule 3).
    pub full_hd: bool,
}

impl Permissions {
    pub fn all() -> Self {
        Self { full_hd: true }
    }
}

/// An active key.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    pub(crate) id: KeyId,
    pub(crate) name: String,
    pub(crate) permissions: Permissions,
    pub(crate) limits: KeyLimits,
}
