//! Runs whose worker loses its memory at any step. A step is a function of the log and the events: a run that is rebuilt from the log, as
//! another worker does, sends the same messages and writes the same segments as one that stayed in memory.

use std::sync::Arc;
use std::time::Duration;

use scheduler::Outcome;

use self::world::{NoService, WORKFLOW, World, head, loaded, loaded_from, rebuilt};
use super::*;

#[path = "active_world.rs"]
mod world;

const SEEDS: u64 = 60;
/// Steps after which a run has to be over.
const MAX_STEPS: usize = 5_000;

/// A run as it is executed: in memory and, rebuilt from its log at each step, in the memory of another worker.
struct Execution {
    loaded: Arc<LoadedSpec>,
    run: ActiveRun,
    stored: StoredRun,
    log: Vec<Vec<LogEntry>>,
    waiting: Vec<(Timestamp, Outgoing)>,
    now: Timestamp,
}

impl Execution {
    fn new(loaded: &Arc<LoadedSpec>) -> Self {
        let head = head();
        Self {
            loaded: Arc::clone(loaded),
            run: ActiveRun::new(Arc::clone(loaded), &head),
            stored: StoredRun { head, tail: Vec::new(), next_check: Timestamp(0) },
            log: Vec::new(),
            waiting: Vec::new(),
            now: Timestamp(1_000),
        }
    }

    fn step(&mut self, inputs: Vec<RunInput>, world: &mut World, context: &str) {
        let mut rebuilt_run = rebuilt(&self.loaded, &self.stored, &self.log);
        assert_eq!(rebuilt_run.length, self.stored.head.length, "{context}");
        let step = self.run.step(&self.stored.head, &NoService, inputs.clone(), self.now);
        let same = rebuilt_run.step(&self.stored.head, &NoService, inputs, self.now);
        assert_eq!(step.messages, same.messages, "{context}");
        assert_eq!(step.segments, same.segments, "{context}");
        assert_eq!(self.run.state.unexpected(), None, "{context}");
        if world.roll(2) == 0 {
            self.run = rebuilt_run;
        }
        for (number, segment) in step.segments {
            assert_eq!(usize::try_from(number), Ok(self.log.len()), "{context}: segments are written once");
            assert_eq!(segment.len() as u64, SEGMENT_LEN);
            self.log.push(segment);
        }
        self.stored = self.run.stored(self.stored.head.clone(), self.now, Timestamp(0));
        let due = |message: Outgoing| (self.now.after(message.delay), message);
        self.waiting.extend(step.messages.into_iter().map(due));
    }

    fn check_later(&mut self) {
        let check = Outgoing::to_run("check", &serde_json::Value::Null, Duration::from_mins(5));
        self.waiting.push((self.now.after(check.delay), check));
    }
}

/// Runs to the end; returns how often each node was submitted.
fn execute(loaded: &Arc<LoadedSpec>, seed: u64, dropped: u64) -> (Execution, World) {
    let mut world = World::new(loaded, seed, dropped);
    let mut execution = Execution::new(loaded);
    let first = loaded.spec.first_events().into_iter().map(RunInput::from).collect();
    execution.step(first, &mut world, &format!("seed {seed}, start"));
    execution.check_later();
    let mut steps = 0;
    while !execution.stored.head.is_ended {
        steps += 1;
        assert!(steps < MAX_STEPS && !execution.waiting.is_empty(), "seed {seed}: the run does not end");
        // Some of the earliest messages, so that answers overtake each other and arrive together.
        let mut inputs = Vec::new();
        for _ in 0..=world.roll(4) {
            execution.waiting.sort_by_key(|(due, _)| *due);
            let next = usize::try_from(world.roll(4)).unwrap_or_default();
            if execution.waiting.is_empty() {
                break;
            }
            let (due, message) = execution.waiting.remove(next.min(execution.waiting.len() - 1));
            execution.now = execution.now.max(due).after(Duration::from_millis(world.roll(200)));
            if message.handler == "check" {
                execution.check_later();
                inputs.push(RunInput::Check);
            } else {
                inputs.extend(world.inputs(&message));
            }
        }
        execution.step(inputs, &mut world, &format!("seed {seed}, step {steps}"));
    }
    execution.waiting.iter().filter(|(_, message)| message.handler == "record").for_each(|(_, message)| {
        world.record(message);
    });
    (execution, world)
}

#[test]
fn run_that_is_rebuilt_from_its_log_takes_the_same_steps() {
    let loaded = loaded();
    let mut outcomes = std::collections::HashMap::new();
    let mut settled = 0;
    for seed in 0..SEEDS {
        let (execution, world) = execute(&loaded, seed, 0);
        for (node, name) in loaded.plan.nodes().map(|(node, described)| (node, &described.name)) {
            let outcome = execution.run.state.node(node).outcome().expect("every node has ended");
            let max_submissions = loaded.plan.node(node).retry;
            let is_open = matches!(
                outcome,
                Outcome::Indeterminate { .. } | Outcome::Detached { .. } | Outcome::Missing { .. }
            );
            assert!(
                !is_open || execution.run.leaves_open_work(),
                "seed {seed}: the log is needed for {name}"
            );
            settled += usize::from(!execution.run.leaves_open_work());
            assert!(
                world.submitted[node.index()] <= max_submissions,
                "seed {seed}: {name} was submitted too often"
            );
            *outcomes.entry(std::mem::discriminant(outcome)).or_insert(0) += 1;
            if matches!(outcome, Outcome::Done { .. }) {
                assert!(world.submitted[node.index()] >= 1);
                let key = execution.run.state.key(node).expect("a key");
                let fact = world.renders.snapshot(&loaded.plan).work(key, name, 1, true);
                assert!(
                    world.renders.snapshot(&loaded.plan).has(&fact),
                    "seed {seed}: the index knows the video of {name}"
                );
            }
        }
    }
    assert!(settled > 0, "some runs leave nothing open");
    // Done, failed, blocked and indeterminate ones, at least.
    assert!(outcomes.len() >= 4, "{outcomes:?}");
}

#[test]
fn run_without_answers_to_some_messages_ends_by_its_checks() {
    let loaded = loaded();
    for seed in 0..SEEDS {
        let (execution, _) = execute(&loaded, seed, 20);
        for (node, _) in loaded.plan.nodes() {
            assert!(execution.run.state.node(node).outcome().is_some(), "seed {seed}");
        }
    }
}

#[test]
fn lookups_of_a_wide_run_are_sent_in_portions() {
    let wide = loaded_from(&WORKFLOW.replace("to: 6", "to: 600"));
    let mut run = ActiveRun::new(Arc::clone(&wide), &head());
    let mut world = World::new(&wide, 1, 0);
    let first = wide.spec.first_events().into_iter().map(RunInput::from).collect();
    let mut sent = run.step(&head(), &NoService, first, Timestamp(1_000)).messages;
    assert_eq!(sent.len(), MAX_LOOKUPS);
    let mut lookups = sent.len();
    while let Some(message) = sent.pop() {
        if message.handler != "lookup" {
            continue;
        }
        let seq = message.body["seq"].as_u64().expect("a number");
        let answer = RunInput::Answer(Answer { seq, events: world.answer(&message) });
        let messages = run.step(&head(), &NoService, vec![answer], Timestamp(1_001)).messages;
        lookups += messages.iter().filter(|message| message.handler == "lookup").count();
        sent.extend(messages);
        assert!(run.lookups <= MAX_LOOKUPS);
    }
    // `b` waits for `a`.
    assert_eq!(lookups, wide.plan.len() - 1);
    assert_eq!((run.lookups, run.deferred_lookups.len()), (0, 0));
}

#[test]
fn run_that_a_cap_ends_takes_back_what_may_still_be_under_way() {
    let loaded = loaded();
    let mut run = ActiveRun::new(Arc::clone(&loaded), &head());
    let mut world = World::new(&loaded, 1, 0);
    let first = loaded.spec.first_events().into_iter().map(RunInput::from).collect();
    let mut waiting = run.step(&head(), &NoService, first, Timestamp(1_000)).messages;
    let mut withdrawals = 0;
    while let Some(message) = waiting.pop() {
        let events = match message.handler {
            "lookup" => world.answer(&message),
            "prepare" => {
                let prepare: crate::messages::Prepare =
                    serde_json::from_value(message.body.clone()).expect("a request");
                let cap = scheduler::budget::BudgetCap::Tasks;
                vec![Event::BudgetExceeded { node: prepare.node, cap }]
            }
            handler => {
                assert!(handler == "wake" || run.state.is_over(), "{handler} before the end");
                withdrawals += usize::from(handler == "withdraw");
                continue;
            }
        };
        let seq = message.body["seq"].as_u64().expect("a number");
        let answer = RunInput::Answer(Answer { seq, events });
        waiting.extend(run.step(&head(), &NoService, vec![answer], Timestamp(1_001)).messages);
    }
    assert!(run.state.is_over() && matches!(run.state.halt(), Some(Halt::BudgetExceeded { .. })));
    assert_eq!(withdrawals, 1);
}
