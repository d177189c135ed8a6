//! The world of a run in its tests: a workflow, and nodes that answer its messages at random.

use engine::provider::{DownloadSink, PreparedRequest, Provider, Resume, Submission};
use futures_util::future::BoxFuture;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use scheduler::budget::NoPrices;
use scheduler::{
    Artifact, ExistingWork, Failure, FailureKind, Film, Policy, PollResult, Refusal, RefusalKind, RunId,
    TaskId,
};
use serde_json::Value;
use workflow::plan::{NodeIx, Plan};

use super::super::super::outgoing::Target;
use super::*;
use crate::index::{RenderSnapshot, WorkflowRenders};
use crate::messages::{AttemptRef, DownloadVideo, Join, Lookup, Poll, Prepare};
use crate::spec::RunSpec;
use crate::store::artifact_path;

pub(super) const WORKFLOW: &str = "
version: 1
name: replay
defaults: {model: modelb-video-480p, seconds: 4}
shots:
  - id: a
    prompt: a lamp
    retry: 2
  - id: b
    prompt: the lamp goes out
    continues: a
  - id: c
    prompt: cell {{ x }}
    matrix:
      x: {from: 1, to: 6}
film:
  output: film.mp4
  shots: [a, b]
";

/// Nothing is asked of it: the nodes of the test answer themselves.
pub(super) struct NoService;

impl Provider for NoService {
    fn identity(&self) -> &'static str {
        "http://127.0.0.1:1"
    }

    fn prepare(&self, _model: &str, request: &Value) -> Result<PreparedRequest, Failure> {
        PreparedRequest::new(request).map_err(|error| Failure::new(FailureKind::Local, error.to_string()))
    }

    fn submit<'a>(&'a self, _request: &'a PreparedRequest) -> BoxFuture<'a, Submission> {
        Box::pin(std::future::pending())
    }

    fn poll<'a>(&'a self, _task: &'a TaskId) -> BoxFuture<'a, PollResult> {
        Box::pin(std::future::pending())
    }

    fn download<'a>(
        &'a self,
        _task: &'a TaskId,
        _url: Option<&'a str>,
        _resume: Option<&'a Resume>,
        _sink: &'a mut dyn DownloadSink,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(std::future::pending())
    }
}

pub(super) fn loaded() -> Arc<LoadedSpec> {
    loaded_from(WORKFLOW)
}

pub(super) fn loaded_from(text: &str) -> Arc<LoadedSpec> {
    let files = workflow::InMemory::default();
    let contract = contract::Contract::embedded();
    let options = workflow::Options::default();
    let plan: Plan =
        workflow::load(text.as_bytes(), "replay.yaml", &files, &options, contract).expect("a plan");
    let spec = RunSpec {
        run: RunId::from("r"),
        plan: String::new(),
        only: None,
        fail_fast: false,
        salt: None,
        policy: Policy::remote(),
        caps: scheduler::budget::BudgetCaps::default(),
        prices: None,
        files: Vec::new(),
        renders: RenderSnapshot::default(),
        arguments: None,
    };
    Arc::new(LoadedSpec { spec, plan: Arc::new(plan), prices: Arc::new(NoPrices) })
}

pub(super) fn head() -> RunHead {
    RunHead {
        run: RunId::from("r"),
        spec: String::new(),
        identity: NoService.identity().to_owned(),
        policy: Policy::remote(),
        length: 0,
        started: Timestamp(0),
        last: Timestamp(0),
        is_ended: false,
    }
}

/// The run as a worker without memory has it: from the stored log.
pub(super) fn rebuilt(loaded: &Arc<LoadedSpec>, stored: &StoredRun, log: &[Vec<LogEntry>]) -> ActiveRun {
    let mut run = ActiveRun::new(Arc::clone(loaded), &stored.head);
    let written = serde_json::to_string(&(log, &stored.tail)).expect("JSON");
    let (log, tail): (Vec<Vec<LogEntry>>, Vec<LogEntry>) =
        serde_json::from_str(&written).expect("the same log");
    for logged in log.into_iter().flatten().chain(tail) {
        run.replay(&stored.head, &NoService, logged);
    }
    run
}

pub(super) struct World {
    rng: SplitMix64,
    pub(super) submitted: Vec<u32>,
    tasks: u64,
    /// What became of each attempt: a node answers a message that is sent again from its record.
    outcomes: std::collections::HashMap<AttemptId, Event>,
    /// What the index was told.
    pub(super) renders: WorkflowRenders,
    /// Out of a hundred messages, so many are lost: their invocations are killed by hand.
    dropped: u64,
}

impl World {
    pub(super) fn new(loaded: &LoadedSpec, seed: u64, dropped: u64) -> Self {
        let (rng, submitted) = (SplitMix64::seed_from_u64(seed), vec![0; loaded.plan.len()]);
        let (outcomes, renders) = (std::collections::HashMap::new(), WorkflowRenders::default());
        Self { rng, submitted, tasks: 0, outcomes, renders, dropped }
    }

    pub(super) fn roll(&mut self, sides: u64) -> u64 {
        self.rng.next_u64() % sides
    }

    /// The inputs that answer a message: none if it is lost, and sometimes two.
    pub(super) fn inputs(&mut self, message: &Outgoing) -> Vec<RunInput> {
        if self.roll(100) < self.dropped {
            return Vec::new();
        }
        match message.handler {
            "wake" => return vec![RunInput::from(Event::TimerFired)],
            "check" => return vec![RunInput::Check],
            "expire" | "mark_missing" | "withdraw" => return Vec::new(),
            "record" => {
                self.record(message);
                return Vec::new();
            }
            _ => {}
        }
        let seq = message.body["seq"].as_u64().expect("a sequence number");
        let answer = RunInput::Answer(Answer { seq, events: self.answer(message) });
        if self.roll(8) == 0 { vec![answer.clone(), answer] } else { vec![answer] }
    }

    /// The index takes what a run tells of renders.
    pub(super) fn record(&mut self, message: &Outgoing) {
        assert_eq!(message.target, Target::WorkflowIndex);
        let facts: Vec<RenderFact> = serde_json::from_value(message.body.clone()).expect("facts");
        for fact in facts {
            self.renders.add(fact);
        }
    }

    /// The events that answer a message.
    pub(super) fn answer(&mut self, message: &Outgoing) -> Vec<Event> {
        let body = message.body.clone();
        let failure = |message: &str| Failure::new(FailureKind::Transient, message);
        match message.handler {
            "lookup" => {
                let Lookup { node, render, .. } = serde_json::from_value(body).expect("a lookup");
                let Target::Node(key) = message.target.clone() else { panic!("a lookup is for a node") };
                vec![Event::LookupDone { node, key, existing: ExistingWork::None, render }]
            }
            "prepare" => {
                let Prepare { node, attempt, reservation, render, .. } =
                    serde_json::from_value(body).expect("a request");
                let Target::Node(key) = message.target.clone() else { panic!("a request is for a node") };
                let prepared = Event::Prepared {
                    node,
                    attempt: attempt.clone(),
                    key,
                    digest: String::new(),
                    by_url: false,
                    service_independent_key: None,
                    reservation,
                    render,
                    parts: Vec::new(),
                };
                // A node of another kind submits when it is asked to.
                if self.roll(6) == 0 { vec![prepared] } else { vec![prepared, self.submit(node, attempt)] }
            }
            "submit" => {
                let AttemptRef { node, attempt, .. } = serde_json::from_value(body).expect("an attempt");
                vec![self.submit(node, attempt)]
            }
            "discard" => {
                let AttemptRef { node, attempt, .. } = serde_json::from_value(body).expect("an attempt");
                vec![refused(node, attempt, RefusalKind::Throttled)]
            }
            "poll" => {
                let Poll { node, attempt, .. } = serde_json::from_value(body).expect("a poll");
                let result = match self.roll(8) {
                    0 => {
                        PollResult::Failed { failure: Failure::new(FailureKind::Task, "the renderer failed") }
                    }
                    1 => PollResult::Unreachable { reason: "no answer".to_owned() },
                    2 => PollResult::NotFound { expired: false },
                    3 | 4 => PollResult::Running {
                        progress: Some(40),
                        status: "in_progress".to_owned(),
                        poll_after: None,
                    },
                    _ => PollResult::Completed {
                        url: None,
                        last_frame_url: None,
                        expires_at: None,
                        took: Some(Duration::from_secs(9)),
                    },
                };
                vec![Event::Polled { node, attempt, result, next: None }]
            }
            "download" => {
                let DownloadVideo { download, .. } = serde_json::from_value(body).expect("a download");
                let (node, attempt) = (download.node, download.attempt);
                if self.roll(5) == 0 {
                    let failure = failure("cut off");
                    return vec![Event::DownloadFailed {
                        node,
                        attempt,
                        failure,
                        partial_bytes: 0,
                        next: None,
                    }];
                }
                let sha256 = format!("{:064x}", node.index());
                let artifact = Artifact {
                    path: artifact_path(&sha256),
                    sha256,
                    first_sha256: None,
                    bytes: 1,
                    duration: Duration::from_secs(4),
                    width: 1,
                    height: 1,
                    last_frame_url: None,
                    expires_at: None,
                    modified_at: None,
                };
                vec![Event::Downloaded { node, attempt, artifact, cost: None }]
            }
            "join" => {
                let Join { index, videos, .. } = serde_json::from_value(body).expect("a film");
                assert_eq!(videos.len(), 2);
                let film = Film {
                    path: "film.mp4".into(),
                    duration: Duration::from_secs(8),
                    width: 1,
                    height: 1,
                    audio: false,
                    clips_digest: String::new(),
                    reused: false,
                    loudness: None,
                    frames: None,
                    unmatched: Vec::new(),
                };
                vec![Event::FilmJoined { index, film }]
            }
            handler => panic!("no object has a handler {handler}"),
        }
    }

    fn submit(&mut self, node: NodeIx, attempt: AttemptId) -> Event {
        if let Some(event) = self.outcomes.get(&attempt) {
            return event.clone();
        }
        let suggested_task = None;
        let event = match self.roll(10) {
            0 => refused(node, attempt.clone(), RefusalKind::Throttled),
            2 => refused(node, attempt.clone(), RefusalKind::NotSent),
            1 => {
                let reason = "no answer".to_owned();
                Event::Indeterminate { node, attempt: attempt.clone(), reason, halts: false, suggested_task }
            }
            _ => {
                self.submitted[node.index()] += 1;
                self.tasks += 1;
                let task = TaskId(format!("task_{}", self.tasks));
                Event::Submitted { node, attempt: attempt.clone(), task }
            }
        };
        self.outcomes.insert(attempt, event.clone());
        event
    }
}

fn refused(node: NodeIx, attempt: AttemptId, kind: RefusalKind) -> Event {
    let failure = Failure::new(FailureKind::Transient, "429");
    let refusal = Refusal { kind, failure, retry_after: None };
    Event::refused(node, attempt, refusal)
}
