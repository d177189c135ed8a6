//! The token in the printed address, and the cookie that it is exchanged for.

use service::{OsRandomness, Randomness as _, RandomnessError};
use subtle::ConstantTimeEq as _;

/// Secrets of one server. They are never logged.
pub(super) struct Session {
    token: String,
    cookie: String,
    /// The cookie's name. Cookies ignore ports, and two servers must not replace each other's.
    name: String,
}

impl Session {
    pub(super) fn new(port: u16) -> Result<Self, RandomnessError> {
        Ok(Self { token: secret()?, cookie: secret()?, name: format!("runner-{port}") })
    }

    /// For the address that is printed.
    pub(super) fn token(&self) -> &str {
        &self.token
    }

    pub(super) fn is_token(&self, text: &str) -> bool {
        self.token.as_bytes().ct_eq(text.as_bytes()).into()
    }

    pub(super) fn is_cookie(&self, text: &str) -> bool {
        self.cookie.as_bytes().ct_eq(text.as_bytes()).into()
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The value of `Set-Cookie`.
    pub(super) fn set_cookie(&self, is_secure: bool) -> String {
        let secure = if is_secure { "; Secure" } else { "" };
        format!("{}={}; HttpOnly; SameSite=Strict; Path=/{secure}", self.name, self.cookie)
    }
}

/// 256 random bits in hex.
fn secret() -> Result<String, RandomnessError> {
    use std::fmt::Write as _;
    let mut bytes = [0; 32];
    OsRandomness.fill(&mut bytes)?;
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}
