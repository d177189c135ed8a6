//! Logs name the task and never the key. A test program of its own, because a tracing callsite caches the first subscriber that it meets.

#![expect(clippy::expect_used, reason = "a test may stop at the first surprise")]

#[path = "wire/server.rs"]
#[allow(dead_code, reason = "one test uses little of it")]
mod server;

use std::{
    io::{self, Write},
    sync::{Arc, Mutex},
};

use client::PreparedRequest;
use server::{KEY, Server, json_response, request, task};
use tracing_subscriber::{filter::LevelFilter, fmt::MakeWriter};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no test panics with the lock").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[tokio::test(flavor = "current_thread")]
async fn logs_name_the_task_and_no_key_image_or_signature() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::TRACE)
        .with_ansi(false)
        .with_writer(log.clone())
        .finish();
    let guard = tracing::subscriber::set_default(subscriber);
    let server = Server::answering(|_| json_response(200, &task("queued"))).await;
    let client = server.client();
    let mut image = request();
    image["image"] = "data:image/png;base64,SECRETIMAGE".into();
    client.create(&PreparedRequest::new(&image).expect("acceptable")).await.expect("accepted");
    client.get("task_1").await.expect("a task");
    let signed = "https://me.invalid/a.mp4?signature=SECRETSIGNATURE";
    for address in ["/a.mp4?signature=SECRETSIGNATURE", signed] {
        // The name without the signature is in the log; neither the key nor the URL is complete.
        drop(client.fetch(address).await);
    }
    drop(guard);
    let text = String::from_utf8(log.0.lock().expect("no test panics with the lock").clone()).expect("text");
    assert!(text.contains("create{task_id=\"task_1\"}"), "{text}");
    assert!(text.contains("get{task_id=\"task_1\"}"), "{text}");
    assert!(text.contains(r#"path="/v1/videos/task_1""#) && text.contains("status=200"), "{text}");
    for secret in [KEY, "SECRETIMAGE", "SECRETSIGNATURE"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
}
