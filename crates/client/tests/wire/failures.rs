//! Failures, and whether a retry is safe.

use std::time::Duration;

use client::{CallError, Client, PreparedRequest};
use contract::TaskState;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
};

use crate::server::{Server, answer, config, json_response, prepared, task};

fn indeterminate_reason(error: &CallError) -> &str {
    match error {
        CallError::Indeterminate { reason, .. } => reason,
        error => panic!("not indeterminate: {error}"),
    }
}

async fn read_request(stream: &mut TcpStream) {
    let mut buffer = [0; 4096];
    let _ = stream.read(&mut buffer).await;
}

#[tokio::test]
async fn create_without_listener_is_not_sent() {
    // Bound and not listening: connections are refused, and no other test gets the port.
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(([127, 0, 0, 1], 0).into()).expect("a free port");
    let port = socket.local_addr().expect("an address").port();
    let url = format!("http://127.0.0.1:{port}").parse().expect("a URL");
    let client = Client::new(config(&url)).expect("a client");
    let error = client.create(&prepared()).await.expect_err("nobody is there");
    assert!(
        matches!(&error, CallError::NotSent { reason } if reason.starts_with("no connection")),
        "{error}"
    );
}

#[tokio::test]
async fn create_error_response_keeps_status_error_and_wait() {
    let server = Server::answering(|_| {
        let body = json!({ "error": {
            "message": "too many", "type": "rate_limit_error", "param": null, "code": "rate_limited",
        } });
        answer(429, &[("retry-after", "7")], body.to_string())
    })
    .await;
    let error = server.client().create(&prepared()).await.expect_err("refused");
    assert_eq!(error.status(), Some(429));
    let CallError::Http(error) = error else { panic!("not refused") };
    assert_eq!(error.retry_after, Some(Duration::from_secs(7)));
    let api_error = error.refusal.error.as_ref().expect("it says why");
    assert_eq!(
        (api_error.message.as_str(), api_error.code.as_deref(), api_error.param.as_deref()),
        ("too many", Some("rate_limited"), None)
    );
    assert_eq!(error.to_string(), "the service answered 429: too many (rate_limited); retry after 7 s");
}

/// An error that quotes the prompt is longer than what is kept of it, and says all the same that nothing was accepted.
#[tokio::test]
async fn create_long_error_response_is_the_services_own() {
    let message = format!("the prompt is too long: {}", "é".repeat(10_000));
    let server = Server::answering(move |_| {
        json_response(
            400,
            &json!({ "error": { "message": message, "type": "invalid_request_error", "code": "too_long" } }),
        )
    })
    .await;
    let CallError::Http(error) = server.client().create(&prepared()).await.expect_err("refused") else {
        panic!()
    };
    assert!(error.refusal.refused.is_some(), "{error:?}");
    assert_eq!(error.refusal.error.and_then(|error| error.code).as_deref(), Some("too_long"));
    assert!(error.body.len() <= 4096);
}

#[tokio::test]
async fn create_connection_broken_after_request_is_indeterminate() {
    let server = Server::handling(|mut stream, _| async move { read_request(&mut stream).await }).await;
    indeterminate_reason(&server.client().create(&prepared()).await.expect_err("no answer"));
}

#[tokio::test]
async fn create_truncated_response_is_indeterminate() {
    let server = Server::handling(|mut stream, _| async move {
        read_request(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"obj").await;
    })
    .await;
    let error = server.client().create(&prepared()).await.expect_err("half an answer");
    let reason = indeterminate_reason(&error);
    assert!(reason.contains("cut off") && reason.ends_with(r#"; it begins with {"obj"#), "{error}");
}

#[tokio::test]
async fn create_response_without_id_is_indeterminate() {
    let server = Server::answering(|_| json_response(200, &json!({ "status": "queued" }))).await;
    let error = server.client().create(&prepared()).await.expect_err("no id");
    assert_eq!(
        indeterminate_reason(&error),
        r#"the response contains no task; it begins with {"status":"queued"}"#
    );
}

#[tokio::test]
async fn create_endless_response_is_bounded() {
    let server = Server::answering(|_| answer(200, &[], vec![b' '; 3 * client::MAX_RESPONSE_BYTES])).await;
    let error = server.client().create(&prepared()).await.expect_err("too long");
    assert!(indeterminate_reason(&error).contains("longer than"), "{error}");
    let server = Server::answering(|_| answer(500, &[], vec![b'x'; 3 * client::MAX_RESPONSE_BYTES])).await;
    let CallError::Http(error) = server.client().get("task_1").await.expect_err("refused") else { panic!() };
    assert!(error.body.len() <= 4096);
}

/// Services repeat the request in the task, with its images, and in an error.
#[tokio::test]
async fn response_that_repeats_a_large_request_is_read() {
    let image = "A/".repeat(1 << 19);
    let request = PreparedRequest::new(
        &json!({ "model": "modela-video-2-0-260128", "prompt": "a sea", "image": image }),
    )
    .expect("a request");
    let escaped = image.replace('/', "\\/");
    let body =
        format!(r#"{{"request":{{"image":"{escaped}"}},"id":"task_9","object":"video","status":"queued"}}"#);
    let sent = body.clone();
    let server = Server::answering(move |_| answer(200, &[], sent.clone())).await;
    assert_eq!(server.client().create(&request).await.expect("a task").id, "task_9");
    assert_eq!(server.client().get("task_9").await.expect("a task").task.state, TaskState::Queued);
    let refused = format!(
        r#"{{"error":{{"message":"no","type":"invalid_request_error","code":"c"}},"request":"{escaped}"}}"#
    );
    let server = Server::answering(move |_| answer(400, &[], refused.clone())).await;
    let CallError::Http(error) = server.client().create(&request).await.expect_err("refused") else {
        panic!()
    };
    assert!(error.refusal.refused.is_some(), "{error:?}");
}

#[tokio::test]
async fn timeouts_are_per_operation() {
    async fn never_answer(mut stream: TcpStream) {
        read_request(&mut stream).await;
        std::future::pending::<()>().await;
    }
    let server = Server::handling(|stream, _| never_answer(stream)).await;
    let mut config = config(&server.url);
    config.submit_timeout = Duration::from_millis(150);
    let client = Client::new(config.clone()).expect("a client");
    let error = client.create(&prepared()).await.expect_err("no answer");
    assert!(indeterminate_reason(&error).contains("within the timeout"), "{error}");
    (config.submit_timeout, config.poll_timeout) = (Duration::from_mins(2), Duration::from_millis(150));
    let client = Client::new(config).expect("a client");
    indeterminate_reason(&client.get("task_1").await.expect_err("no answer"));
}

#[tokio::test]
async fn create_redirect_is_not_followed() {
    let other_server = Server::answering(|_| json_response(200, &task("queued"))).await;
    let target = other_server.url.join("/v1/videos").expect("a URL").to_string();
    let server = Server::answering(move |_| answer(307, &[("location", &target)], "")).await;
    let error = server.client().create(&prepared()).await.expect_err("refused");
    assert_eq!(error.status(), Some(307));
    assert!(error.to_string().contains("set the base URL"), "{error}");
    assert!(other_server.requests().is_empty());
}
