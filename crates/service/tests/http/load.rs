//! Keys that share the memory for bodies: none keeps another from submitting.

use std::time::Duration;

use reqwest::{Body, header};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use service::{ApiKeyStore, Keys, NewKey, OsRandomness, Permissions, SystemClock};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    time::timeout,
};

use crate::support::{TIMEOUT, TestRenderer, TestServer, config, error_summary, request};

const BODY: usize = 64 << 10;
/// Longer than any test: who waits for a slow body, or for media, waits for ever.
const NEVER: Duration = Duration::from_hours(1);

/// A service with room for four bodies and the reserve, and two keys. A slow body holds what it has for the grace period.
async fn server(grace: Duration) -> (TestServer, [SecretString; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let data = config(&folder).data;
    let keys = ["greedy", "other"].map(|name| {
        let new = NewKey { name: name.to_owned(), permissions: Permissions::all(), limits: None };
        ApiKeyStore::open(&data).unwrap().add(&new, &SystemClock, &OsRandomness).unwrap()
    });
    let server = TestServer::with(TestRenderer::free(), |config| {
        config.data = data;
        config.keys = Keys::Stored;
        config.allow_private_media = true;
        config.limits.body.bytes = BODY;
        config.limits.body.total_bytes = 5 * BODY;
        config.limits.body.grace = grace;
        config.limits.media.fetch_timeout = NEVER;
    })
    .await;
    // Keeps the folder of the keys.
    (TestServer { folder, ..server }, keys)
}

async fn submit(server: &TestServer, key: &SecretString, body: impl Into<Body>) -> reqwest::Response {
    let post = server.http.post(server.url("/v1/videos")).bearer_auth(key.expose_secret());
    post.header(header::CONTENT_TYPE, "application/json").body(body).send().await.unwrap()
}

/// Asserts that a submission of this key is accepted, and does not wait for what never comes.
async fn submits(server: &TestServer, key: &SecretString) {
    let response = submit(server, key, request("prompt").to_string()).await;
    assert_eq!(response.status(), 200);
}

/// Connections with the beginning of a body each; the rest keeps back.
async fn slow_bodies(server: &TestServer, key: &SecretString, count: usize, begin: &str) -> Vec<TcpStream> {
    let mut slow = Vec::new();
    for _ in 0..count {
        let mut stream = TcpStream::connect(server.service.local_addr()).await.unwrap();
        let head = format!(
            "POST /v1/videos HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Content-Length: {BODY}\r\n\r\n{begin}",
            key.expose_secret()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        slow.push(stream);
    }
    slow
}

#[tokio::test]
async fn bodies_that_do_not_arrive_hold_no_memory_and_end() {
    let (waiting, [greedy, other]) = server(NEVER).await;
    let slow = slow_bodies(&waiting, &greedy, 8, "{").await;
    submits(&waiting, &other).await;
    submits(&waiting, &greedy).await;
    drop(slow);
    waiting.service.shutdown().await;

    let (server, [greedy, _]) = server(Duration::from_millis(100)).await;
    for mut stream in slow_bodies(&server, &greedy, 8, "{").await {
        let mut text = String::new();
        timeout(TIMEOUT, stream.read_to_string(&mut text)).await.expect("an end").unwrap();
        assert!(text.starts_with("HTTP/1.1 400") && text.contains("body_too_slow"), "{text}");
    }
    server.service.shutdown().await;
}

#[tokio::test]
async fn bodies_of_one_key_that_fill_the_memory_do_not_delay_another() {
    let (server, [greedy, other]) = server(NEVER).await;
    // Seven eighths of each.
    let slow = slow_bodies(&server, &greedy, 12, &" ".repeat(BODY / 8 * 7)).await;
    submits(&server, &other).await;
    drop(slow);
    server.service.shutdown().await;
}

#[tokio::test]
async fn media_that_are_waited_for_hold_no_body_memory() {
    let (server, [greedy, other]) = server(NEVER).await;
    // Accepts connections, and does not respond.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/picture.png", silent.local_addr().unwrap());
    let waiting = (0..8).map(|_| {
        let mut body = request("waits for its picture");
        body["image"] = json!(url);
        let post =
            server.http.post(server.url("/v1/videos")).header(header::CONTENT_TYPE, "application/json");
        // Chunked: of unknown length.
        let chunks = futures_util::stream::iter([Ok::<_, std::io::Error>(body.to_string())]);
        let post = post.bearer_auth(greedy.expose_secret()).body(Body::wrap_stream(chunks));
        tokio::spawn(async move { error_summary(post.send().await.unwrap()).await })
    });
    let waiting: Vec<_> = waiting.collect();
    let mut fetches = Vec::new();
    for _ in 0..waiting.len() {
        fetches.push(silent.accept().await.unwrap());
    }
    submits(&server, &other).await;
    submits(&server, &greedy).await;
    // The host hangs up, and does not listen any more.
    drop((silent, fetches));
    for answer in waiting {
        assert_eq!(answer.await.unwrap(), "400 media_unreachable image");
    }
    server.service.shutdown().await;
}

#[tokio::test]
async fn bodies_of_many_small_values_are_refused() {
    let (server, [greedy, other]) = server(NEVER).await;
    let bomb: Vec<Value> = (0..9_000).map(|_| json!({"": 0})).collect();
    let bomb = json!({"model": "m", "prompt": "x", "metadata": {"x": bomb}}).to_string();
    assert_eq!(bomb.len() / 1024, 61);
    for _ in 0..3 {
        let answer = submit(&server, &greedy, bomb.clone()).await;
        assert_eq!(error_summary(answer).await, "400 body_too_complex -");
    }
    submits(&server, &other).await;
    server.service.shutdown().await;
}
