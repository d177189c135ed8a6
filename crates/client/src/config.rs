//! Client configuration and its validation.

use std::{fmt, sync::Arc, time::Duration};

use contract::Contract;
use secrecy::SecretString;
use url::Url;

use crate::Proxies;

/// Configuration for a service.
///
/// There is no default key and no default base URL; [`ClientConfig::new`] sets the timeouts.
#[derive(Debug, Clone)]
pub struct ClientConfig {
    /// What the service is like.
    pub description: Arc<Contract>,
    /// Scheme, host, port and, behind some gateways, a path. It takes the place of the description's server; for the built-in contract the `/v1` of
    /// the paths may be included or not.
    pub base_url: Url,
    /// The key. It is sent to the origin of `base_url` only.
    pub api_key: SecretString,
    /// How long a connection may take, TLS included.
    pub connect_timeout: Duration,
    /// Total timeout of a submission. Generous, because a response that comes too late belongs to a paid task whose id is unknown.
    pub submit_timeout: Duration,
    /// How long a poll may take in all.
    pub poll_timeout: Duration,
    /// How long a download may stall. There is no total timeout.
    pub read_timeout: Duration,
    /// How long the body of an error may take where a download was asked for.
    pub download_error_timeout: Duration,
    /// Proxies for everything that is not on this machine.
    pub proxies: Proxies,
}

impl ClientConfig {
    /// A service of the built-in contract and a key, with times that suit services on the internet.
    pub fn new(base_url: Url, api_key: SecretString) -> Self {
        Self {
            description: Arc::clone(Contract::embedded()),
            base_url,
            api_key,
            connect_timeout: Duration::from_secs(10),
            submit_timeout: Duration::from_mins(2),
            poll_timeout: Duration::from_secs(30),
            read_timeout: Duration::from_mins(1),
            download_error_timeout: Duration::from_secs(10),
            proxies: Proxies::default(),
        }
    }

    /// The same for a service of another description.
    pub fn described(self, description: Arc<Contract>) -> Self {
        Self { description, ..self }
    }

    /// Whether the service is that of the built-in contract, for which a client is generated.
    pub(crate) fn is_built_in(&self) -> bool {
        Arc::ptr_eq(&self.description, Contract::embedded())
    }

    /// The base that paths are joined to: without a trailing slash, and for the generated client without `/v1`.
    pub(crate) fn base(&self) -> Result<Url, ConfigError> {
        let url = &self.base_url;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(ConfigError::BaseUrl("it has to begin with http:// or https:// and name a host"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(ConfigError::BaseUrl("it holds a user name or a password; give the key as the key"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(ConfigError::BaseUrl(
                "it holds a query or a fragment; give the part before the `?` or `#`",
            ));
        }
        let mut base = url.clone();
        let path = url.path().trim_end_matches('/');
        base.set_path(path.strip_suffix("/v1").filter(|_| self.is_built_in()).unwrap_or(path));
        Ok(base)
    }
}

/// A configuration that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// The base URL is not usable: why.
    BaseUrl(&'static str),
    /// The key is not usable: why, without the key.
    Key(&'static str),
    /// A proxy is not usable: why, without its URL, which may hold a password.
    Proxy(String),
    /// The HTTP client cannot be built.
    Http(String),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BaseUrl(reason) => write!(f, "the base URL cannot be used: {reason}"),
            Self::Key(reason) => write!(f, "the API key cannot be used: {reason}"),
            Self::Proxy(reason) => f.write_str(reason),
            Self::Http(reason) => write!(f, "no HTTP client can be created: {reason}"),
        }
    }
}

impl std::error::Error for ConfigError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;

    fn config(base: &str, key: &str) -> ClientConfig {
        ClientConfig::new(base.parse().expect("a URL"), key.to_owned().into())
    }

    #[test]
    fn base_url_is_normalized() {
        for (url, base) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/"),
            ("https://api.example.com/v1/", "https://api.example.com/"),
            ("https://example.com/gateway/v1", "https://example.com/gateway"),
            ("https://example.com/gateway/", "https://example.com/gateway"),
        ] {
            assert_eq!(config(url, "k").base().expect("usable").as_str(), base, "{url}");
        }
    }

    #[test]
    fn base_url_or_key_unusable_is_refused() {
        for base in
            ["ftp://example.com", "https://me:pw@example.com", "https://example.com/?key=1", "data:,x"]
        {
            assert!(matches!(config(base, "k").base(), Err(ConfigError::BaseUrl(_))), "{base}");
        }
        for key in ["", "a key", "key\n", "schlüssel"] {
            let error =
                Key::new(&key.to_owned().into(), Contract::embedded().key_place()).expect_err("refused");
            assert!(key.is_empty() || !error.to_string().contains(key), "{error}");
        }
    }
}
