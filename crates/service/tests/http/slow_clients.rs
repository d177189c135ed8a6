//! Clients that hold connections: half requests without a key keep nobody out.

use std::time::{Duration, Instant};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::{sleep, timeout},
};

use crate::support::{KEY, TestRenderer, TestServer, client_builder, request};

const HEAD_TIMEOUT: Duration = Duration::from_millis(400);
const WAIT: Duration = Duration::from_secs(5);

async fn server() -> TestServer {
    TestServer::with(TestRenderer::free(), |config| {
        let connections = &mut config.limits.connections;
        (connections.total, connections.per_network) = (40, 16);
        connections.head_timeout = HEAD_TIMEOUT;
        connections.min_idle = Duration::from_millis(20);
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
    let read = timeout(WAIT, stream.read(&mut bytes)).await.expect("an answer in time").unwrap();
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
    let server = server().await;
    let mut keyed = connect(&server).await;
    assert_eq!(ask(&mut keyed, Some(KEY)).await, "HTTP/1.1 404 Not Found");
    let mut connections = Vec::new();
    for _ in 0..120 {
        let mut connection = connect(&server).await;
        // Those that are cut meanwhile fail.
        let _ = connection.write_all(b"GET /healthz HTTP/1.1\r\nHost: here\r\nX-").await;
        connections.push(connection);
    }
    let begin = Instant::now();
    let health = server.http.get(server.url("/healthz")).send().await.unwrap();
    assert_eq!(health.status(), 200);
    server.make(&request("in between")).await;
    assert!(begin.elapsed() < WAIT);
    assert_eq!(
        ask(&mut keyed, Some(KEY)).await,
        "HTTP/1.1 404 Not Found",
        "who has a key keeps the connection"
    );
    let mut open = 0;
    for connection in &mut connections {
        open += usize::from(!is_closed_within(connection, Duration::from_millis(1)).await);
    }
    assert!(open <= 40, "{open} half requests are still open");
    server.service.shutdown().await;
}

#[tokio::test]
async fn burst_of_connections_loses_no_request() {
    let server = TestServer::with(TestRenderer::free(), |config| {
        let connections = &mut config.limits.connections;
        (connections.total, connections.per_network) = (40, 16);
    })
    .await;
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
    let server = server().await;
    let mut dripping = connect(&server).await;
    let begin = Instant::now();
    let closed = loop {
        if dripping.write_all(b"G").await.is_err()
            || is_closed_within(&mut dripping, Duration::from_millis(40)).await
        {
            break begin.elapsed();
        }
        assert!(begin.elapsed() < WAIT, "a head that drips in is waited for");
    };
    assert!(closed >= HEAD_TIMEOUT, "{closed:?}");
    server.service.shutdown().await;
}

#[tokio::test]
async fn connection_stays_open_between_requests() {
    let server = server().await;
    let mut stream = connect(&server).await;
    for key in [None, Some(KEY)] {
        let expected = if key.is_some() { "HTTP/1.1 404 Not Found" } else { "HTTP/1.1 401 Unauthorized" };
        assert_eq!(ask(&mut stream, key).await, expected);
        sleep(2 * HEAD_TIMEOUT).await;
    }
    // The head of a later request has a deadline, too.
    stream.write_all(b"GET /v1").await.unwrap();
    assert!(is_closed_within(&mut stream, WAIT).await);
    server.service.shutdown().await;
}
