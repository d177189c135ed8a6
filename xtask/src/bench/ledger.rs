//! Scheduling and ledger alone: one run's whole life-cycle, event by event, with the real database and full synchronisation.
//!
//! What the service and the network would do is answered at once. Every event is appended and applied as the executor does it: in batches of what
//! has become known together, with as many tasks out as a large run has.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use contract::Contract;
use engine::Ledger;
use engine::ledger::Kept;
use scheduler::budget::Caps;
use scheduler::policy::Rate;
use scheduler::{
    Action, Answer, Artifact, AttemptId, Event, Millis, Outcome, Policy, Prior, RunId, RunState, TaskId,
};
use workflow::plan::{NodeIx, Plan};
use workflow::{Folder, Options};

/// Nodes in the one run.
const NODES: usize = 100_000;
/// As many events go into one transaction at most: the executor's own number.
const BATCH: usize = 1_024;
const IN_FLIGHT: usize = 1_000;
/// At least so many nodes a second, from look-up to video.
const RATE: f64 = 8_000.0;
/// At most so much memory for the whole run, plan and all.
const MEGABYTES: f64 = 400.0;

pub(super) fn measure() -> Result<String, String> {
    let told = |error: &dyn std::fmt::Display| error.to_string();
    let folder = tempfile::tempdir().map_err(|error| told(&error))?;
    let plan = plan(folder.path())?;
    let file = folder.path().join(".runner").join("ledger.db");
    let ledger = Ledger::open(&file, folder.path()).map_err(|error| told(&error))?;
    let run = RunId::from("bench");
    let lease = ledger
        .begin(run.clone(), plan.name(), "https://api.example.com", Caps::default(), Millis(1))
        .map_err(|error| told(&error))?;
    // No limit but the one on tasks out: what is measured is not waiting.
    let policy = Policy {
        in_flight: IN_FLIGHT,
        downloads: IN_FLIGHT,
        submits: None,
        polls: Rate::a_second(1_000_000),
        ..Policy::remote()
    };
    let mut state = RunState::new(Arc::clone(&plan), "https://api.example.com", policy);
    let mut waiting = VecDeque::from([Event::Started]);
    let mut wakes: BTreeSet<Millis> = BTreeSet::new();
    let (mut events, mut commits, mut now, mut memory) = (0_usize, 0_usize, Millis(1), 0_f64);
    let mut skipped = 0_i64;
    let begun = Instant::now();
    while !state.is_over() {
        // Time goes as it does, so that as much becomes known together as would in a run; only nobody waits for a poll to be due.
        let passed = i64::try_from(begun.elapsed().as_millis()).unwrap_or(i64::MAX);
        now = Millis(now.0.max(1 + passed + skipped));
        if waiting.is_empty() {
            let due = wakes.first().copied().ok_or("the run stands still")?;
            skipped += (due.0 - now.0).max(0);
            now = now.max(due);
        }
        if wakes.first().is_some_and(|due| *due <= now) {
            wakes = wakes.split_off(&Millis(now.0 + 1));
            waiting.push_back(Event::Woke);
        }
        let batch: Vec<(Event, Kept)> = (0..BATCH)
            .map_while(|_| waiting.pop_front())
            .map(|event| {
                let kept = if state.decides(&event, now) { Kept::Yes } else { Kept::No };
                (event, kept)
            })
            .collect();
        events += batch.len();
        commits += 1;
        for event in ledger.append(&lease, &plan, now, batch).map_err(|error| told(&error))? {
            for action in state.apply(event, now) {
                if let Action::Wake { at } = action {
                    wakes.insert(at);
                } else {
                    waiting.extend(answer(action, &state));
                }
            }
        }
        if commits % 100 == 0 {
            memory = memory.max(super::resident_megabytes().unwrap_or(0.0));
        }
    }
    let took = begun.elapsed().as_secs_f64();
    ledger.end(&lease, now).map_err(|error| told(&error))?;
    let summary = state.summary(run);
    let done = summary.count(|outcome| matches!(outcome, Outcome::Done { .. }));
    if done != plan.len() {
        return Err(format!("{done} of {} nodes are done", plan.len()));
    }
    let rate = done as f64 / took;
    let said = format!(
        "ledger: {done} node life-cycles in {took:.1} s, {rate:.0} a second (bound {RATE}); {events} events in {commits} commits, \
         synchronous=FULL, {IN_FLIGHT} in flight; {memory:.0} MB resident at most (bound {MEGABYTES})"
    );
    if rate < RATE || memory > MEGABYTES { Err(said) } else { Ok(said) }
}

/// What the world answers to an action, at once and well.
fn answer(action: Action, state: &RunState) -> Option<Event> {
    Some(match action {
        Action::Look { node, key, .. } => Event::Looked { node, key: key.to_string(), prior: Prior::Nothing },
        Action::Prepare { node, key, .. } => Event::Prepared {
            node,
            attempt: AttemptId(format!("bench.{}", node.index())),
            digest: key.to_string(),
            key: key.to_string(),
            by_url: false,
            work: state.work(node).map(|work| work.to_string()),
            held: state.budget().hold(state.plan(), node),
            anew: None,
            parts: Vec::new(),
        },
        Action::Submit { node, attempt } => {
            let task = TaskId(format!("task_{:026}", node.index()));
            Event::Submitted { node, attempt, task }
        }
        Action::Poll { node, attempt, .. } => Event::Answered {
            node,
            attempt,
            answer: Answer::Completed {
                url: Some(format!("https://cdn.example.com/{}.mp4", node.index())),
                last_frame_url: None,
                expires_at: Some(Millis(i64::MAX / 2)),
                took: None,
            },
        },
        Action::Download(order) => {
            let artifact = artifact(order.node, &order.key.to_string());
            Event::Downloaded { node: order.node, attempt: order.attempt, artifact, spent: None }
        }
        Action::Discard { .. } | Action::Forget { .. } | Action::Join { .. } | Action::Wake { .. } => {
            return None;
        }
    })
}

fn artifact(node: NodeIx, sha256: &str) -> Artifact {
    Artifact {
        path: format!("out/bench/shot-{}.mp4", node.index()).into(),
        sha256: sha256.to_owned(),
        bytes: 1_000_000,
        seconds: 5.0,
        width: 854,
        height: 480,
        last_frame_url: None,
        expires_at: None,
        changed_at: Some(1),
    }
}

/// One shot over a long axis.
fn plan(folder: &std::path::Path) -> Result<Arc<Plan>, String> {
    let text = format!(
        "version: 1\nname: bench\ndefaults: {{ model: modela-video-2-0-260128, seconds: 5, resolution: 480p, ratio: \"16:9\" }}\nshots:\n  \
         - id: shot\n    prompt: \"a harbour in fog, take {{{{ number }}}}\"\n    seed: \"{{{{ number }}}}\"\n    matrix:\n      number: {{ from: 1, to: {NODES} }}\n"
    );
    workflow::load(
        text.as_bytes(),
        "bench.yaml",
        &Folder::new(folder),
        &Options::default(),
        Contract::embedded(),
    )
    .map(Arc::new)
    .map_err(|report| report.to_string())
}
