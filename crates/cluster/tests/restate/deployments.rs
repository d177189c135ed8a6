//! Versions of workers at one address: another version than the one that is registered there is refused, which Restate itself does not do.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use cluster::deployment::VERSION;
use cluster::{ClusterError, EngineClient};
use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use restate_sdk::endpoint::Endpoint;
use restate_sdk::hyper::HyperEndpoint;
use restate_sdk::prelude::*;
use tokio::task::JoinHandle;

use crate::TIMEOUT;
use crate::server::{Server, address, listen};

/// What workers of one version serve.
#[derive(Debug, Clone)]
struct First;

#[object(name = "Run")]
impl First {
    #[handler]
    async fn start(&self, _ctx: ObjectContext<'_>) -> Result<(), HandlerError> {
        Ok(())
    }
}

/// Of the next version, which has another handler.
#[derive(Debug, Clone)]
struct Second;

#[object(name = "Run")]
impl Second {
    #[handler]
    async fn start(&self, _ctx: ObjectContext<'_>) -> Result<(), HandlerError> {
        Ok(())
    }

    #[handler]
    async fn pause(&self, _ctx: ObjectContext<'_>) -> Result<(), HandlerError> {
        Ok(())
    }
}

/// Serves an endpoint at a port, which stays open, until the task is aborted.
fn serve(endpoint: Endpoint, listener: &TcpListener) -> JoinHandle<()> {
    let endpoint = HyperEndpoint::new(endpoint);
    let listener = listener.try_clone().and_then(tokio::net::TcpListener::from_std).expect("a handle");
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.expect("a connection");
            let connection = http2::Builder::new(TokioExecutor::new());
            tokio::spawn(connection.serve_connection(TokioIo::new(stream), endpoint.clone()));
        }
    })
}

/// Ends what listens at a port, so that something else can.
async fn end(serving: JoinHandle<()>) {
    serving.abort();
    drop(serving.await);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_version_at_a_registered_address_is_refused() {
    let Some(server) = Server::from_environment(1) else { return };
    let (old, new) = (listen(), listen());
    let version = |version: &str| ServiceOptions::new().metadata(VERSION, version);
    let first = First.into_service_definition().options(version("1"));
    let second = || Second.into_service_definition().options(version("2"));
    let (admin, address_of_old) = (&server.admin, address(&old));
    let begin = Instant::now();
    while let Err(error) = EngineClient::check_version(admin, &address_of_old, "1").await {
        assert!(error.is_transient() && begin.elapsed() < TIMEOUT, "{error}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let serving = serve(Endpoint::builder().bind(first).build(), &old);
    EngineClient::register_version(admin, &address_of_old, "1").await.expect("nobody is registered there");
    EngineClient::register_version(admin, &address_of_old, "1")
        .await
        .expect("the same version, started again");
    end(serving).await;

    let other_version = |result: Result<(), ClusterError>| match result {
        Err(ClusterError::OtherVersion { registered, own, .. }) => (registered, own),
        result => panic!("another version is refused: {result:?}"),
    };
    let versions = ("1".to_owned(), "2".to_owned());
    // Before anything listens, and after Restate was asked to register what does.
    assert_eq!(other_version(EngineClient::check_version(admin, &address_of_old, "2").await), versions);
    let serving = serve(Endpoint::builder().bind(second()).build(), &old);
    assert_eq!(other_version(EngineClient::register_version(admin, &address_of_old, "2").await), versions);
    end(serving).await;
    let _serving = serve(Endpoint::builder().bind(second()).build(), &new);
    EngineClient::register_version(admin, &address(&new), "2").await.expect("a new address");
}
