//! Requests to a worker that has identity keys: signed ones are served, all others are refused before anything else is looked at.

#![expect(clippy::expect_used, reason = "a test")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use cluster::account::AccountLimits;
use cluster::{ClusterError, EngineClient, SharedStore, StoreOptions, Worker, WorkerConfig};
use engine::Clock;
use engine::provider::{DownloadSink, PreparedRequest, Provider, Resume, Submission};
use futures_util::future::BoxFuture;
use http_body_util::Full;
use hyper::{Request, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use scheduler::budget::NoPrices;
use scheduler::{Failure, FailureKind, Policy, PollResult, TaskId, Timestamp};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

/// A service that must not be asked for anything.
struct NoService;

impl Provider for NoService {
    fn identity(&self) -> &'static str {
        "http://127.0.0.1:1"
    }

    fn prepare(&self, _model: &str, request: &Value) -> Result<PreparedRequest, Failure> {
        PreparedRequest::new(request).map_err(|error| Failure::new(FailureKind::Local, error.to_string()))
    }

    fn submit<'a>(&'a self, _request: &'a PreparedRequest) -> BoxFuture<'a, Submission> {
        unreachable!("nothing is submitted")
    }

    fn poll<'a>(&'a self, _task: &'a TaskId) -> BoxFuture<'a, PollResult> {
        unreachable!("nothing is polled")
    }

    fn download<'a>(
        &'a self,
        _task: &'a TaskId,
        _url: Option<&'a str>,
        _resume: Option<&'a Resume>,
        _sink: &'a mut dyn DownloadSink,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        unreachable!("nothing is downloaded")
    }
}

/// A worker's address, and what ends it.
async fn start(keys: &[String]) -> Result<(SocketAddr, tokio::sync::oneshot::Sender<()>), ClusterError> {
    let folder = tempfile::tempdir().expect("a folder");
    let url = Url::from_directory_path(folder.path()).expect("a path");
    let config = WorkerConfig {
        provider: Arc::new(NoService),
        store: SharedStore::open(&url, &StoreOptions::default()).expect("a store"),
        client: EngineClient::new("http://127.0.0.1:1".parse().expect("a URL")).expect("a client"),
        clock: Clock::starting_at(Timestamp(0)),
        ffmpeg: media::Ffmpeg::default(),
        digital_source: media::DigitalSource::AlgorithmicMedia,
        limits: AccountLimits::default(),
        min_poll_interval: Duration::from_secs(1),
        min_download_rate: Policy::local().min_download_rate,
        reconcile_delay: Duration::from_secs(1),
        indeterminate_hold: Duration::from_secs(1),
        prices: Arc::new(|_, _| Ok(Arc::new(NoPrices))),
        boot: "boot".to_owned(),
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("its address");
    let (stop, stopped) = tokio::sync::oneshot::channel();
    let keys = keys.to_vec();
    let worker = Arc::new(Worker::new(config));
    let serving = tokio::spawn(async move {
        // The sender is dropped at the end of the test.
        worker.serve(listener, &keys, async move { drop(stopped.await) }).await
    });
    // A request is answered once the keys were accepted. A worker that refuses them ends, and its listener with it.
    if let Err(error) = try_ask(address, "GET", DISCOVER, &[]).await {
        let ended = tokio::time::timeout(Duration::from_mins(1), serving).await;
        ended.expect("a worker that does not answer has ended").expect("no panic")?;
        panic!("a worker that accepted its keys does not answer: {error}");
    }
    Ok((address, stop))
}

/// The status that the worker answers with.
async fn ask(address: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)]) -> StatusCode {
    try_ask(address, method, path, headers).await.expect("an answer")
}

async fn try_ask(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
) -> Result<StatusCode, Box<dyn std::error::Error>> {
    let stream = TcpStream::connect(address).await?;
    let connected = hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await;
    let (mut sender, connection) = connected?;
    tokio::spawn(connection);
    let mut request = Request::builder().method(method).uri(format!("http://{address}{path}"));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::new(Bytes::new()))?;
    Ok(sender.send_request(request).await?.status())
}

fn new_key() -> (Ed25519KeyPair, String) {
    let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("a key");
    let key = Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).expect("a key");
    let public = format!("publickeyv1_{}", bs58::encode(key.public_key().as_ref()).into_string());
    (key, public)
}

/// A token as Restate signs it: for a path, valid from `from` seconds from now until `until`.
fn token(key: &Ed25519KeyPair, path: &str, from: i64, until: i64) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970").as_secs();
    let now = i64::try_from(now).expect("a date");
    let header = json!({ "typ": "JWT", "alg": "EdDSA" });
    let claims = json!({ "aud": path, "nbf": now + from, "iat": now, "exp": now + until });
    let encode = |part: &serde_json::Value| URL_SAFE_NO_PAD.encode(part.to_string());
    let signed = format!("{}.{}", encode(&header), encode(&claims));
    let signature = URL_SAFE_NO_PAD.encode(key.sign(signed.as_bytes()));
    format!("{signed}.{signature}")
}

const DISCOVER: &str = "/discover";
const INVOKE: &str = "/invoke/Node/submit";
const ACCEPT: (&str, &str) = ("accept", "application/vnd.restate.endpointmanifest.v4+json");

#[tokio::test]
async fn requests_signed_by_restate_are_served_and_all_others_refused() {
    let ((key, public), (second, second_public), (stranger, _)) = (new_key(), new_key(), new_key());
    let (address, _stop) = start(&[public, second_public]).await.expect("it serves");
    let discover = async |token: &str| {
        let signed = [ACCEPT, ("x-restate-signature-scheme", "v1"), ("x-restate-jwt-v1", token)];
        ask(address, "GET", DISCOVER, &signed).await
    };
    assert_eq!(discover(&token(&key, DISCOVER, -5, 600)).await, StatusCode::OK);
    assert_eq!(discover(&token(&second, DISCOVER, -5, 600)).await, StatusCode::OK, "keys are rotated");

    let valid = token(&key, DISCOVER, -5, 600);
    let other_claims = token(&key, INVOKE, -5, 600);
    let (head, signature) =
        (other_claims.rsplit_once('.').expect("parts").0, valid.rsplit_once('.').expect("parts").1);
    for (defect, refused) in [
        ("of another key", token(&stranger, DISCOVER, -5, 600)),
        ("for another path", other_claims.clone()),
        ("with the signature of another token", format!("{head}.{signature}")),
        ("that has expired", token(&key, DISCOVER, -60, -5)),
        ("that is not valid yet", token(&key, DISCOVER, 3_600, 7_200)),
        ("without a signature", format!("{}.", valid.rsplit_once('.').expect("parts").0)),
        ("that is none", "none".to_owned()),
    ] {
        assert_eq!(discover(&refused).await, StatusCode::UNAUTHORIZED, "a token {defect}");
    }
    for headers in [
        &[ACCEPT][..],
        &[ACCEPT, ("x-restate-signature-scheme", "unsigned")],
        &[ACCEPT, ("x-restate-signature-scheme", "v1")],
        &[ACCEPT, ("x-restate-signature-scheme", "v2"), ("x-restate-jwt-v1", valid.as_str())],
    ] {
        assert_eq!(ask(address, "GET", DISCOVER, headers).await, StatusCode::UNAUTHORIZED, "{headers:?}");
    }
    // Nobody but Restate has it submit.
    assert_eq!(ask(address, "POST", INVOKE, &[]).await, StatusCode::UNAUTHORIZED);
    let signed = [("x-restate-signature-scheme", "v1"), ("x-restate-jwt-v1", valid.as_str())];
    assert_eq!(
        ask(address, "POST", INVOKE, &signed).await,
        StatusCode::UNAUTHORIZED,
        "signed for another path"
    );
}

#[tokio::test]
async fn key_that_is_none_is_refused_at_the_start() {
    for key in ["", "nonsense", "publickeyv1_nonsense", "publickeyv1_", "publickeyv1_1111"] {
        let refused = start(&[key.to_owned()]).await.map(|(address, _)| address);
        assert!(matches!(refused, Err(ClusterError::Unreadable { .. })), "{key}: {refused:?}");
    }
}
