//! Runs whose worker loses its memory at any step. A step is a function of the log and the events: a run that is rebuilt from the log, as
//! another worker does, sends the same messages and writes the same segments as one that stayed in memory.

use std::sync::Arc;
use std::time::Duration;

use engine::provider::{DownloadSink, PreparedRequest, Provider, Resume, Submission};
use futures_util::future::BoxFuture;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use scheduler::budget::Unpriced;
use scheduler::{
    Artifact, Event, ExistingWork, Failure, FailureKind, Film, Outcome, Policy, PollResult, Refusal,
    RefusalKind, RunId, TaskId, Timestamp,
};
use workflow::plan::Plan;

use super::*;
use crate::messages::{DownloadVideo, Join, Lookup, OfAttempt, Poll, Prepare};
use crate::spec::{RunSpec, SpecReruns};
use crate::store::artifact_path;

const SEEDS: u64 = 60;
/// Steps after which a run has to be over.
const MAX_STEPS: usize = 5_000;

const WORKFLOW: &str = "
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
struct NoService;

impl Provider for NoService {
    fn identity(&self) -> &'static str {
        "http://127.0.0.1:1"
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

fn loaded() -> Arc<LoadedSpec> {
    let files = workflow::InMemory::default();
    let contract = contract::Contract::embedded();
    let options = workflow::Options::default();
    let plan: Plan =
        workflow::load(WORKFLOW.as_bytes(), "replay.yaml", &files, &options, contract).expect("a plan");
    let spec = RunSpec {
        run: RunId::from("r"),
        plan: String::new(),
        only: None,
        fail_fast: false,
        salt: None,
        policy: Policy::remote(),
        caps: scheduler::budget::BudgetLimits::default(),
        prices: None,
        files: Vec::new(),
        reruns: SpecReruns::default(),
        arguments: None,
    };
    Arc::new(LoadedSpec { spec, plan: Arc::new(plan), prices: Arc::new(Unpriced) })
}

fn head() -> RunHead {
    RunHead {
        run: RunId::from("r"),
        spec: String::new(),
        identity: NoService.identity().to_owned(),
        policy: Policy::remote(),
        length: 0,
        started: Timestamp(0),
        last: Timestamp(0),
        over: false,
    }
}

/// The run as a worker without memory has it: from the stored log.
fn rebuilt(loaded: &Arc<LoadedSpec>, head: &RunHead, log: &[Vec<Logged>]) -> ActiveRun {
    let mut run = ActiveRun::new(Arc::clone(loaded), head);
    let stored = serde_json::to_string(log).expect("JSON");
    let read: Vec<Vec<Logged>> = serde_json::from_str(&stored).expect("the same log");
    for logged in read.into_iter().flatten() {
        run.replay(logged);
    }
    run
}

struct World {
    rng: SplitMix64,
    submitted: Vec<u32>,
    tasks: u64,
}

impl World {
    fn roll(&mut self, sides: u64) -> u64 {
        self.rng.next_u64() % sides
    }

    /// The events that answer a message.
    fn answer(&mut self, message: &Outgoing) -> Vec<Event> {
        let body = message.body.clone();
        let failure = |message: &str| Failure::new(FailureKind::Transient, message);
        match message.handler {
            "lookup" => {
                let Lookup { node, .. } = serde_json::from_value(body).expect("a lookup");
                let Target::Node(key) = message.target.clone() else { panic!("a lookup is for a node") };
                vec![Event::LookupDone { node, key, existing: ExistingWork::None }]
            }
            "prepare" => {
                let Prepare { node, attempt, reservation, .. } =
                    serde_json::from_value(body).expect("a request");
                let Target::Node(key) = message.target.clone() else { panic!("a request is for a node") };
                vec![Event::Prepared {
                    node,
                    attempt,
                    key,
                    digest: String::new(),
                    by_url: false,
                    service_independent_key: None,
                    reservation,
                    forced_rerun: None,
                    parts: Vec::new(),
                }]
            }
            "submit" | "discard" => {
                let OfAttempt { node, attempt, .. } = serde_json::from_value(body).expect("an attempt");
                let roll = self.roll(10);
                if roll == 0 || message.handler == "discard" {
                    let refusal =
                        Refusal { kind: RefusalKind::Throttled, failure: failure("429"), retry_after: None };
                    return vec![Event::Refused { node, attempt, refusal, next: None }];
                }
                if roll == 1 {
                    let reason = "no answer".to_owned();
                    return vec![Event::Indeterminate {
                        node,
                        attempt,
                        reason,
                        halts: false,
                        suggested_task: None,
                    }];
                }
                self.submitted[node.index()] += 1;
                self.tasks += 1;
                vec![Event::Submitted { node, attempt, task: TaskId(format!("task_{}", self.tasks)) }]
            }
            "poll" => {
                let Poll { node, attempt, .. } = serde_json::from_value(body).expect("a poll");
                let result = match self.roll(8) {
                    0 => {
                        PollResult::Failed { failure: Failure::new(FailureKind::Task, "the renderer failed") }
                    }
                    1 => PollResult::Unreachable { reason: "no answer".to_owned() },
                    2 => PollResult::NotFound { expired: false },
                    3 | 4 => PollResult::Running { progress: Some(40), status: "in_progress".to_owned() },
                    _ => PollResult::Completed {
                        url: None,
                        last_frame_url: None,
                        expires_at: None,
                        took: Some(Duration::from_secs(9)),
                        warning: None,
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
                    made_of: String::new(),
                    reused: false,
                    loudness: None,
                    pictures: None,
                    unmatched: Vec::new(),
                };
                vec![Event::FilmJoined { index, film }]
            }
            "wake" => vec![Event::TimerFired],
            "expire" | "mark_missing" => Vec::new(),
            other => panic!("no object has a handler {other}"),
        }
    }
}

#[test]
fn run_that_is_rebuilt_from_its_log_takes_the_same_steps() {
    let loaded = loaded();
    let mut outcomes = std::collections::HashMap::new();
    for seed in 0..SEEDS {
        let mut world =
            World { rng: SplitMix64::seed_from_u64(seed), submitted: vec![0; loaded.plan.len()], tasks: 0 };
        let mut head = head();
        let mut run = ActiveRun::new(Arc::clone(&loaded), &head);
        let mut log: Vec<Vec<Logged>> = Vec::new();
        let mut waiting: Vec<(Timestamp, Outgoing)> = Vec::new();
        let mut events = loaded.spec.first_events();
        let mut now = Timestamp(1_000);
        let mut steps = 0;
        loop {
            let mut other = rebuilt(&loaded, &head, &log);
            assert_eq!(other.length, head.length, "seed {seed}");
            let step = run.step(&head, &NoService, events.clone(), now);
            let same = other.step(&head, &NoService, events, now);
            assert_eq!(step.messages, same.messages, "seed {seed}, step {steps}");
            assert_eq!(step.segments, same.segments, "seed {seed}, step {steps}");
            assert_eq!(run.state.unexpected(), None, "seed {seed}, step {steps}");
            if world.roll(2) == 0 {
                run = other;
            }
            for (number, segment) in step.segments {
                let number = usize::try_from(number).expect("a small log");
                log.truncate(number);
                log.push(segment);
            }
            (head.length, head.last, head.over) = (run.length, now, run.is_over());
            waiting.extend(step.messages.into_iter().map(|message| (now.after(message.delay), message)));
            if head.over {
                break;
            }
            steps += 1;
            assert!(steps < MAX_STEPS && !waiting.is_empty(), "seed {seed}: the run does not end");
            // One of the earliest messages, so that answers overtake each other.
            waiting.sort_by_key(|(due, _)| *due);
            let pick = usize::try_from(world.roll(4)).unwrap_or_default().min(waiting.len() - 1);
            let (due, message) = waiting.remove(pick);
            now = now.max(due).after(Duration::from_millis(world.roll(200)));
            events = world.answer(&message);
        }
        for (node, name) in loaded.plan.nodes().map(|(node, described)| (node, &described.name)) {
            let outcome = run.state.node(node).outcome().expect("every node has ended");
            let most = loaded.plan.node(node).retry;
            assert!(world.submitted[node.index()] <= most, "seed {seed}: {name} was submitted too often");
            *outcomes.entry(std::mem::discriminant(outcome)).or_insert(0) += 1;
            if matches!(outcome, Outcome::Done { .. }) {
                assert!(world.submitted[node.index()] >= 1);
            }
        }
    }
    // Done, failed, blocked and indeterminate ones, at least.
    assert!(outcomes.len() >= 4, "{outcomes:?}");
}
