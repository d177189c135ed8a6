//! A worker that is gone in the middle of a POST, and a service that can be asked what became of it.

use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use cluster::account::AccountLimits;
use cluster::store::ObjectKind;
use cluster::{
    EngineClient, Follower, PriceSource, RunSpec, SharedStore, StoreOptions, Worker, WorkerConfig,
};
use engine::Clock;
use engine::provider::{
    DownloadSink, DownloadStart, PreparedRequest, Provider, Resume, Submission, SubmissionLookup,
};
use futures_util::future::BoxFuture;
use media::{ClipSpec, ClipWriter, FrameRate, RgbImage};
use scheduler::budget::{BudgetCaps, NoPrices};
use scheduler::{Failure, FailureKind, Outcome, Policy, PollResult, RunId, TaskId, Timestamp};
use serde_json::Value;
use tokio::runtime::Runtime;
use url::Url;

use crate::TIMEOUT;
use crate::server::{Server, listen};

/// A run of one shot.
fn workflow(prompt: &str) -> String {
    format!(
        "
version: 1
name: reconcile
defaults: {{model: modelb-video-480p, seconds: 4}}
shots:
  - id: a
    prompt: {prompt}
"
    )
}

/// What the service has received, over all workers.
#[derive(Default)]
struct Account {
    /// Digest and id of each accepted submission.
    tasks: Mutex<Vec<(String, TaskId)>>,
    posts: AtomicUsize,
    /// Whether POSTs are accepted.
    accepts: AtomicBool,
}

/// The service as one worker reaches it.
struct Service {
    account: Arc<Account>,
    /// Whether an answer to a POST never comes.
    hangs: bool,
}

impl Provider for Service {
    fn identity(&self) -> &'static str {
        "http://127.0.0.1:1"
    }

    fn prepare(&self, _model: &str, request: &Value) -> Result<PreparedRequest, Failure> {
        PreparedRequest::new(request).map_err(|error| Failure::new(FailureKind::Local, error.to_string()))
    }

    fn submit<'a>(&'a self, request: &'a PreparedRequest) -> BoxFuture<'a, Submission> {
        Box::pin(async move {
            let task = TaskId(format!("task_{}", self.account.posts.load(Ordering::SeqCst)));
            if self.account.accepts.load(Ordering::SeqCst) {
                let accepted = (request.digest().to_owned(), task.clone());
                self.account.tasks.lock().expect("no panic").push(accepted);
            }
            self.account.posts.fetch_add(1, Ordering::SeqCst);
            if self.hangs {
                std::future::pending::<()>().await;
            }
            Submission::Accepted { task }
        })
    }

    fn poll<'a>(&'a self, _task: &'a TaskId) -> BoxFuture<'a, PollResult> {
        let (url, last_frame_url, expires_at, took) = (None, None, None, None);
        let done = PollResult::Completed { url, last_frame_url, expires_at, took };
        Box::pin(std::future::ready(done))
    }

    fn download<'a>(
        &'a self,
        _task: &'a TaskId,
        _url: Option<&'a str>,
        _resume: Option<&'a Resume>,
        sink: &'a mut dyn DownloadSink,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            sink.start(DownloadStart::default()).expect("it can be stored");
            sink.write_all(&clip()).expect("it can be stored");
            Ok(())
        })
    }

    fn find_tasks<'a>(&'a self, digest: &'a str, _since: Timestamp) -> BoxFuture<'a, SubmissionLookup> {
        let tasks = self.account.tasks.lock().expect("no panic");
        let matches = tasks
            .iter()
            .filter(|(task_digest, _)| task_digest == digest)
            .map(|(_, task)| task.clone())
            .collect();
        Box::pin(std::future::ready(SubmissionLookup::Tasks(matches)))
    }
}

fn clip() -> Vec<u8> {
    let rate = FrameRate::new(30, 1).expect("a rate");
    let mut writer = ClipWriter::new(ClipSpec::new(64, 64, rate)).expect("a clip");
    writer.push_frame(&RgbImage::new(64, 64)).expect("a frame");
    writer.finish().expect("a clip")
}

fn prices() -> PriceSource {
    Arc::new(|_, _| Ok(Arc::new(NoPrices)))
}

/// A worker on a runtime of its own, which ends with it as with a process. The port stays open: who connects before the next worker waits.
fn start_worker(
    server: &Server,
    store: &SharedStore,
    service: Service,
    boot: &str,
    listener: &TcpListener,
) -> Runtime {
    let runtime = Runtime::new().expect("threads");
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    let now = Timestamp(i64::try_from(now.as_millis()).expect("a date"));
    let (store, client) = (store.clone(), EngineClient::new(server.ingress.clone()).expect("a client"));
    let (boot, listener) = (boot.to_owned(), listener.try_clone().expect("a handle"));
    runtime.spawn(async move {
        let config = WorkerConfig {
            provider: Arc::new(service),
            store,
            client,
            clock: Clock::starting_at(now),
            ffmpeg: media::Ffmpeg::default(),
            digital_source: media::DigitalSource::AlgorithmicMedia,
            limits: AccountLimits::default(),
            min_poll_interval: Duration::from_millis(100),
            min_download_rate: Policy::local().min_download_rate,
            reconcile_delay: Duration::from_millis(500),
            indeterminate_hold: Duration::from_secs(5),
            prices: prices(),
            boot,
        };
        let listener = tokio::net::TcpListener::from_std(listener).expect("it does not block");
        let worker = Arc::new(Worker::new(config));
        worker.serve(listener, &[], std::future::pending()).await.expect("no identity key");
    });
    runtime
}

/// A run whose first worker is gone as soon as the service has its POST. Returns the number of POSTs and of tasks.
fn run_with_killed_worker(server: &Server, listener: &TcpListener, accepts: bool) -> (usize, usize) {
    let runtime = Runtime::new().expect("threads");
    let folder = tempfile::tempdir().expect("a folder");
    let url = Url::from_directory_path(folder.path()).expect("a path");
    let store = SharedStore::open(&url, &StoreOptions::default()).expect("a store");
    let account = Arc::new(Account::default());
    account.accepts.store(accepts, Ordering::SeqCst);
    let lost = Service { account: Arc::clone(&account), hangs: true };
    let name = if accepts { "accepted" } else { "refused" };
    let boot = |worker: &str| format!("{name}-{worker}");
    let first = start_worker(server, &store, lost, &boot("first"), listener);
    let (files, contract) = (workflow::InMemory::default(), contract::Contract::embedded());
    // Another prompt, so that a key of the other run says nothing about this one.
    let text = workflow(name);
    let plan = workflow::load(text.as_bytes(), "a.yaml", &files, &workflow::Options::default(), contract);
    let plan = serde_json::to_vec(&plan.expect("a plan")).expect("JSON");
    let run = RunId::from(name);
    let client = EngineClient::new(server.ingress.clone()).expect("a client");
    let address = crate::server::address(listener);
    runtime.block_on(async {
        let begin = Instant::now();
        while let Err(error) = EngineClient::register(&server.admin, &address).await {
            assert!(begin.elapsed() < TIMEOUT, "{error}");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        let spec = RunSpec {
            run: run.clone(),
            plan: store.put(ObjectKind::Plan, plan).await.expect("stored"),
            only: None,
            fail_fast: false,
            salt: None,
            policy: Policy::local(),
            caps: BudgetCaps::default(),
            prices: None,
            files: Vec::new(),
            renders: cluster::index::RenderSnapshot::default(),
            arguments: None,
        };
        let spec = serde_json::to_vec(&spec).expect("JSON");
        let spec = store.put(ObjectKind::Spec, spec).await.expect("stored");
        client.start(&run, &spec).await.expect("it starts");
        while account.posts.load(Ordering::SeqCst) == 0 {
            assert!(begin.elapsed() < TIMEOUT, "nothing is submitted");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    first.shutdown_timeout(Duration::from_secs(5));
    account.accepts.store(true, Ordering::SeqCst);
    let answers = Service { account: Arc::clone(&account), hangs: false };
    let second = start_worker(server, &store, answers, &boot("second"), listener);
    let summary = runtime.block_on(async {
        let follower = Follower::open(client, store, &run, None, &prices()).await.expect("readable");
        let mut follower = follower.expect("the run");
        let begin = Instant::now();
        while !follower.is_over() {
            assert!(begin.elapsed() < TIMEOUT, "the run does not end");
            follower.read(&mut |_, _, _| {}).await.expect("readable");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        follower.into_summary()
    });
    second.shutdown_timeout(Duration::from_secs(5));
    let is_done = |outcome: &Outcome| matches!(outcome, Outcome::Done { .. });
    assert!(summary.nodes.iter().all(|node| is_done(&node.outcome)), "{:?}", summary.nodes);
    let accepted = account.tasks.lock().expect("no panic").len();
    (account.posts.load(Ordering::SeqCst), accepted)
}

#[test]
fn submission_of_a_killed_worker_is_reconciled() {
    let Some(server) = Server::from_environment(0) else { return };
    let listener = listen();
    for (accepts, expected, case) in [
        (true, (1, 1), "what was accepted is adopted"),
        (false, (2, 1), "what was not accepted is submitted again"),
    ] {
        assert_eq!(run_with_killed_worker(&server, &listener, accepts), expected, "{case}");
    }
}
