//! The HTTP client of tests, for loopback.

use reqwest::{Client, ClientBuilder};

/// A client without proxies and without root certificates: loading them takes longer than most tests.
pub(crate) fn client_builder() -> ClientBuilder {
    // Another test of the process may have installed it.
    drop(rustls::crypto::ring::default_provider().install_default());
    Client::builder().no_proxy().tls_certs_only([])
}
