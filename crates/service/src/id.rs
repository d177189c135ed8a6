//! Unguessable identifiers (task ids, file tokens, API keys), drawn from an injected source of randomness.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The source of randomness.
pub trait Randomness: Send + Sync {
    /// Fills the whole slice.
    ///
    /// # Errors
    /// When the source fails; the request that needed randomness is then rejected.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomnessError>;
}

/// The source of randomness failed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("no randomness is available: {0}")]
pub struct RandomnessError(pub String);

/// The operating system's random number generator.
#[derive(Debug, Default, Clone, Copy)]
pub struct OsRandomness;

impl Randomness for OsRandomness {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomnessError> {
        getrandom::fill(bytes).map_err(|error| RandomnessError(error.to_string()))
    }
}

/// A task id (spec 2.5): `task_` and 26 characters that encode 128 random bits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskId(String);

impl TaskId {
    pub(crate) fn random(source: &dyn Randomness) -> Result<Self, RandomnessError> {
        Ok(Self(format!("task_{}", token(source)?)))
    }

    /// Wraps a string as an id, without checking that such a task exists.
    pub fn from_text(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The id as in the API.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Crockford's base 32 in lower case: no letters that look like digits, no characters that a URL must escape.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// 128 random bits as 26 characters.
pub(crate) fn token(source: &dyn Randomness) -> Result<String, RandomnessError> {
    let mut bytes = [0; 16];
    source.fill(&mut bytes)?;
    let mut bits = u128::from_be_bytes(bytes);
    let mut text = [0; 26];
    for digit in text.iter_mut().rev() {
        *digit = ALPHABET[(bits & 31) as usize];
        bits >>= 5;
    }
    Ok(text.iter().map(|&byte| char::from(byte)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct FixedRandomness(u8);

    impl Randomness for FixedRandomness {
        fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomnessError> {
            bytes.fill(self.0);
            Ok(())
        }
    }

    #[test]
    fn token_encodes_128_bits_in_26_characters() {
        assert_eq!(token(&FixedRandomness(0)).unwrap(), "0".repeat(26));
        assert_eq!(token(&FixedRandomness(0xff)).unwrap(), format!("7{}", "z".repeat(25)));
        let id = TaskId::random(&FixedRandomness(1)).unwrap();
        assert_eq!(id.as_str().len(), "task_".len() + 26);
    }

    #[test]
    fn os_random_task_ids_differ() {
        assert_ne!(TaskId::random(&OsRandomness).unwrap(), TaskId::random(&OsRandomness).unwrap());
    }
}
