//! [`ApiKeys`]: which key a request has.

use std::sync::Arc;

use secrecy::ExposeSecret as _;
use subtle::ConstantTimeEq as _;

use super::{Key, KeyId, Keys, Permissions};
use crate::{
    digest::Digest,
    limits::KeyLimits,
    store::{Store, StoreError},
};

/// The active keys.
#[derive(Debug)]
pub(crate) enum ApiKeys {
    /// The one key of the embedded service, by the digest of its secret.
    Single(Digest, Arc<Key>),
    /// Those of the data directory. They are looked up for each request, so that changes by another process apply at once.
    Stored {
        /// Limits of keys without their own.
        default: KeyLimits,
    },
}

impl ApiKeys {
    pub(crate) fn new(keys: &Keys, limits: KeyLimits) -> Self {
        match keys {
            Keys::Single(secret) => {
                let key = Key {
                    id: KeyId::from_text("embedded"),
                    name: "embedded".to_owned(),
                    permissions: Permissions::all(),
                    limits,
                };
                Self::Single(digest_of(secret.expose_secret()), Arc::new(key))
            }
            Keys::Stored => Self::Stored { default: limits },
        }
    }

    /// The active key with this secret. Stored keys are found by the digest of what was presented, so that the duration reveals nothing about
    /// them.
    pub(crate) fn find(&self, presented: &str, store: &Store) -> Result<Option<Arc<Key>>, StoreError> {
        let presented = digest_of(presented);
        match self {
            Self::Single(digest, key) => {
                Ok(bool::from(digest.as_bytes().ct_eq(presented.as_bytes())).then(|| Arc::clone(key)))
            }
            Self::Stored { default } => Ok(store.active_key(&presented, default)?.map(Arc::new)),
        }
    }
}

pub(super) fn digest_of(secret: &str) -> Digest {
    Digest::sha256(secret.as_bytes())
}
