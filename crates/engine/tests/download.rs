//! Downloads from an HTTP server that breaks off: partial files are resumed, and a changed file is not mixed in.

#![expect(clippy::expect_used, reason = "a test stops at the first surprise")]

mod support;

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use client::{Client, ClientConfig};
use engine::artifact_store::Verify;
use engine::provider::Remote;
use engine::{Clock, Ledger, RunConfig};
use scheduler::policy::MinRate;
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
    OnlyAtContentEndpoint,
    /// As `Change`, but the rest of the other file is sent, with its validator, whatever `If-Range` says.
    ChangeIgnoringIfRange(Validator),
    /// As `Break`, without a validator that identifies the bytes.
    BreakModified,
    /// The URL sends a byte at a time; the content endpoint is fast.
    Drip,
    /// Both addresses send a byte at a time.
    DripEverywhere,
    /// The URL has the video with damaged data; the content endpoint has it whole.
    Damaged,
    /// Both addresses have it with damaged data.
    DamagedEverywhere,
    /// Both addresses have it whole.
    Whole,
    /// The URL never ends; the content endpoint has the video.
    Endless,
    /// Neither address ever ends.
    EndlessEverywhere,
    /// Both addresses announce 5 GiB and send nothing.
    Huge,
}

/// What tells a file from its successor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Validator {
    ETag,
    LastModified,
    /// The response with the rest has none.
    Missing,
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
                let (log, ended) = (Arc::clone(&log), Arc::clone(&ended));
                std::thread::spawn(move || {
                    answer(stream, &format!("http://{address}"), files, &log, &ended);
                });
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

/// Sends a byte at a time until the client hangs up or the test ends.
fn drip(stream: &mut TcpStream, ended: &AtomicBool) {
    let head = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", CLIP.len());
    let mut sent = stream.write_all(head.as_bytes());
    for byte in CLIP.iter() {
        if sent.is_err() || ended.load(Ordering::SeqCst) {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
        sent = stream.write_all(&[*byte]);
    }
}

/// Sends zeros until the client hangs up or the test ends.
fn pour(stream: &mut TcpStream, ended: &AtomicBool) {
    let mut sent = stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n");
    while sent.is_ok() && !ended.load(Ordering::SeqCst) {
        sent = stream.write_all(&[0; 1 << 12]);
    }
}

fn answer(mut stream: TcpStream, base: &str, files: Files, requests: &RequestLog, ended: &AtomicBool) {
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
            let (header, value) = line.split_once(':')?;
            header.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        })
    };
    let mut words = head.split_whitespace();
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let body = header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0_usize);
    let mut sent = vec![0; body];
    stream.read_exact(&mut sent).expect("the request's body");
    let mut send = |text: String, bytes: &[u8]| {
        // At once, so that nothing is late because this thread was interrupted in between. A client that hangs up has what it wanted.
        let _ = stream.write_all(&[text.as_bytes(), bytes].concat());
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
            if files == Files::OnlyAtContentEndpoint && path == "/v.mp4" {
                send(
                    "HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".to_owned(),
                    b"",
                );
                return;
            }
            if files == Files::DripEverywhere || (files == Files::Drip && path == "/v.mp4") {
                drip(&mut stream, ended);
                return;
            }
            if files == Files::DamagedEverywhere || (files == Files::Damaged && path == "/v.mp4") {
                let head =
                    format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", CLIP.len());
                send(head, &damaged());
                return;
            }
            if files == Files::EndlessEverywhere || (files == Files::Endless && path == "/v.mp4") {
                pour(&mut stream, ended);
                return;
            }
            if files == Files::Huge {
                let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 5368709120\r\n\r\n";
                send(head.to_owned(), b"");
                // Until the client hangs up.
                let _ = stream.read(&mut [0]);
                return;
            }
            let (length, half) = (CLIP.len(), CLIP.len() / 2);
            let first: usize = range
                .as_deref()
                .and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok())
                .unwrap_or(0);
            let number = requests.lock().expect("no handler panics").len();
            let is_second = match files {
                Files::Change => range.is_some(),
                Files::ChangeIgnoringIfRange(_) => number > 1,
                _ => false,
            };
            let tag = if is_second { "\"second\"" } else { "\"first\"" };
            let date = format!("Sat, 21 Nov 2026 10:00:0{} GMT", u8::from(is_second));
            let ignores = matches!(files, Files::ChangeIgnoringIfRange(_));
            let same =
                ignores || header("if-range").is_some_and(|validator| validator == tag || validator == date);
            let validator = match files {
                Files::BreakModified | Files::ChangeIgnoringIfRange(Validator::LastModified) => {
                    format!("last-modified: {date}\r\n")
                }
                Files::ChangeIgnoringIfRange(Validator::Missing) if first > 0 => String::new(),
                _ => format!("etag: {tag}\r\n"),
            };
            // The second file is as long, and other.
            let file: Vec<u8> =
                if is_second { CLIP.iter().map(|byte| byte ^ 0x55).collect() } else { CLIP.to_vec() };
            let is_whole_second = is_second && first == 0;
            let file = if is_whole_second || files == Files::Change { CLIP.to_vec() } else { file };
            if first > 0 && same {
                let text = format!(
                    "HTTP/1.1 206 Partial Content\r\n{validator}connection: close\r\ncontent-length: {}\r\ncontent-range: bytes {first}-{}/{length}\r\n\r\n",
                    length - first,
                    length - 1
                );
                send(text, &file[first..]);
            } else {
                let breaks = match files {
                    Files::Break => true,
                    Files::BreakModified | Files::ChangeIgnoringIfRange(_) => number == 1,
                    Files::Change => range.is_none(),
                    _ => false,
                };
                // A length that is not known, where the time alone would have to identify the file.
                let stated = if files == Files::BreakModified {
                    "transfer-encoding: chunked".to_owned()
                } else {
                    format!("content-length: {length}")
                };
                let text = format!("HTTP/1.1 200 OK\r\n{validator}connection: close\r\n{stated}\r\n\r\n");
                let sent = if breaks { &file[..half] } else { &file[..] };
                if files == Files::BreakModified {
                    let mut chunk = format!("{:x}\r\n", sent.len()).into_bytes();
                    chunk.extend_from_slice(sent);
                    chunk.extend_from_slice(if breaks { b"" } else { b"\r\n0\r\n\r\n" });
                    send(text, &chunk);
                } else {
                    send(text, sent);
                }
            }
        }
    }
}

/// The clip with zeros instead of a part of its data; its index is intact.
fn damaged() -> Vec<u8> {
    let mut bytes = CLIP.to_vec();
    let data = bytes.windows(4).position(|name| name == b"mdat").expect("a clip") + 8;
    bytes[data..data + 20].fill(0);
    bytes
}

/// No download is too slow for it.
fn policy(tries: u32) -> Policy {
    Policy {
        max_download_attempts: tries,
        backoff: Duration::from_millis(5),
        min_download_rate: MinRate { bytes: 0, window: Duration::from_hours(1) },
        max_video_bytes: 4 * CLIP.len() as u64,
        ..Policy::local()
    }
}

async fn run(server: &Server, folder: &std::path::Path, tries: u32) -> RunSummary {
    run_with(server, folder, policy(tries), Verify::Metadata).await
}

async fn run_with(server: &Server, folder: &std::path::Path, policy: Policy, verify: Verify) -> RunSummary {
    let ledger = Ledger::open_without_sync(&folder.join(".runner/ledger.db"), folder).expect("a ledger");
    let url: url::Url = server.url.parse().expect("a URL");
    let identity = engine::provider::service_identity(&url);
    let client = Client::new(ClientConfig::new(url, "sk-test".to_owned().into())).expect("a client");
    let provider = Remote::new(client, identity);
    let keys = KeyResolver::new(engine::provider::Provider::identity(&provider));
    let (_asked, interrupt) = tokio::sync::watch::channel(false);
    let setup = RunConfig {
        run: RunId(format!("run{}", policy.max_download_attempts)),
        ledger: Arc::new(ledger),
        services: engine::RunServices::new(Arc::new(provider), policy),
        clock: Clock::starting_at(Timestamp(1)),
        output_dir: folder.join("out"),
        workflow_dir: folder.to_owned(),
        ffmpeg: media::Ffmpeg::default(),
        digital_source: media::DigitalSource::TrainedAlgorithmicMedia,
        budget: scheduler::Budget::default(),
        keys,
        arguments: None,
        scope: scheduler::RunScope::default(),
        verify,
        repeats_unrecorded: false,
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
    let files: Vec<_> = std::fs::read_dir(folder.path().join(".runner/artifacts"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path().extension().map(std::ffi::OsStr::to_owned))
        .collect();
    assert_eq!(files.len(), 2, "the video, under its content's name, and its sidecar: {files:?}");
    assert!(!files.contains(&Some("part".into())), "{files:?}");
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
    let server = Server::start(Files::OnlyAtContentEndpoint);
    let summary = run(&server, folder.path(), 4).await;
    assert!(is_whole(&summary), "{:?}", summary.nodes);
    assert_eq!(server.requests(), ["/v.mp4", "/v1/videos/task_1/content"]);
}

/// The end of another file is never joined to the beginning of the first, although both have the same length.
#[tokio::test]
async fn download_rest_of_another_file_is_not_joined() {
    for validator in [Validator::ETag, Validator::LastModified, Validator::Missing] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let server = Server::start(Files::ChangeIgnoringIfRange(validator));
        let summary = run(&server, folder.path(), 4).await;
        assert!(is_whole(&summary), "{validator:?}: {:?}", summary.nodes);
        let requests = server.requests();
        assert!(requests[1].contains("if-range"), "{validator:?}: {requests:?}");
        assert!(requests.len() > 2 && !requests[2].contains("range"), "{validator:?}: {requests:?}");
    }
}

#[tokio::test]
async fn download_without_identifying_validator_restarts() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(Files::BreakModified);
    let summary = run(&server, folder.path(), 4).await;
    assert!(is_whole(&summary), "{:?}", summary.nodes);
    let requests = server.requests();
    assert!(requests.iter().all(|request| !request.contains("range")), "{requests:?}");
}

#[tokio::test]
async fn download_dripping_is_cut_off_and_continues_at_the_other_address() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(Files::Drip);
    let min_download_rate = MinRate { bytes: 1_000, window: Duration::from_millis(200) };
    let policy = Policy { min_download_rate, ..policy(4) };
    let summary = run_with(&server, folder.path(), policy, Verify::Metadata).await;
    assert!(is_whole(&summary), "{:?}", summary.nodes);
    assert_eq!(server.requests(), ["/v.mp4", "/v1/videos/task_1/content"]);
}

#[tokio::test]
async fn download_with_damaged_data_is_fetched_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(Files::Damaged);
    let summary = run(&server, folder.path(), 4).await;
    assert!(is_whole(&summary), "{:?}", summary.nodes);
    assert_eq!(server.requests(), ["/v.mp4", "/v1/videos/task_1/content"]);
}

#[tokio::test]
async fn download_damaged_everywhere_is_never_done() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(Files::DamagedEverywhere);
    for tries in [2, 3] {
        let summary = run(&server, folder.path(), tries).await;
        let Outcome::Missing { reason, .. } = &summary.nodes[0].outcome else {
            panic!("{:?}", summary.nodes)
        };
        assert!(reason.contains("damaged") && reason.contains(".broken"), "{reason}");
        assert_eq!(summary.submitted(), usize::from(tries == 2), "the task is adopted");
    }
}

/// A version that probed only the index has recorded a damaged video as done.
#[tokio::test]
async fn verified_run_fetches_damaged_videos_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(Files::Whole);
    let first = run(&server, folder.path(), 2).await;
    let Outcome::Done { artifact, .. } = &first.nodes[0].outcome else { panic!("{:?}", first.nodes) };
    let (old, new) = (artifact.sha256.as_str(), engine::artifact::sha256(&damaged()));
    let stored = folder.path().join(".runner/artifacts");
    std::fs::remove_file(stored.join(format!("{old}.mp4"))).expect("a stored video");
    for path in [stored.join(format!("{new}.mp4")), artifact.path.clone()] {
        std::fs::write(path, damaged()).expect("a video");
    }
    rusqlite::Connection::open(folder.path().join(".runner/ledger.db"))
        .and_then(|ledger| ledger.execute("UPDATE artifacts SET sha256 = ?1, modified_ns = NULL", [&new]))
        .expect("a ledger");
    let unverified = run(&server, folder.path(), 3).await;
    assert!(matches!(unverified.nodes[0].outcome, Outcome::Done { .. }) && !is_whole(&unverified));
    let downloads = server.requests().len();
    let verify = || Verify::Content(Arc::default());
    let verified = run_with(&server, folder.path(), policy(4), verify()).await;
    assert!(is_whole(&verified), "{:?}", verified.nodes);
    assert_eq!((verified.submitted(), server.requests().len()), (0, downloads + 1));
    let second = run_with(&server, folder.path(), policy(5), verify()).await;
    assert!(is_whole(&second) && server.requests().len() == downloads + 1, "{:?}", second.nodes);
}

#[tokio::test]
async fn download_that_never_ends_is_cut_off_and_tried_at_the_other_address() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(Files::Endless);
    let summary = run(&server, folder.path(), 4).await;
    assert!(is_whole(&summary), "{:?}", summary.nodes);
    assert_eq!(server.requests(), ["/v.mp4", "/v1/videos/task_1/content"]);
}

#[tokio::test]
async fn download_larger_than_the_maximum_ends_detached_and_leaves_nothing() {
    for files in [Files::EndlessEverywhere, Files::Huge] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let server = Server::start(files);
        let summary = run(&server, folder.path(), 2).await;
        let Outcome::Detached { reason, .. } = &summary.nodes[0].outcome else {
            panic!("{:?}", summary.nodes)
        };
        let maximum = 4 * CLIP.len();
        let expected = format!(
            "its video could not be downloaded: it is larger than {maximum} bytes, the maximum size of a video"
        );
        assert_eq!(*reason, expected);
        assert_eq!(server.requests(), ["/v.mp4", "/v1/videos/task_1/content"]);
        let files = std::fs::read_dir(folder.path().join(".runner/artifacts"));
        assert_eq!(files.map_or(0, Iterator::count), 0);
    }
}
