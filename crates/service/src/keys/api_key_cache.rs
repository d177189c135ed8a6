//! [`ApiKeyCache`]: authentication against active keys in memory.

use std::sync::{Arc, PoisonError, RwLock};

use secrecy::{ExposeSecret as _, SecretString};
use subtle::ConstantTimeEq as _;

use super::{Key, KeyId, Permissions};
use crate::{digest::Digest, limits::KeyLimits};

/// The active keys, by the digest of their secret.
#[derive(Debug, Default)]
pub(crate) struct ApiKeyCache(RwLock<Vec<(Digest, Arc<Key>)>>);

impl ApiKeyCache {
    /// A cache with the one key of the embedded service.
    pub(crate) fn with_single_key(secret: &SecretString, limits: KeyLimits) -> Self {
        let key = Key {
            id: KeyId::from_text("embedded"),
            name: "embedded".to_owned(),
            permissions: Permissions::all(),
            limits,
        };
        Self(RwLock::new(vec![(digest_of(secret.expose_secret()), Arc::new(key))]))
    }

    /// Replaces all keys.
    pub(crate) fn replace(&self, keys: Vec<(Digest, Arc<Key>)>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = keys;
    }

    /// The active key with this secret. Compares every digest in constant time, so that the duration reveals nothing
    /// about a wrong key.
    pub(crate) fn find(&self, presented: &str) -> Option<Arc<Key>> {
        let presented = digest_of(presented);
        let keys = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut matching = None;
        for (digest, key) in keys.iter() {
            if bool::from(digest.as_bytes().ct_eq(presented.as_bytes())) {
                matching = Some(key);
            }
        }
        matching.map(Arc::clone)
    }
}

pub(super) fn digest_of(secret: &str) -> Digest {
    Digest::sha256(secret.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn find_matches_exact_secret_only() {
        let cache = ApiKeyCache::with_single_key(&SecretString::from("sk-right"), KeyLimits::default());
        assert_eq!(cache.find("sk-right").map(|key| key.name.clone()).as_deref(), Some("embedded"));
        for wrong in ["", "sk-righ", "sk-right ", "SK-RIGHT", "sk-wrong"] {
            assert!(cache.find(wrong).is_none(), "{wrong:?}");
        }
        cache.replace(Vec::new());
        assert!(cache.find("sk-right").is_none());
    }
}
