//! Clients that hold connections: half requests without a key keep nobody out.

use std::time::{Duration, Instant};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::{sleep, timeout},
};

use crate::support::{KEY, TIMEOUT, TestRenderer, TestServer, client_builder, request};

const HEAD_TIMEOUT: Duration = Duration::from_millis(400);
/// Longer than any test.
const NEVER: Duration = Duration::from_hours(1);

/// A service that closes a connection without a key for another one once it has been idle for `min_idle`.
async fn server(head_timeout: Duration, min_idle: Duration) -> TestServer {
    TestServer::with(TestRenderer::free(), |config| {
        let connections = &mut config.limits.connections;
        (connections.total, connections.per_network) = (40, 16);
        connections.head_timeout = head_timeout;
        connections.min_idle = min_idle;
        connections.min_authenticated_idle = NEVER;
    })
    .await
}

async fn connect(server: &TestServer) -> TcpStream {
    TcpStream::connect(server.service.local_addr()).await.unwrap()
}

/// Sends a whole request and reads the head of the response.
async fn ask(stream: &mut TcpStream, key: Option<&str>) -> String {
    let key = key.map_or_else(String::new, |key| format!("Authorization: Bearer {key}\r\n"));
    let request = format!("GET /v1/videos/task_0 HTTP/1.1\r\nHost: here\r\n{key}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = vec![0; 4096];
    let read = timeout(TIMEOUT, stream.read(&mut bytes)).await.expect("an answer in time").unwrap();
    String::from_utf8_lossy(&bytes[..read]).lines().next().unwrap_or_default().to_owned()
}

/// Whether the other side closes the connection within `time`.
async fn is_closed_within(stream: &mut TcpStream, time: Duration) -> bool {
    let mut byte = [0; 256];
    loop {
        match timeout(time, stream.read(&mut byte)).await {
            Err(_) => return false,
            Ok(Ok(0) | Err(_)) => return true,
            Ok(Ok(_)) => {}
        }
    }
}

#[tokio::test]
async fn incomplete_requests_do_not_block_other_clients() {
    let server = server(NEVER, Duration::from_millis(20)).await;
    let mut keyed = connect(&server).await;
    assert_eq!(ask(&mut keyed, Some(KEY)).await, "HTTP/1.1 404 Not Found");
    let mut connections = Vec::new();
    for _ in 0..120 {
        let mut connection = connect(&server).await;
        // Those that are cut meanwhile fail.
        let _ = connection.write_all(b"GET /healthz HTTP/1.1\r\nHost: here\r\nX-").await;
        connections.push(connection);
    }
    let health = server.http.get(server.url("/healthz")).send().await.unwrap();
    assert_eq!(health.status(), 200);
    server.make(&request("in between")).await;
    assert_eq!(
        ask(&mut keyed, Some(KEY)).await,
        "HTTP/1.1 404 Not Found",
        "who has a key keeps the connection"
    );
    // The oldest, so that no more than may be open at all are left.
    for connection in &mut connections[..80] {
        assert!(is_closed_within(connection, TIMEOUT).await, "a half request is still open");
    }
    drop(connections);
    server.service.shutdown().await;
}

#[tokio::test]
async fn burst_of_connections_loses_no_request() {
    let server = server(NEVER, NEVER).await;
    // Each request has a connection of its own, which is closed after it.
    let client = client_builder().pool_max_idle_per_host(0).build().unwrap();
    // Many more than may be open without a key, and than may be open at all.
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
async fn head_of_a_request_has_a_deadline() {
    let server = server(HEAD_TIMEOUT, NEVER).await;
    let mut dripping = connect(&server).await;
    let begin = Instant::now();
    let closed = loop {
        if dripping.write_all(b"G").await.is_err()
            || is_closed_within(&mut dripping, Duration::from_millis(40)).await
        {
            break begin.elapsed();
        }
        assert!(begin.elapsed() < TIMEOUT, "a head that drips in is waited for");
    };
    assert!(closed >= HEAD_TIMEOUT, "{closed:?}");
    server.service.shutdown().await;
}

#[tokio::test]
async fn connection_stays_open_between_requests() {
    let server = server(HEAD_TIMEOUT, NEVER).await;
    let mut stream = connect(&server).await;
    for key in [None, Some(KEY)] {
        let expected = if key.is_some() { "HTTP/1.1 404 Not Found" } else { "HTTP/1.1 401 Unauthorized" };
        assert_eq!(ask(&mut stream, key).await, expected);
        sleep(2 * HEAD_TIMEOUT).await;
    }
    // The head of a later request has a deadline, too.
    stream.write_all(b"GET /v1").await.unwrap();
    assert!(is_closed_within(&mut stream, TIMEOUT).await);
    server.service.shutdown().await;
}
