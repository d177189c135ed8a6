//! Telling good keys from bad ones, in memory.

use std::sync::{Arc, PoisonError, RwLock};

use secrecy::{ExposeSecret as _, SecretString};
use subtle::ConstantTimeEq as _;

use super::{Key, KeyId, Permissions};
use crate::{digest::Digest, limits::KeyLimits};

/// The keys that are good right now.
#[derive(Debug, Default)]
pub(crate) struct KeyRing(RwLock<Vec<(Digest, Arc<Key>)>>);

impl KeyRing {
    /// A ring with the embedded service's one key.
    pub(crate) fn given(secret: &SecretString, limits: KeyLimits) -> Self {
        let key = Key {
            id: KeyId::from_text("embedded"),
            name: "embedded".to_owned(),
            permissions: Permissions::all(),
            limits,
        };
        Self(RwLock::new(vec![(digest_of(secret.expose_secret()), Arc::new(key))]))
    }

    /// Replaces all keys, after one was made or revoked.
    pub(crate) fn replace(&self, keys: Vec<(Digest, Arc<Key>)>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = keys;
    }

    /// The key that a caller presents, if it is one of ours. Takes the same time for every wrong key: each known
    /// digest is compared, in constant time.
    pub(crate) fn find(&self, presented: &str) -> Option<Arc<Key>> {
        let presented = digest_of(presented);
        let keys = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut found = None;
        for (digest, key) in keys.iter() {
            if bool::from(digest.as_bytes().ct_eq(presented.as_bytes())) {
                found = Some(key);
            }
        }
        found.map(Arc::clone)
    }
}

pub(super) fn digest_of(secret: &str) -> Digest {
    Digest::of(secret.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_key_is_found() {
        let ring = KeyRing::given(&SecretString::from("sk-right"), KeyLimits::default());
        assert_eq!(ring.find("sk-right").map(|key| key.name.clone()).as_deref(), Some("embedded"));
        for wrong in ["", "sk-righ", "sk-right ", "SK-RIGHT", "sk-wrong"] {
            assert!(ring.find(wrong).is_none(), "{wrong:?}");
        }
        ring.replace(Vec::new());
        assert!(ring.find("sk-right").is_none());
    }
}
