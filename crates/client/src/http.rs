//! Construction of HTTP clients: TLS by rustls with ring; no redirects, proxies, cookies or retries.

use reqwest::{Client, ClientBuilder, redirect};
use url::Url;

use crate::ConfigError;

/// An HTTP client with this project's settings and no API key, for requests that are not API calls.
///
/// # Errors
/// The system has no usable TLS set-up.
pub fn http_client() -> Result<Client, ConfigError> {
    build_with(|builder| builder, Roots::Optional)
}

/// A client for https hosts.
pub(crate) fn build_https(settings: impl Fn(ClientBuilder) -> ClientBuilder) -> Result<Client, ConfigError> {
    build_with(settings, Roots::Required)
}

/// Whether the system's root certificates are loaded. Loading takes longer than most requests.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Roots {
    Required,
    /// Without root certificates, plain http still works.
    Optional,
    /// The client is used for plain http only.
    None,
}

/// A client for the service at a base URL. For an http base URL it cannot connect by https.
pub(crate) fn build(
    base: &Url,
    settings: impl Fn(ClientBuilder) -> ClientBuilder,
) -> Result<Client, ConfigError> {
    build_with(settings, if base.scheme() == "http" { Roots::None } else { Roots::Required })
}

fn build_with(
    settings: impl Fn(ClientBuilder) -> ClientBuilder,
    roots: Roots,
) -> Result<Client, ConfigError> {
    // Fails when a provider is installed already, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = || {
        settings(Client::builder())
            .redirect(redirect::Policy::none())
            // Only the caller knows whether a request may be repeated.
            .retry(reqwest::retry::never())
            .referer(false)
            .no_proxy()
            .tcp_nodelay(true)
    };
    let without = || builder().tls_certs_only([]).build();
    let built = match roots {
        Roots::Required => builder().build(),
        Roots::Optional => builder().build().or_else(|_| without()),
        Roots::None => without(),
    };
    built.map_err(|error| config_error(&error))
}

fn config_error(error: &reqwest::Error) -> ConfigError {
    let source = std::error::Error::source(error);
    ConfigError::Http(source.map_or_else(|| error.to_string(), |source| format!("{error}: {source}")))
}
