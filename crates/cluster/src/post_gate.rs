//! Which process may send a POST, and that it does so at most once.
//!
//! Restate runs a step again when the process that ran it, or the connection to it, is lost before the result is journalled. For a POST that
//! costs money this is not acceptable. So a token is journalled first; it names the start of a process, and only that process knows it. The
//! step that follows sends the POST only if this process issued the token and has not used it. The POST itself belongs to the process and
//! not to the step: when Restate lost the connection only, the step that is run again waits for the same response.
//!
//! Invariant: for each token at most one POST is sent, by the process that issued it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use engine::provider::Submission;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

/// The right to send one POST, journalled before it is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostToken {
    /// The start of the process that issued it.
    boot: String,
    /// Unique in that process.
    number: u64,
}

/// What a token allows.
#[derive(Debug)]
pub enum TokenUse {
    /// The POST may be sent. Its response goes to the sender.
    Unused(watch::Sender<Option<Submission>>),
    /// This process has sent it; its response comes here.
    Sent(watch::Receiver<Option<Submission>>),
    /// Another process issued the token, or this one has forgotten it: whether the POST was sent is unknown.
    Unknown,
}

/// The tokens of this process.
#[derive(Debug)]
pub struct PostGate {
    boot: String,
    tokens: Mutex<Tokens>,
}

#[derive(Debug, Default)]
struct Tokens {
    next: u64,
    /// `None`: not used yet.
    issued: HashMap<u64, Option<watch::Receiver<Option<Submission>>>>,
}

impl PostGate {
    /// A gate without tokens. `boot` is random, unique for each start of a process.
    pub fn new(boot: impl Into<String>) -> Self {
        Self { boot: boot.into(), tokens: Mutex::default() }
    }

    /// The start of this process.
    pub(crate) fn boot(&self) -> &str {
        &self.boot
    }

    /// Issues a token. The caller journals it before it redeems it.
    pub fn issue(&self) -> PostToken {
        let mut tokens = self.lock();
        let number = tokens.next;
        tokens.next += 1;
        tokens.issued.insert(number, None);
        PostToken { boot: self.boot.clone(), number }
    }

    /// Whether a token was issued here and is not used yet.
    pub fn is_unused(&self, token: &PostToken) -> bool {
        token.boot == self.boot && matches!(self.lock().issued.get(&token.number), Some(None))
    }

    pub fn redeem(&self, token: &PostToken) -> TokenUse {
        if token.boot != self.boot {
            return TokenUse::Unknown;
        }
        match self.lock().issued.get_mut(&token.number) {
            None => TokenUse::Unknown,
            Some(Some(response)) => TokenUse::Sent(response.clone()),
            Some(unused) => {
                let (sender, receiver) = watch::channel(None);
                *unused = Some(receiver);
                TokenUse::Unused(sender)
            }
        }
    }

    /// Forgets a token whose outcome is journalled.
    pub fn forget(&self, token: &PostToken) {
        if token.boot == self.boot {
            self.lock().issued.remove(&token.number);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Tokens> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_allows_one_post() {
        let gate = PostGate::new("a");
        let token = gate.issue();
        assert!(gate.is_unused(&token));
        let TokenUse::Unused(sender) = gate.redeem(&token) else { panic!("it is unused") };
        assert!(!gate.is_unused(&token));
        let TokenUse::Sent(response) = gate.redeem(&token) else { panic!("it was used") };
        sender.send_replace(Some(Submission::Accepted { task: "t".into() }));
        assert!(matches!(&*response.borrow(), Some(Submission::Accepted { .. })));
    }

    #[test]
    fn token_of_another_boot_allows_none() {
        let (before, after) = (PostGate::new("a"), PostGate::new("b"));
        let token = before.issue();
        // The same number.
        let other_token = after.issue();
        assert_ne!(token, other_token);
        assert!(matches!(after.redeem(&token), TokenUse::Unknown));
        assert!(matches!(after.redeem(&other_token), TokenUse::Unused(_)));
    }

    #[test]
    fn forgotten_token_allows_none() {
        let gate = PostGate::new("a");
        let token = gate.issue();
        gate.forget(&token);
        assert!(!gate.is_unused(&token));
        assert!(matches!(gate.redeem(&token), TokenUse::Unknown));
    }
}
