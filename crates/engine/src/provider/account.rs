//! Which account a task was submitted with, without keeping the API key.

use sha2::{Digest as _, Sha256};

/// Hexadecimal digits of a digest: enough to tell a user's accounts apart, too few to confirm a guessed key.
const DIGITS: usize = 8;

/// Identifies the account of an API key at a service: the beginning of a hash over both. Equal keys have equal digests at one service, and
/// unrelated ones at two. A new key of the same account has another digest.
#[must_use]
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
