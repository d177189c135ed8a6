//! The HTTP transport underneath: TLS by rustls with ring, no redirects, no proxies, no cookies, no second tries.

use reqwest::{Client, ClientBuilder, redirect};
use url::Url;

use crate::ConfigError;

/// An HTTP client with the settings of this project and no key: for what is not a call of the API.
///
/// # Errors
/// The system has no usable TLS set-up.
pub fn plain_http() -> Result<Client, ConfigError> {
    build_with(|builder| builder, true)
}

/// A transport for the service at a base URL.
pub(crate) fn build(
    base: &Url,
    settings: impl Fn(ClientBuilder) -> ClientBuilder,
) -> Result<Client, ConfigError> {
    build_with(settings, base.scheme() == "http")
}

fn build_with(
    settings: impl Fn(ClientBuilder) -> ClientBuilder,
    works_without_roots: bool,
) -> Result<Client, ConfigError> {
    // Another part of the program may have chosen already; either choice will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = || {
        settings(Client::builder())
            .redirect(redirect::Policy::none())
            // Whether a request may go out again is for the caller to say.
            .retry(reqwest::retry::never())
            .referer(false)
            .no_proxy()
            .tcp_nodelay(true)
    };
    match builder().build() {
        Ok(client) => Ok(client),
        // A machine without root certificates can still talk to a service that needs none.
        Err(_) if works_without_roots => builder().tls_certs_only([]).build().map_err(|error| of(&error)),
        Err(error) => Err(of(&error)),
    }
}

fn of(error: &reqwest::Error) -> ConfigError {
    let source = std::error::Error::source(error);
    ConfigError::Http(source.map_or_else(|| error.to_string(), |source| format!("{error}: {source}")))
}
