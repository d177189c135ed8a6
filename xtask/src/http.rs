//! The HTTP client of checks and benchmarks.

use reqwest::{Client, ClientBuilder};

/// A client without proxies, which would be asked for loopback.
pub(crate) fn client_builder() -> ClientBuilder {
    // Fails where a provider is installed already, which serves as well.
    drop(rustls::crypto::ring::default_provider().install_default());
    Client::builder().no_proxy()
}
