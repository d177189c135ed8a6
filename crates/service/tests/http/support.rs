//! A service under test: a temporary directory, a clock that stands still, a renderer under control.

use std::{
    ops::ControlFlow,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use media::{RgbImage, encode_png};
use renderer::{Job, Progress, RenderError, Renderer, Rendering};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use service::{Clock, Config, Deps, Randomness, RandomnessError, Service, ServiceError};
use tempfile::TempDir;

pub(crate) const KEY: &str = "sk-test";
pub(crate) const A: &str = "modela-video-2-0-260128";
pub(crate) const B: &str = "modelb-video-480p";

/// Timeout of every wait. A busy machine may be slow.
pub(crate) const TIMEOUT: Duration = Duration::from_mins(2);

/// 2026-01-01T00:00:00Z.
pub(crate) const START: i64 = 1_767_225_600_000;

/// A clock that stands still until a test moves it.
pub(crate) struct TestClock(AtomicI64);

impl TestClock {
    pub(crate) fn advance(&self, time: Duration) {
        self.0.fetch_add(i64::try_from(time.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// Counts instead of drawing: ids are the same in every run.
struct Counting(AtomicU64);

impl Randomness for Counting {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomnessError> {
        let number = self.0.fetch_add(1, Ordering::SeqCst).to_be_bytes();
        for (index, byte) in bytes.iter_mut().rev().enumerate() {
            *byte = number.iter().rev().nth(index).copied().unwrap_or(0);
        }
        Ok(())
    }
}

/// A video of 100 frames whose bytes identify the job. Frames are rendered as the test allows.
pub(crate) struct TestRenderer {
    allowed: AtomicU32,
    pub(crate) jobs: Mutex<Vec<Job>>,
}

impl TestRenderer {
    pub(crate) fn free() -> Arc<Self> {
        Self::held_at(u32::MAX)
    }

    pub(crate) fn held_at(frames: u32) -> Arc<Self> {
        Arc::new(Self { allowed: AtomicU32::new(frames), jobs: Mutex::default() })
    }

    pub(crate) fn let_frames(&self, frames: u32) {
        self.allowed.store(frames, Ordering::SeqCst);
    }

    pub(crate) fn last_job(&self) -> Job {
        self.jobs.lock().unwrap().last().cloned().expect("a job was rendered")
    }

    pub(crate) fn prompts(&self) -> Vec<String> {
        self.jobs.lock().unwrap().iter().map(|job| job.prompt.clone()).collect()
    }
}

impl Renderer for TestRenderer {
    fn render(
        &self,
        job: &Job,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Rendering, RenderError> {
        self.jobs.lock().unwrap().push(job.clone());
        if job.prompt.contains("breaks") {
            return Err(RenderError::Job { what: "the prompt says so".to_owned() });
        }
        if job.prompt.contains("panics") {
            std::panic::resume_unwind(Box::new("the prompt says so"));
        }
        for frame in 1..=100 {
            while self.allowed.load(Ordering::SeqCst) < frame {
                if progress(Progress { frames_done: frame - 1, frames_total: 100 }).is_break() {
                    return Err(RenderError::Cancelled);
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            if progress(Progress { frames_done: frame, frames_total: 100 }).is_break() {
                return Err(RenderError::Cancelled);
            }
        }
        let shade = (job.seed % 251) as u8;
        let last_frame = RgbImage::from_pixels(64, 36, vec![shade; 64 * 36 * 3]).unwrap();
        let mp4 = format!("{} {} {}", job.prompt, job.seed, "video ".repeat(5_000)).into_bytes();
        Ok(Rendering { mp4, last_frame })
    }
}

/// A running service with all that belongs to it.
pub(crate) struct TestServer {
    pub(crate) service: Service,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) http: Client,
    pub(crate) folder: TempDir,
}

pub(crate) fn config(folder: &TempDir) -> Config {
    let mut config = Config::embedded(folder.path().join("data"), KEY.into());
    config.workers = 2;
    config
}

pub(crate) async fn start(
    config: Config,
    renderer: Arc<TestRenderer>,
    clock: Arc<TestClock>,
) -> Result<Service, ServiceError> {
    let randomness = Arc::new(Counting(AtomicU64::new(1)));
    Service::start(config, renderer, Deps { clock, randomness }).await
}

pub(crate) fn clock() -> Arc<TestClock> {
    Arc::new(TestClock(AtomicI64::new(START)))
}

impl TestServer {
    pub(crate) async fn open(renderer: Arc<TestRenderer>) -> Self {
        Self::with(renderer, |_| {}).await
    }

    pub(crate) async fn with(renderer: Arc<TestRenderer>, change: impl FnOnce(&mut Config)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut config = config(&folder);
        change(&mut config);
        let clock = clock();
        let service = start(config, renderer, Arc::clone(&clock)).await.unwrap();
        Self { service, clock, http: client(), folder }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.service.base_url().as_str().trim_end_matches('/'))
    }

    /// A request with the key.
    pub(crate) fn ask(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, self.url(path)).bearer_auth(KEY)
    }

    pub(crate) async fn post(&self, body: &Value) -> Response {
        self.ask(Method::POST, "/v1/videos").json(body).send().await.unwrap()
    }

    /// Submits what must be accepted, and returns the task object.
    pub(crate) async fn create(&self, body: &Value) -> Value {
        let response = self.post(body).await;
        let status = response.status();
        let task: Value = response.json().await.unwrap();
        assert_eq!(status, StatusCode::OK, "{task}");
        task
    }

    pub(crate) async fn task(&self, id: &Value) -> Value {
        let path = format!("/v1/videos/{}", id.as_str().unwrap());
        let response = self.ask(Method::GET, &path).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        response.json().await.unwrap()
    }

    /// Polls until the task is as wanted.
    pub(crate) async fn until(&self, id: &Value, is_reached: impl Fn(&Value) -> bool) -> Value {
        let begin = Instant::now();
        loop {
            let task = self.task(id).await;
            if is_reached(&task) {
                return task;
            }
            assert!(begin.elapsed() < TIMEOUT, "still waiting: {task}");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    pub(crate) async fn ended(&self, id: &Value) -> Value {
        self.until(id, |task| matches!(task["status"].as_str(), Some("completed" | "failed"))).await
    }

    /// Submits and waits for the end.
    pub(crate) async fn make(&self, body: &Value) -> Value {
        let task = self.create(body).await;
        self.ended(&task["id"]).await
    }

    /// What `snapshot` may show: the port is another one each time.
    pub(crate) fn stable(&self, value: &Value) -> Value {
        let text = value.to_string().replace(self.service.base_url().as_str(), "http://service/");
        serde_json::from_str(&text).unwrap()
    }
}

/// A client for loopback that follows no redirects and does not wait forever. Without root certificates: loading them takes
/// longer than most tests.
pub(crate) fn client() -> Client {
    client_builder().timeout(TIMEOUT).redirect(reqwest::redirect::Policy::none()).build().unwrap()
}

/// A client without proxies and root certificates, to be configured further.
pub(crate) fn client_builder() -> reqwest::ClientBuilder {
    drop(rustls::crypto::ring::default_provider().install_default());
    Client::builder().no_proxy().tls_certs_only([])
}

/// The simplest request of family A.
pub(crate) fn request(prompt: &str) -> Value {
    json!({"model": A, "prompt": prompt, "seconds": "5", "resolution": "480p", "ratio": "16:9"})
}

/// What a request is found by.
pub(crate) fn digest(request: &Value) -> String {
    use sha2::Digest as _;
    hex::encode(sha2::Sha256::digest(contract::canonical_json(request)))
}

/// A PNG in one color.
pub(crate) fn png(width: u32, height: u32, color: [u8; 3]) -> Vec<u8> {
    let pixels = color.repeat((width * height) as usize);
    encode_png(&RgbImage::from_pixels(width, height, pixels).unwrap())
}

pub(crate) fn data_uri(bytes: &[u8]) -> String {
    use base64::Engine as _;
    format!("data:image/png;base64,{}", base64::engine::general_purpose::STANDARD.encode(bytes))
}

/// `status code param` of a refusal, for tables; panics when the body is not the document's.
pub(crate) async fn error_summary(response: Response) -> String {
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    let body: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("not an error body: {text}"));
    let error = body["error"].as_object().expect("an error");
    let names: Vec<&str> = error.keys().map(String::as_str).collect();
    assert_eq!(names, ["message", "type", "param", "code"]);
    assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()));
    format!("{status} {} {}", error["code"].as_str().unwrap(), error["param"].as_str().unwrap_or("-"))
}
