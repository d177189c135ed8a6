//! Clients that keep a connection or a body waiting.

use std::time::{Duration, Instant};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::{sleep, timeout},
};

use crate::support::{KEY, TIMEOUT, TestRenderer, TestServer, client_builder, request};

const WAIT: Duration = Duration::from_millis(400);

async fn connect(server: &TestServer) -> TcpStream {
    TcpStream::connect(server.service.local_addr()).await.unwrap()
}

/// Sends a whole request and reads the head of the response.
async fn ask(stream: &mut TcpStream) -> String {
    stream.write_all(b"GET /v1/videos/task_0 HTTP/1.1\r\nHost: here\r\n\r\n").await.unwrap();
    let mut bytes = vec![0; 4096];
    let read = timeout(TIMEOUT, stream.read(&mut bytes)).await.expect("an answer in time").unwrap();
    String::from_utf8_lossy(&bytes[..read]).lines().next().unwrap_or_default().to_owned()
}

/// Whether the other side closes the connection within `time`.
async fn is_closed_within(stream: &mut TcpStream, time: Duration) -> bool {
    let mut bytes = [0; 256];
    loop {
        match timeout(time, stream.read(&mut bytes)).await {
            Err(_) => return false,
            Ok(Ok(0) | Err(_)) => return true,
            Ok(Ok(_)) => {}
        }
    }
}

#[tokio::test]
async fn burst_of_connections_loses_no_request() {
    let server = TestServer::with(TestRenderer::free(), |config| config.limits.connections.total = 16).await;
    // Each request has a connection of its own, which is closed after it: many more than may be open at once.
    let client = client_builder().pool_max_idle_per_host(0).build().unwrap();
    let posts = (0..200).map(|number| {
        let post = client.post(server.url("/v1/videos")).bearer_auth(KEY);
        let post = post.json(&request(&format!("shot {number}")));
        tokio::spawn(async move { post.send().await.map(|response| response.status().as_u16()) })
    });
    for post in posts.collect::<Vec<_>>() {
        assert_eq!(post.await.unwrap().unwrap(), 200);
    }
    server.service.shutdown().await;
}

#[tokio::test]
async fn connections_without_a_request_end() {
    let server =
        TestServer::with(TestRenderer::free(), |config| config.limits.connections.timeout = WAIT).await;
    let (mut dripping, mut idle) = (connect(&server).await, connect(&server).await);
    let begin = Instant::now();
    while !is_closed_within(&mut dripping, Duration::from_millis(40)).await {
        assert!(begin.elapsed() < TIMEOUT, "a head that drips in is waited for");
        if dripping.write_all(b"G").await.is_err() {
            break;
        }
    }
    assert!(begin.elapsed() >= WAIT);
    assert!(is_closed_within(&mut idle, TIMEOUT).await);
    // A request makes it wait again.
    let mut used = connect(&server).await;
    for _ in 0..4 {
        assert_eq!(ask(&mut used).await, "HTTP/1.1 401 Unauthorized");
        sleep(WAIT / 2).await;
    }
    server.service.shutdown().await;
}

#[tokio::test]
async fn body_that_does_not_arrive_is_refused() {
    let server = TestServer::with(TestRenderer::free(), |config| config.limits.body.timeout = WAIT).await;
    let mut stream = connect(&server).await;
    let head = format!(
        "POST /v1/videos HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {KEY}\r\nContent-Type: application/json\r\n\
         Content-Length: 1000\r\n\r\n{{"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut text = String::new();
    timeout(TIMEOUT, stream.read_to_string(&mut text)).await.expect("an end").unwrap();
    assert!(text.starts_with("HTTP/1.1 400") && text.contains("body_too_slow"), "{text}");
    server.service.shutdown().await;
}
