//! Downloads: streamed, redirected across hosts without the key, checked for their length, limited only in how long they stall.

use std::time::Duration;

use bytes::Bytes;
use client::{CallError, Client, Resume};
use futures_util::StreamExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::server::{KEY, Server, answer, config};

fn bearer() -> String {
    format!("Bearer {KEY}")
}

#[tokio::test]
async fn redirect_to_other_origin_does_not_send_the_key() {
    let other_server = Server::answering(|_| answer(200, &[], "elsewhere")).await;
    let foreign_url = other_server.url.join("/a.mp4?signature=1").expect("a URL").to_string();
    let location = foreign_url.clone();
    let server = Server::answering(move |request| match request.path.as_str() {
        "/v1/videos/near/content" => answer(302, &[("location", "/files/near")], ""),
        "/v1/videos/far/content" => answer(302, &[("location", &location)], ""),
        _ => answer(200, &[], "here"),
    })
    .await;
    let client = server.client();
    let read = async |download: Result<client::Download, CallError>| {
        download.expect("found").collect(100).await.expect("read")
    };
    assert_eq!(read(client.content("near").await).await, b"here");
    assert_eq!(read(client.content("far").await).await, b"elsewhere");
    assert_eq!(read(client.fetch(&foreign_url).await).await, b"elsewhere");
    assert_eq!(read(client.fetch(server.url.join("/x").expect("a URL").as_str()).await).await, b"here");
    assert!(server.requests().iter().all(|request| request.header("authorization") == Some(&bearer())));
    assert_eq!(other_server.requests().len(), 2);
    assert!(other_server.requests().iter().all(|request| request.header("authorization").is_none()));
    assert!(other_server.requests().iter().all(|request| request.header("referer").is_none()));
}

#[tokio::test]
async fn redirect_loop_ends_with_an_error() {
    let server = Server::answering(|_| answer(302, &[("location", "/again")], "")).await;
    let error = server.client().fetch("/again").await.expect_err("a ring");
    assert!(error.to_string().contains("redirects"), "{error}");
    assert!(server.requests().len() < 10);
}

#[tokio::test]
async fn fetch_scheme_other_than_http_is_refused() {
    let server = Server::answering(|_| answer(200, &[], "")).await;
    for address in ["file:///etc/passwd", "data:text/plain,x", "ftp://127.0.0.1/a", "javascript:alert(1)"] {
        let error = server.client().fetch(address).await.expect_err("refused");
        assert!(matches!(&error, CallError::NotSent { .. }), "{address}: {error}");
        assert!(!error.to_string().contains("passwd"), "{error}");
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn download_resumed_sends_range_and_reports_offset() {
    let server = Server::answering(|request| match request.header("range") {
        Some("bytes=4-") if request.header("if-range") == Some("\"a\"") => answer(
            206,
            &[("content-range", "bytes 4-9/10"), ("content-type", "video/mp4"), ("etag", "\"a\"")],
            "456789",
        ),
        _ => answer(
            200,
            &[("etag", "W/\"a\""), ("last-modified", "Sat, 21 Nov 2026 10:00:00 GMT")],
            "0123456789",
        ),
    })
    .await;
    let client = server.client();
    let rest = client
        .content_from("task_1", &Resume { offset: 4, validator: Some("\"a\"".to_owned()) })
        .await
        .expect("the rest");
    assert_eq!((rest.offset, rest.length, rest.content_type.as_deref()), (4, Some(6), Some("video/mp4")));
    assert_eq!((rest.total, rest.validator.as_deref()), (Some(10), Some("\"a\"")));
    assert_eq!(rest.collect(100).await.expect("read"), b"456789");
    // A service without range support sends the whole file; the download reports offset 0.
    let all = client.content_from("task_1", &Resume { offset: 7, validator: None }).await.expect("all of it");
    assert_eq!((all.offset, all.length, all.total), (0, Some(10), Some(10)));
    // A weak tag is no promise about bytes.
    assert_eq!(all.validator.as_deref(), Some("Sat, 21 Nov 2026 10:00:00 GMT"));
    let sent = server.requests();
    assert_eq!(sent.last().and_then(|request| request.header("if-range")), None);
}

/// Validators are stored for a later run.
#[tokio::test]
async fn download_validator_with_the_key_is_dropped() {
    let tag = format!("\"{KEY}\"");
    let server = Server::answering(move |_| answer(200, &[("etag", tag.as_str())], "0123456789")).await;
    let all = server.client().content("task_1").await.expect("all of it");
    assert_eq!(all.validator, None);
}

#[tokio::test]
async fn download_error_status_is_an_error() {
    let server = Server::answering(|_| {
        answer(404, &[], r#"{"error":{"message":"gone","type":"invalid_request_error"}}"#)
    })
    .await;
    let error = server.client().content("task_1").await.expect_err("refused");
    assert_eq!(error.to_string(), "the service answered 404: gone");
}

#[tokio::test]
async fn download_slow_outlasts_poll_timeout_but_stalled_ends() {
    let server = Server::handling(|mut stream, _| async move {
        let mut buffer = [0; 4096];
        let length = stream.read(&mut buffer).await.unwrap_or_default();
        let is_slow = buffer[..length].starts_with(b"GET /v1/videos/slow/");
        // Each connection ends with its response; the client must not try to use it again.
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 6\r\n\r\n").await;
        if !is_slow {
            std::future::pending::<()>().await;
        }
        for _ in 0..6 {
            tokio::time::sleep(Duration::from_millis(100)).await;
            let _ = stream.write_all(b"x").await;
        }
    })
    .await;
    let mut config = config(&server.url);
    (config.submit_timeout, config.poll_timeout) = (Duration::from_millis(200), Duration::from_millis(200));
    let client = Client::new(config).expect("a client");
    let slow = client.content("slow").await.expect("begun");
    assert_eq!(slow.collect(100).await.expect("whole"), b"xxxxxx");
    let still = client.content("still").await.expect("begun");
    // Nothing more comes: what passes until the client gives up is its own time.
    tokio::time::pause();
    let error = still.collect(100).await.expect_err("it stands still");
    assert!(matches!(&error, CallError::Indeterminate { .. }), "{error}");
}

#[tokio::test]
async fn download_truncated_ends_with_an_error() {
    let server = Server::handling(|mut stream, _| async move {
        let mut buffer = [0; 4096];
        let _ = stream.read(&mut buffer).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n1234").await;
    })
    .await;
    let chunks: Vec<Result<Bytes, CallError>> =
        server.client().content("task_1").await.expect("begun").collect_chunks().await;
    assert!(matches!(chunks.last(), Some(Err(CallError::Indeterminate { .. }))), "{chunks:?}");
}

/// What is appended to the first half of a file has to be the second.
#[tokio::test]
async fn download_part_that_is_not_what_it_says_is_refused() {
    let part = [("content-range", "bytes 4-9/10"), ("etag", "\"a\"")];
    let resume = || Resume { offset: 4, validator: Some("\"a\"".to_owned()) };
    for (headers, body, reason) in [
        (&[("content-encoding", "gzip")][..], "456789", "compressed (gzip)"),
        (&[], "45678", "not as long as it says"),
        (&[], "4567890", "not as long as it says"),
        (&[("content-range", "bytes 9-4/10")], "456789", "without saying which"),
        (&[("content-range", "items 4-9/10")], "456789", "without saying which"),
    ] {
        let mut all = part.to_vec();
        all.retain(|(name, _)| !headers.iter().any(|(replaced, _)| replaced == name));
        all.extend(headers);
        let server = Server::answering(move |_| answer(206, &all, body)).await;
        let error = server.client().content_from("task_1", &resume()).await.expect_err(reason);
        assert!(error.to_string().contains(reason), "{reason}: {error}");
    }
    // A whole file that is compressed is no video.
    let server = Server::answering(|_| answer(200, &[("content-encoding", "br")], "0123456789")).await;
    let error = server.client().content("task_1").await.expect_err("compressed");
    assert!(error.to_string().contains("compressed (br)"), "{error}");
}

/// All chunks, errors included.
trait Chunks {
    async fn collect_chunks(self) -> Vec<Result<Bytes, CallError>>;
}

impl Chunks for client::Download {
    async fn collect_chunks(mut self) -> Vec<Result<Bytes, CallError>> {
        let mut chunks = Vec::new();
        while let Some(chunk) = self.next().await {
            chunks.push(chunk);
        }
        chunks
    }
}
