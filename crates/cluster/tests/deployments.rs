//! Versions of workers at one address: another version than the one that is registered there is refused, which Restate itself does not do.
//!
//! Needs Restate's server: `cargo xtask cluster test` names it in `RESTATE_SERVER`. Without it nothing is tested, and the test says so.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::unused_async,
    missing_docs,
    reason = "a test, which says when it tests nothing; handlers are asynchronous"
)]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use cluster::deployment::VERSION;
use cluster::{ClusterError, EngineClient};
use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use restate_sdk::endpoint::Endpoint;
use restate_sdk::hyper::HyperEndpoint;
use restate_sdk::prelude::*;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use url::Url;

/// The longest wait for anything.
const TIMEOUT: Duration = Duration::from_mins(1);

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

/// Restate's server. Dropping it kills it.
struct Server {
    child: Child,
    admin: Url,
    _folder: tempfile::TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("its address").port()
}

fn loopback(port: u16) -> Url {
    Url::parse(&format!("http://127.0.0.1:{port}/")).expect("a URL")
}

fn start_server(program: &Path) -> Server {
    let folder = tempfile::tempdir().expect("a folder");
    let admin = free_port();
    let child = Command::new(program)
        .env("RESTATE_BASE_DIR", folder.path())
        .env("RESTATE_LISTEN_MODE", "tcp")
        .env("RESTATE_BIND_IP", "127.0.0.1")
        .env("RESTATE_BIND_PORT", free_port().to_string())
        .env("RESTATE_INGRESS__BIND_PORT", free_port().to_string())
        .env("RESTATE_ADMIN__BIND_PORT", admin.to_string())
        .env("RESTATE_DEFAULT_NUM_PARTITIONS", "2")
        .env("RESTATE_DISABLE_TELEMETRY", "true")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("Restate's server starts");
    Server { child, admin: loopback(admin), _folder: folder }
}

/// Serves an endpoint at a port, until the task is aborted.
async fn serve(endpoint: Endpoint, port: u16) -> JoinHandle<()> {
    let endpoint = HyperEndpoint::new(endpoint);
    let listener = TcpListener::bind(("127.0.0.1", port)).await.expect("the port is free");
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
    let Some(program) = std::env::var_os("RESTATE_SERVER") else {
        eprintln!(
            "skipped: RESTATE_SERVER does not name Restate's server; `cargo xtask cluster test` installs it"
        );
        return;
    };
    let server = start_server(Path::new(&program));
    let (old, new) = (free_port(), free_port());
    let version = |version: &str| ServiceOptions::new().metadata(VERSION, version);
    let first = First.into_service_definition().options(version("1"));
    let second = || Second.into_service_definition().options(version("2"));
    let (admin, address) = (&server.admin, loopback(old));
    let begin = Instant::now();
    while let Err(error) = EngineClient::check_version(admin, &address, "1").await {
        assert!(error.is_transient() && begin.elapsed() < TIMEOUT, "{error}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let serving = serve(Endpoint::builder().bind(first).build(), old).await;
    EngineClient::register_version(admin, &address, "1").await.expect("nobody is registered there");
    EngineClient::register_version(admin, &address, "1").await.expect("the same version, started again");
    end(serving).await;

    let other = |result: Result<(), ClusterError>| match result {
        Err(ClusterError::OtherVersion { registered, own, .. }) => (registered, own),
        other => panic!("another version is refused: {other:?}"),
    };
    let versions = ("1".to_owned(), "2".to_owned());
    // Before anything listens, and after Restate was asked to register what does.
    assert_eq!(other(EngineClient::check_version(admin, &address, "2").await), versions);
    let serving = serve(Endpoint::builder().bind(second()).build(), old).await;
    assert_eq!(other(EngineClient::register_version(admin, &address, "2").await), versions);
    end(serving).await;
    let _serving = serve(Endpoint::builder().bind(second()).build(), new).await;
    EngineClient::register_version(admin, &loopback(new), "2").await.expect("a new address");
}
