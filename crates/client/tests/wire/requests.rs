//! Requests as received: method, path, exact headers, exact body.

use client::{CallError, Resume};
use serde_json::json;

use crate::server::{RecordedRequest, Server, answer, client, json_response, prepared, task};

fn describe_requests(recorded: &[RecordedRequest]) -> String {
    let show_one = |recorded: &RecordedRequest| {
        let headers = recorded.headers.iter().map(|(name, value)| {
            let value = if name == "host" { "[host]" } else { value };
            format!("    {name}: {value}\n")
        });
        format!(
            "{} {}\n{}    {}\n",
            recorded.method,
            recorded.path,
            headers.collect::<String>(),
            recorded.body
        )
    };
    recorded.iter().map(show_one).collect()
}

#[tokio::test]
async fn requests_send_exactly_these_headers() {
    let server = Server::answering(|recorded| match recorded.path.as_str() {
        path if path.ends_with("/content") => answer(200, &[], "bytes"),
        path if path.starts_with("/files") => answer(200, &[], "bytes"),
        _ => json_response(200, &task("queued")),
    })
    .await;
    let client = server.client();
    client.create(&prepared()).await.expect("accepted");
    client.get("task_1").await.expect("answered");
    client.content("task_1").await.expect("streamed");
    client.content_from("task_1", &Resume { offset: 100, validator: None }).await.expect("streamed");
    client.fetch("/files/a.mp4").await.expect("streamed");
    insta::assert_snapshot!(describe_requests(&server.requests()));
}

#[tokio::test]
async fn address_may_have_a_path() {
    let server = Server::answering(|_| json_response(200, &task("queued"))).await;
    let base = server.url.join("/gateway/v1").expect("a URL");
    client(&base).create(&prepared()).await.expect("accepted");
    assert_eq!(server.requests()[0].path, "/gateway/v1/videos");
}

#[tokio::test]
async fn task_id_of_any_characters_is_one_path_segment() {
    let server =
        Server::answering(|_| json_response(200, &json!({ "object": "video", "status": "queued" }))).await;
    let client = server.client();
    for (id, path) in [
        // The URL of the generator, which it makes of the contract; those of the others are made here.
        ("plain", "/v1/videos/plain"),
        ("a/../b", "/v1/videos/a%2F..%2Fb"),
        ("a\\b", "/v1/videos/a%5Cb"),
        ("a?b=c#d", "/v1/videos/a%3Fb%3Dc%23d"),
        ("dGFzazE==", "/v1/videos/dGFzazE%3D%3D"),
        ("a+b@1", "/v1/videos/a%2Bb%401"),
        ("%2e%2e", "/v1/videos/%252e%252e"),
        ("tâche\n", "/v1/videos/t%C3%A2che%0A"),
    ] {
        client.get(id).await.expect_err("the answer names no task");
        client.content(id).await.expect("answered");
        let paths: Vec<String> =
            server.requests().into_iter().rev().take(2).map(|request| request.path).collect();
        assert_eq!(paths, [format!("{path}/content"), path.to_owned()]);
    }
}

#[tokio::test]
async fn task_id_that_no_url_can_contain_is_not_sent() {
    let server = Server::answering(|_| json_response(200, &task("queued"))).await;
    let client = server.client();
    for id in ["..", ".", ""] {
        for error in [client.get(id).await.err(), client.content(id).await.err()] {
            let error = error.expect("refused");
            assert!(matches!(&error, CallError::NotSent { .. }), "{id:?}: {error}");
        }
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn submissions_never_reuse_a_connection() {
    // A server that closes each connection after its first response without announcing it.
    let server = Server::handling(|stream, _| async move {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let mut stream = stream;
        let mut buffer = [0; 4096];
        let _ = stream.read(&mut buffer).await;
        let body = task("queued").to_string();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        let _ = stream.write_all(head.as_bytes()).await;
    })
    .await;
    let client = server.client();
    for _ in 0..20 {
        client.create(&prepared()).await.expect("each finds a fresh connection");
    }
}
