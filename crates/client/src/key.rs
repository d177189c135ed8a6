//! The API key as a part of requests.

use contract::KeyPlace;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use url::Url;

use crate::ConfigError;

/// The key, where the description says that it goes.
#[derive(Clone, Debug)]
pub(crate) enum Key {
    /// The value is marked as sensitive, and prints so.
    Header(HeaderName, HeaderValue),
    Query(String, SecretString),
}

impl Key {
    /// # Errors
    /// The key cannot be sent.
    pub(crate) fn new(key: &SecretString, place: &KeyPlace) -> Result<Self, ConfigError> {
        let text = key.expose_secret();
        if text.is_empty() {
            return Err(ConfigError::Key("it is empty"));
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ConfigError::Key("it holds spaces, a line end or other characters that no key has"));
        }
        match place {
            KeyPlace::Header { name, prefix } => {
                let unusable = |_| ConfigError::Key("it cannot be sent in a header");
                let mut value = HeaderValue::try_from(format!("{prefix}{text}")).map_err(unusable)?;
                value.set_sensitive(true);
                let name = HeaderName::try_from(name.as_str())
                    .map_err(|_| ConfigError::Key("the description names a header that is none"))?;
                Ok(Self::Header(name, value))
            }
            KeyPlace::Query { name } => Ok(Self::Query(name.clone(), key.clone())),
        }
    }

    /// Puts the key into a request to the service itself, and to no other host.
    pub(crate) fn apply(&self, url: &mut Url, headers: &mut HeaderMap) {
        match self {
            Self::Header(name, value) => _ = headers.insert(name.clone(), value.clone()),
            Self::Query(name, key) => _ = url.query_pairs_mut().append_pair(name, key.expose_secret()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_goes_where_the_description_says() {
        let applied = |place| {
            let mut url: Url = "https://a.test/v?x=1".parse().expect("a URL");
            let mut headers = HeaderMap::new();
            Key::new(&"k-1&".to_owned().into(), &place).expect("a key").apply(&mut url, &mut headers);
            (url.to_string(), headers)
        };
        let place = KeyPlace::Header { name: "x-key".to_owned(), prefix: "Key ".to_owned() };
        let (url, headers) = applied(place);
        assert_eq!(url, "https://a.test/v?x=1");
        assert_eq!(headers["x-key"].as_bytes(), b"Key k-1&");
        let (url, headers) = applied(KeyPlace::Query { name: "key".to_owned() });
        assert_eq!((url.as_str(), headers.len()), ("https://a.test/v?x=1&key=k-1%26", 0));
    }
}
