//! The HTTP transport underneath: TLS by rustls with ring, no redirects, no proxies, no cookies, no second tries.

use reqwest::{Client, ClientBuilder, redirect};
use url::Url;

use crate::ConfigError;

/// An HTTP client with the settings of this project and no key: for what is not a call of the API.
///
/// # Errors
/// The system has no usable TLS set-up.
pub fn plain_http() -> Result<Client, ConfigError> {
    build_with(|builder| builder, Roots::IfThereAreAny)
}

/// A transport to hosts that are reached by https.
pub(crate) fn secure(settings: impl Fn(ClientBuilder) -> ClientBuilder) -> Result<Client, ConfigError> {
    build_with(settings, Roots::Needed)
}

/// Whose certificates count: those that the system's root certificates vouch for. To read them takes longer than most requests.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Roots {
    Needed,
    /// A machine without root certificates can still talk to a service that needs none.
    IfThereAreAny,
    /// Nobody is spoken to by https.
    Unread,
}

/// A transport for the service at a base URL. Where that is http, it speaks to nobody by https.
pub(crate) fn build(
    base: &Url,
    settings: impl Fn(ClientBuilder) -> ClientBuilder,
) -> Result<Client, ConfigError> {
    build_with(settings, if base.scheme() == "http" { Roots::Unread } else { Roots::Needed })
}

fn build_with(
    settings: impl Fn(ClientBuilder) -> ClientBuilder,
    roots: Roots,
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
    let without = || builder().tls_certs_only([]).build();
    let built = match roots {
        Roots::Needed => builder().build(),
        Roots::IfThereAreAny => builder().build().or_else(|_| without()),
        Roots::Unread => without(),
    };
    built.map_err(|error| of(&error))
}

fn of(error: &reqwest::Error) -> ConfigError {
    let source = std::error::Error::source(error);
    ConfigError::Http(source.map_or_else(|| error.to_string(), |source| format!("{error}: {source}")))
}
