//! Which account a task was submitted with, without keeping the API key.

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};

/// Hexadecimal digits of a digest: enough to tell a user's accounts apart, too few to confirm a guessed key.
const DIGITS: usize = 8;

/// With which account the work of a plan is done at each of its services, by the identity of the service.
#[derive(Debug, Clone, Default)]
pub struct Accounts(HashMap<String, Account>);

/// An account at a service.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Account {
    /// The digest of its API key ([`account_digest`]); `None` for a service without keys, and where the key is not known.
    pub digest: Option<String>,
    /// Whether its tasks cost money.
    pub is_paid: bool,
}

impl Accounts {
    /// With an account at a service.
    pub fn with(mut self, service: impl Into<String>, account: Account) -> Self {
        self.0.insert(service.into(), account);
        self
    }

    /// The digest of the account at a service, where it is known.
    pub fn digest(&self, service: &str) -> Option<&str> {
        self.0.get(service)?.digest.as_deref()
    }

    /// Whether tasks at a service cost money, as far as is known.
    pub fn is_paid(&self, service: &str) -> bool {
        self.0.get(service).is_some_and(|account| account.is_paid)
    }

    /// The identities of the services.
    pub fn services(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Whether tasks at any of the services cost money.
    pub fn any_is_paid(&self) -> bool {
        self.0.values().any(|account| account.is_paid)
    }
}

/// Identifies the account of an API key at a service: the beginning of a hash over both. Equal keys have equal digests at one service, and
/// unrelated ones at two. A new key of the same account has another digest.
pub fn account_digest(service: &str, api_key: &str) -> String {
    let mut hasher = Sha256::new();
    for part in ["runner account digest 1", service, api_key] {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    let mut digest = hex::encode(hasher.finalize());
    digest.truncate(DIGITS);
    digest
}

#[cfg(test)]
mod tests {
    use super::account_digest;

    #[test]
    fn account_digest_differs_by_key_and_service_and_is_short() {
        let digest = account_digest("https://api.example.com", "sk-one");
        assert_eq!(digest, account_digest("https://api.example.com", "sk-one"));
        assert_ne!(digest, account_digest("https://api.example.com", "sk-two"));
        assert_ne!(digest, account_digest("https://other.example.com", "sk-one"));
        assert_ne!(account_digest("a", "bc"), account_digest("ab", "c"));
        assert_eq!(digest.len(), 8);
    }
}
