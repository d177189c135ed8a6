//! Workers that can be killed: what they do ends with them, on the wire too.

use std::sync::{Arc, Mutex, PoisonError};

use cluster::Worker;
use engine::provider::{DownloadSink, PreparedRequest, Provider, Resume, Submission, SubmissionLookup};
use futures_util::future::BoxFuture;
use restate_sdk::endpoint::Endpoint;
use scheduler::{Failure, FailureKind, PollResult, TaskId, Timestamp};
use serde_json::Value;
use tokio::sync::watch;

use crate::support::world::World;

/// A worker as the server reaches it.
#[derive(Clone)]
pub(crate) struct Process {
    pub(super) number: u64,
    pub(super) endpoint: Endpoint,
    /// Whether it was killed.
    pub(super) gone: watch::Receiver<bool>,
}

/// Makes a worker, by its number, its service, and whether it was killed.
pub(crate) type NewWorker =
    Box<dyn Fn(u64, Arc<dyn Provider>, watch::Receiver<bool>) -> Worker + Send + Sync>;

/// The workers. One that is killed is replaced by another one.
pub(crate) struct Processes {
    new_worker: NewWorker,
    world: World,
    slots: Mutex<Slots>,
}

struct Slots {
    next: u64,
    running: Vec<(Process, watch::Sender<bool>)>,
}

impl Processes {
    pub(crate) fn new(count: usize, world: World, new_worker: NewWorker) -> Self {
        let slots = Slots { next: 0, running: Vec::new() };
        let processes = Self { new_worker, world, slots: Mutex::new(slots) };
        for _ in 0..count {
            let process = processes.start();
            processes.slots().running.push(process);
        }
        processes
    }

    fn start(&self) -> (Process, watch::Sender<bool>) {
        let number = {
            let mut slots = self.slots();
            slots.next += 1;
            slots.next
        };
        let (kill, gone) = watch::channel(false);
        let service = Alive { world: self.world.clone(), gone: gone.clone() };
        let worker = Arc::new((self.new_worker)(number, Arc::new(service), gone.clone()));
        let endpoint = worker.endpoint(&[]).expect("no identity keys");
        (Process { number, endpoint, gone }, kill)
    }

    /// One of the workers.
    pub(super) fn any(&self, roll: u64) -> Process {
        let slots = self.slots();
        slots.running[roll as usize % slots.running.len()].0.clone()
    }

    /// Kills a worker, and starts another one.
    pub(super) fn kill(&self, process: &Process) {
        let new = self.start();
        let mut slots = self.slots();
        if let Some(slot) = slots.running.iter_mut().find(|(running, _)| running.number == process.number) {
            let (_, kill) = std::mem::replace(slot, new);
            kill.send_replace(true);
        }
    }

    fn slots(&self) -> std::sync::MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The service as a worker reaches it for as long as it lives.
struct Alive {
    world: World,
    gone: watch::Receiver<bool>,
}

impl Alive {
    async fn unless_gone<T>(&self, work: impl Future<Output = T>) -> T {
        unless_gone(self.gone.clone(), work).await
    }
}

/// What a worker waits for, which never comes once it is killed.
pub(crate) async fn unless_gone<T>(mut gone: watch::Receiver<bool>, work: impl Future<Output = T>) -> T {
    let done = tokio::select! {
        biased;
        _ = gone.wait_for(|gone| *gone) => None,
        done = work => Some(done),
    };
    match done {
        Some(done) => done,
        None => std::future::pending().await,
    }
}

impl Provider for Alive {
    fn identity(&self) -> &str {
        self.world.identity()
    }

    fn prepare(&self, _model: &str, request: &Value) -> Result<PreparedRequest, Failure> {
        PreparedRequest::new(request).map_err(|error| Failure::new(FailureKind::Local, error.to_string()))
    }

    fn submit<'a>(&'a self, request: &'a PreparedRequest) -> BoxFuture<'a, Submission> {
        Box::pin(self.unless_gone(self.world.submit(request)))
    }

    fn poll<'a>(&'a self, task: &'a TaskId) -> BoxFuture<'a, PollResult> {
        Box::pin(self.unless_gone(self.world.poll(task)))
    }

    fn download<'a>(
        &'a self,
        task: &'a TaskId,
        url: Option<&'a str>,
        resume: Option<&'a Resume>,
        sink: &'a mut dyn DownloadSink,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(self.unless_gone(self.world.download(task, url, resume, sink)))
    }

    fn find_tasks<'a>(&'a self, digest: &'a str, since: Timestamp) -> BoxFuture<'a, SubmissionLookup> {
        Box::pin(self.unless_gone(self.world.find_tasks(digest, since)))
    }
}
