//! Throughput of the scheduler and the ledger: the complete event sequence of one run, in the real database with `synchronous=FULL`.
//!
//! Every action is answered immediately, in place of the service and the network. Events are appended and applied as in the executor: in
//! batches of the events that are pending, with as many tasks in flight as in a large run.

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use contract::Contract;
use engine::Ledger;
use engine::ledger::Persist;
use scheduler::budget::BudgetCaps;
use scheduler::policy::Rate;
use scheduler::{
    Action, Artifact, AttemptId, Event, ExistingWork, ModificationTime, Policy, PollResult, RunId, RunState,
    StatusKind, TaskId, Timestamp,
};
use workflow::plan::{NodeIx, Plan};
use workflow::{DirFiles, Options};

/// Nodes in the one run.
const NODES: usize = 100_000;
/// Maximum number of events in one transaction; the executor's own value.
const MAX_BATCH: usize = 1_024;
const IN_FLIGHT: usize = 1_000;
/// Lower bound of the throughput: nodes per second, from lookup to artifact.
const MIN_RATE: f64 = 8_000.0;
/// Upper bound of resident memory, plan included, in megabytes.
const MAX_MEGABYTES: f64 = 400.0;

pub(super) fn measure() -> Result<String, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let project = tempfile::tempdir().map_err(|error| text(&error))?;
    let plan = plan(NODES)?;
    let file = project.path().join(".runner").join("ledger.db");
    let ledger = Ledger::open(&file, project.path()).map_err(|error| text(&error))?;
    let run = RunId::from("bench");
    let run_lock = ledger
        .begin(run.clone(), plan.name(), "https://api.example.com", BudgetCaps::default(), Timestamp(1))
        .map_err(|error| text(&error))?;
    // Only the limit on tasks in flight applies, so that waiting is not measured.
    let policy = Policy {
        max_in_flight: IN_FLIGHT,
        max_downloads: IN_FLIGHT,
        submit_rate: None,
        learns_limits: false,
        poll_rate: Rate::per_second(1_000_000),
        ..Policy::remote()
    };
    let mut state = RunState::new(Arc::clone(&plan), "https://api.example.com", policy);
    let mut pending = VecDeque::from([Event::Started]);
    let mut timers: BTreeSet<Timestamp> = BTreeSet::new();
    let (mut events, mut commits, mut now, mut memory) = (0_usize, 0_usize, Timestamp(1), 0_f64);
    let mut skipped = 0_i64;
    let started = Instant::now();
    while !state.is_over() {
        // The clock follows real time, so that batches have the size that they have in a run. Waiting for a poll's due time is skipped.
        let elapsed = i64::try_from(started.elapsed().as_millis()).unwrap_or(i64::MAX);
        now = Timestamp(now.0.max(1 + elapsed + skipped));
        if pending.is_empty() {
            let due = timers.first().copied().ok_or("the run makes no progress")?;
            skipped += (due.0 - now.0).max(0);
            now = now.max(due);
        }
        if timers.first().is_some_and(|due| *due <= now) {
            timers = timers.split_off(&Timestamp(now.0 + 1));
            pending.push_back(Event::TimerFired);
        }
        let batch: Vec<(Event, Persist)> = (0..MAX_BATCH)
            .map_while(|_| pending.pop_front())
            .map(|event| {
                let persist = if state.must_persist(&event, now) { Persist::Yes } else { Persist::No };
                (event, persist)
            })
            .collect();
        events += batch.len();
        commits += 1;
        for event in ledger.append(&run_lock, &plan, now, batch).map_err(|error| text(&error))? {
            for action in state.apply(event, now) {
                if let Action::Wake { deadline } = action {
                    timers.insert(deadline);
                } else {
                    pending.extend(complete(action, &state, events));
                }
            }
        }
        if commits % 100 == 0 {
            memory = memory.max(super::resident_megabytes().unwrap_or(0.0));
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    ledger.end(&run_lock, now).map_err(|error| text(&error))?;
    let summary = state.into_summary(run);
    let done = summary.count(&[StatusKind::Done, StatusKind::Reused]);
    if done != plan.len() {
        return Err(format!("{done} of {} nodes are done", plan.len()));
    }
    let rate = done as f64 / seconds;
    let report = format!(
        "ledger: {done} node life-cycles in {seconds:.1} s, {rate:.0} per second (bound {MIN_RATE}); {events} events in {commits} commits, \
         synchronous=FULL, {IN_FLIGHT} in flight; peak resident memory {memory:.0} MB (bound {MAX_MEGABYTES})"
    );
    if rate < MIN_RATE || memory > MAX_MEGABYTES { Err(report) } else { Ok(report) }
}

/// The event that completes an action successfully; `number` is part of the id of an attempt.
pub(super) fn complete(action: Action, state: &RunState, number: usize) -> Option<Event> {
    Some(match action {
        Action::Lookup { node, key, .. } => {
            Event::LookupDone { node, key: key.to_string(), existing: ExistingWork::None, render: 1 }
        }
        Action::Prepare { node, key, .. } => Event::Prepared {
            node,
            attempt: AttemptId(format!("bench.{}.{number}", node.index())),
            digest: key.to_string(),
            key: key.to_string(),
            by_url: false,
            service_independent_key: state.service_independent_key(node).map(|key| key.to_string()),
            reservation: state.budget().reservation(state.plan(), node),
            render: 1,
            parts: Vec::new(),
        },
        Action::Submit { node, attempt } => {
            let task = TaskId(format!("task_{:026}", node.index()));
            Event::Submitted { node, attempt, task }
        }
        Action::Poll { node, attempt, .. } => Event::Polled {
            node,
            attempt,
            result: PollResult::Completed {
                url: Some(format!("https://cdn.example.com/{}.mp4", node.index())),
                last_frame_url: None,
                expires_at: Some(Timestamp(i64::MAX / 2)),
                took: None,
            },
            next: None,
        },
        Action::Download(order) => {
            let artifact = artifact(order.node, &order.key.to_string());
            Event::Downloaded { node: order.node, attempt: order.attempt, artifact, cost: None }
        }
        Action::Discard { .. }
        | Action::Overdue { .. }
        | Action::ExpireTask { .. }
        | Action::Join { .. }
        | Action::Wake { .. } => {
            return None;
        }
    })
}

fn artifact(node: NodeIx, sha256: &str) -> Artifact {
    Artifact {
        path: format!("out/bench/shot-{}.mp4", node.index()).into(),
        sha256: sha256.to_owned(),
        first_sha256: None,
        bytes: 1_000_000,
        duration: Duration::from_secs(5),
        width: 854,
        height: 480,
        last_frame_url: None,
        expires_at: None,
        modified_at: Some(ModificationTime(1)),
    }
}

/// One shot over an axis of so many values.
pub(super) fn plan(nodes: usize) -> Result<Arc<Plan>, String> {
    let text = format!(
        "version: 1\nname: bench\ndefaults: {{ model: modela-video-2-0-260128, seconds: 5, resolution: 480p, ratio: \"16:9\" }}\nshots:\n  \
         - id: shot\n    prompt: \"a harbour in fog, take {{{{ number }}}}\"\n    seed: \"{{{{ number }}}}\"\n    matrix:\n      number: {{ from: 1, to: {nodes} }}\n"
    );
    workflow::load(
        text.as_bytes(),
        "bench.yaml",
        &DirFiles::new(Path::new(""), engine::MEDIA_GATE),
        &Options::default(),
        Contract::embedded(),
    )
    .map(Arc::new)
    .map_err(|report| report.to_string())
}
