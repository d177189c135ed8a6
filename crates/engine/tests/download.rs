//! Downloads from an HTTP server that breaks off: partial files are resumed, and a changed file is not mixed in.

#![expect(clippy::expect_used, reason = "a test stops at the first surprise")]

mod support;

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use client::{Client, ClientConfig};
use engine::provider::Remote;
use engine::{Clock, Ledger, RunConfig};
use scheduler::{KeyResolver, Outcome, Policy, RunId, RunSummary, Timestamp};
use support::clip::CLIP;
use support::plan;

/// Requests that the server received: path and the headers that matter, one line each request for the video.
type RequestLog = Arc<Mutex<Vec<String>>>;

/// A service whose files break off in the middle until they are asked for the rest.
struct Server {
    url: String,
    requests: RequestLog,
    stop: Arc<AtomicBool>,
}

/// How its files behave.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Files {
    /// They break off in the middle, and go on where they are asked to.
    Break,
    /// They break off in the middle, and are others when they are asked for the rest.
    Change,
    /// The URL is dead; only the content endpoint has the file.
    AreElsewhere,
}

impl Server {
    fn start(files: Files) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (requests, stop) = (RequestLog::default(), Arc::new(AtomicBool::new(false)));
        let (log, ended) = (Arc::clone(&requests), Arc::clone(&stop));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if ended.load(Ordering::SeqCst) {
                    return;
                }
                answer(stream, &format!("http://{address}"), files, &log);
            }
        });
        Self { url: format!("http://{address}/"), requests, stop }
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("no handler panics").clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // It waits for a connection; this is one.
        drop(TcpStream::connect(self.url.trim_start_matches("http://").trim_end_matches('/')));
    }
}

fn answer(mut stream: TcpStream, base: &str, files: Files, requests: &RequestLog) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).unwrap_or(0) == 0 {
            return;
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let header = |name: &str| {
        head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        })
    };
    let mut words = head.split_whitespace();
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let body = header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0_usize);
    let mut sent = vec![0; body];
    stream.read_exact(&mut sent).expect("the request's body");
    let mut send = |text: String, bytes: &[u8]| {
        // A client that hangs up has what it wanted.
        let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.write_all(bytes));
    };
    let task = |status: &str| {
        let body = format!(
            r#"{{"id":"task_1","object":"video","model":"modela-video-2-0-260128","status":"{status}","progress":0,"created_at":1,"seconds":"4","metadata":{{"url":"{base}/v.mp4?signature={}"}}}}"#,
            requests.lock().expect("no handler panics").len()
        );
        (
            format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                body.len()
            ),
            body,
        )
    };
    match (method, path.split('?').next().unwrap_or_default()) {
        ("POST", _) => {
            let (text, body) = task("queued");
            send(text, body.as_bytes());
        }
        (_, "/v1/videos/task_1") => {
            let (text, body) = task("completed");
            send(text, body.as_bytes());
        }
        (_, path) => {
            let range = header("range");
            let mut line = path.to_owned();
            for name in ["range", "if-range"] {
                if let Some(value) = header(name) {
                    line = format!("{line} {name}: {value}");
                }
            }
            requests.lock().expect("no handler panics").push(line);
            if files == Files::AreElsewhere && path == "/v.mp4" {
                send(
                    "HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".to_owned(),
                    b"",
                );
                return;
            }
            let (length, half) = (CLIP.len(), CLIP.len() / 2);
            let first: usize = range
                .as_deref()
                .and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok())
                .unwrap_or(0);
            let tag = if files == Files::Change && range.is_some() { "\"second\"" } else { "\"first\"" };
            let same = header("if-range").is_some_and(|wanted| wanted == tag);
            if first > 0 && same {
                let text = format!(
                    "HTTP/1.1 206 Partial Content\r\netag: {tag}\r\nconnection: close\r\ncontent-length: {}\r\ncontent-range: bytes {first}-{}/{length}\r\n\r\n",
                    length - first,
                    length - 1
                );
                send(text, &CLIP[first..]);
            } else {
                let text = format!(
                    "HTTP/1.1 200 OK\r\netag: {tag}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
                );
                let breaks = files == Files::Break || (files == Files::Change && range.is_none());
                send(text, if breaks { &CLIP[..half] } else { &CLIP });
            }
        }
    }
}

async fn run(server: &Server, folder: &std::path::Path, tries: u32) -> RunSummary {
    let ledger = Ledger::open_without_sync(&folder.join(".runner/ledger.db"), folder).expect("a ledger");
    let client =
        Client::new(ClientConfig::new(server.url.parse().expect("a URL"), "sk-test".to_owned().into()))
            .expect("a client");
    let provider = Remote::new(client);
    let keys = KeyResolver::new(engine::provider::Provider::identity(&provider));
    let (_asked, interrupt) = tokio::sync::watch::channel(false);
    let setup = RunConfig {
        run: RunId(format!("run{tries}")),
        ledger: Arc::new(ledger),
        provider: Arc::new(provider),
        policy: Policy { max_download_attempts: tries, backoff: Duration::from_millis(5), ..Policy::local() },
        clock: Clock::starting_at(Timestamp(1)),
        output_dir: folder.join("out"),
        workflow_dir: folder.to_owned(),
        ffmpeg: media::Ffmpeg::default(),
        budget: scheduler::Budget::default(),
        keys,
        scope: scheduler::RunScope::default(),
        verify: engine::artifact_store::Verify::Metadata,
        interrupt,
    };
    engine::run(plan(&["a"]), setup, &mut engine::reporter::Silent).await.expect("the run can go on")
}

fn is_whole(summary: &RunSummary) -> bool {
    matches!(&summary.nodes[0].outcome, Outcome::Done { artifact, .. }
        if std::fs::read(&artifact.path).is_ok_and(|bytes| bytes == *CLIP))
}

#[tokio::test]
async fn download_interrupted_resumes_in_later_run() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(Files::Break);
    let half = CLIP.len() / 2;
    // The first run gives up after one try; the second has another signed URL of the same file.
    let first = run(&server, folder.path(), 1).await;
    assert!(matches!(first.nodes[0].outcome, Outcome::Detached { .. }), "{:?}", first.nodes);
    let second = run(&server, folder.path(), 3).await;
    assert!(is_whole(&second), "{:?}", second.nodes);
    assert_eq!(
        server.requests(),
        ["/v.mp4".to_owned(), format!("/v.mp4 range: bytes={half}- if-range: \"first\"")]
    );
    let left: Vec<_> = std::fs::read_dir(folder.path().join(".runner/artifacts"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    assert_eq!(left.len(), 1, "the video alone, under its content's name: {left:?}");
}

#[tokio::test]
async fn download_changed_file_restarts_from_beginning() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(Files::Change);
    let summary = run(&server, folder.path(), 4).await;
    assert!(is_whole(&summary), "{:?}", summary.nodes);
    assert_eq!(server.requests().len(), 2, "{:?}", server.requests());
}

#[tokio::test]
async fn download_dead_url_falls_back_to_content_endpoint() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(Files::AreElsewhere);
    let summary = run(&server, folder.path(), 4).await;
    assert!(is_whole(&summary), "{:?}", summary.nodes);
    assert_eq!(server.requests(), ["/v.mp4", "/v1/videos/task_1/content"]);
}
