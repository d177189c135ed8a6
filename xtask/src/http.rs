//! HTTP on loopback: the client and the servers of checks and benchmarks.

use std::net::SocketAddr;

use axum::Router;
use reqwest::{Client, ClientBuilder};
use tokio::net::TcpListener;

/// A client without proxies, which would be asked for loopback.
pub(crate) fn client_builder() -> ClientBuilder {
    // Fails where a provider is installed already, which serves as well.
    drop(rustls::crypto::ring::default_provider().install_default());
    Client::builder().no_proxy()
}

/// Listens on a free port; returns the URL as well, which ends in `/`.
pub(crate) async fn listen() -> Result<(TcpListener, String), String> {
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    Ok((listener, format!("http://{address}/")))
}

/// Serves until the runtime ends.
pub(crate) fn serve(listener: TcpListener, router: Router) {
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(async move { axum::serve(listener, service).await });
}
