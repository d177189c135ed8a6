//! Construction of HTTP clients: TLS by rustls with ring; no redirects, cookies or retries; only the proxies that the caller names.

use std::time::Duration;

use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};
use reqwest::{Client, ClientBuilder, Proxy, redirect};
use url::Url;

use crate::{ConfigError, Proxies};

/// An HTTP client with this project's settings and no API key, for requests that are not API calls.
///
/// # Errors
/// The system has no usable TLS set-up.
pub fn http_client() -> Result<Client, ConfigError> {
    build_with(|builder| builder, &[], Roots::Optional)
}

/// As [`http_client`], for one address. If that is an http address the client cannot connect by https, and is built without loading root
/// certificates.
///
/// # Errors
/// The system has no usable TLS set-up.
pub fn http_client_for(base: &Url) -> Result<Client, ConfigError> {
    if base.scheme() == "http" { build_with(|builder| builder, &[], Roots::None) } else { http_client() }
}

/// As [`http_client`], through proxies and with timeouts: until a connection exists, and until the next bytes or the head of a response come.
///
/// # Errors
/// A proxy cannot be used, or the system has no usable TLS set-up.
pub fn http_client_with(
    proxies: &Proxies,
    connect_timeout: Duration,
    read_timeout: Duration,
) -> Result<Client, ConfigError> {
    let settings =
        |builder: ClientBuilder| builder.connect_timeout(connect_timeout).read_timeout(read_timeout);
    build_with(settings, &proxies.to_reqwest(None)?, Roots::Optional)
}

/// A client for https hosts.
pub(crate) fn build_https(
    proxies: &Proxies,
    settings: impl Fn(ClientBuilder) -> ClientBuilder,
) -> Result<Client, ConfigError> {
    build_with(settings, &proxies.to_reqwest(None)?, Roots::Required)
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
    proxies: &Proxies,
    settings: impl Fn(ClientBuilder) -> ClientBuilder,
) -> Result<Client, ConfigError> {
    let roots = if base.scheme() == "http" { Roots::None } else { Roots::Required };
    build_with(settings, &proxies.to_reqwest(Some(base))?, roots)
}

fn build_with(
    settings: impl Fn(ClientBuilder) -> ClientBuilder,
    proxies: &[Proxy],
    roots: Roots,
) -> Result<Client, ConfigError> {
    // Fails when a provider is installed already, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = || {
        // Without the system's proxies, which reqwest would read from the environment.
        let builder =
            proxies.iter().cloned().fold(settings(Client::builder()).no_proxy(), ClientBuilder::proxy);
        builder
            // Without it a server may choose any coding (RFC 9110, 12.5.3), and none is decoded here.
            .default_headers(HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static("identity"))]))
            .redirect(redirect::Policy::none())
            // Only the caller knows whether a request may be repeated.
            .retry(reqwest::retry::never())
            .referer(false)
            // Several fronts refuse requests without one.
            .user_agent(concat!("runner/", env!("CARGO_PKG_VERSION")))
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
