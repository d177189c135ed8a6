//! Scripts for the pure scheduler: events in, actions out. No runtime, no clock, no disk.

#![expect(clippy::expect_used, reason = "a test stops at the first surprise")]

#[path = "apply/failures.rs"]
mod failures;
#[path = "apply/keys.rs"]
mod keys;
#[path = "apply/scope.rs"]
mod scope;
mod support;
#[path = "apply/waits.rs"]
mod waits;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use scheduler::budget::{BudgetCap, BudgetCaps, NoPrices};
use scheduler::policy::Rate;
use scheduler::{
    Action, Artifact, AttemptId, Budget, Decision, Event, ExistingWork, Failure, FailureKind, FilmOutcome,
    Halt, NextStep, Outcome, Phase, PickSummary, Policy, PollResult, Refusal, RefusalKind, RunId, RunState,
    ServiceHistory, StatusKind, TaskId, Timestamp,
};
use serde_json::json;
use support::{plan, plan_with};
use workflow::plan::{NodeIx, PickKind};

fn prepared_event(node: NodeIx, name: &str) -> Event {
    Event::Prepared {
        node,
        attempt: attempt(name),
        key: "00".repeat(32),
        digest: String::new(),
        by_url: true,
        service_independent_key: None,
        reservation: scheduler::budget::Reservation::default(),
        render: 1,
        parts: Vec::new(),
    }
}

/// A scripted run: names for nodes, one attempt and one task per node.
struct Script {
    state: RunState,
    now: Timestamp,
}

impl Script {
    fn new(shots: &[&str]) -> Self {
        Self::with(RunState::new(plan(shots), "test", Policy::remote()))
    }

    fn with(state: RunState) -> Self {
        Self { state, now: Timestamp(1_000_000) }
    }

    fn ix(&self, name: &str) -> NodeIx {
        self.state.plan().find(name).expect("a node of the plan")
    }

    /// Applies an event and shows the actions in short: `lookup a`, `prepare a`, `submit a`, `poll a`, `download a`, `join`.
    fn on(&mut self, event: Event) -> Vec<String> {
        let actions = self.state.apply(event, self.now);
        let name = |node: &NodeIx| self.state.plan().node(*node).name.clone();
        actions
            .iter()
            .map(|action| match action {
                Action::Lookup { node, .. } => format!("lookup {}", name(node)),
                Action::Prepare { node, is_inline: false, .. } => format!("prepare {}", name(node)),
                Action::Prepare { node, is_inline: true, .. } => format!("prepare {} inline", name(node)),
                Action::Submit { node, .. } => format!("submit {}", name(node)),
                Action::Discard { node, .. } => format!("discard {}", name(node)),
                Action::Poll { node, .. } => format!("poll {}", name(node)),
                Action::ExpireTask { attempt, .. } => format!("expire {attempt}"),
                Action::Overdue { node, .. } => format!("overdue {}", name(node)),
                Action::Download(download) if download.source_index == 0 => {
                    format!("download {}", name(&download.node))
                }
                Action::Download(download) => format!("download {} again", name(&download.node)),
                Action::Join { .. } => "join".to_owned(),
                Action::Wake { deadline } => format!("wake in {} ms", deadline.since(self.now).as_millis()),
            })
            .collect()
    }

    fn pass(&mut self, time: Duration) {
        self.now = self.now.after(time);
    }

    /// A timer fires after this many milliseconds.
    fn wait(&mut self, milliseconds: u64) -> Vec<String> {
        self.pass(Duration::from_millis(milliseconds));
        self.on(Event::TimerFired)
    }

    fn running(&mut self, name: &str, progress: Option<u8>) -> Vec<String> {
        self.polled(
            name,
            PollResult::Running { progress, status: "in_progress".to_owned(), poll_after: None },
        )
    }

    fn throttled(&mut self, name: &str, retry_after: Option<Duration>) -> Vec<String> {
        self.polled(name, PollResult::Throttled { retry_after, reason: "too many".to_owned() })
    }

    fn indeterminate(&mut self, name: &str) -> Vec<String> {
        let (node, attempt) = (self.ix(name), attempt(name));
        let (reason, suggested_task) = ("connection reset".to_owned(), None);
        self.on(Event::Indeterminate { node, attempt, reason, halts: false, suggested_task })
    }

    /// An answer of 401 to 404 that is not the service's own.
    fn foreign_refusal(&mut self, name: &str) -> Vec<String> {
        let (node, attempt) = (self.ix(name), attempt(name));
        let (reason, suggested_task) = ("404 of a web server".to_owned(), None);
        self.on(Event::Indeterminate { node, attempt, reason, halts: true, suggested_task })
    }

    fn start(&mut self) -> Vec<String> {
        self.on(Event::Started)
    }

    fn lookup_done(&mut self, name: &str, existing: ExistingWork) -> Vec<String> {
        self.on(Event::LookupDone { node: self.ix(name), key: "00".repeat(32), existing, render: 1 })
    }

    fn prepared(&mut self, name: &str) -> Vec<String> {
        self.on(prepared_event(self.ix(name), name))
    }

    fn submitted(&mut self, name: &str) -> Vec<String> {
        self.on(Event::Submitted { node: self.ix(name), attempt: attempt(name), task: task(name) })
    }

    fn refused(&mut self, name: &str, kind: RefusalKind, retry_after: Option<Duration>) -> Vec<String> {
        let refusal = Refusal { kind, failure: Failure::new(FailureKind::Transient, "refused"), retry_after };
        self.on(Event::refused(self.ix(name), attempt(name), refusal))
    }

    fn polled(&mut self, name: &str, result: PollResult) -> Vec<String> {
        self.on(Event::Polled { node: self.ix(name), attempt: attempt(name), result, next: None })
    }

    fn completed(&mut self, name: &str) -> Vec<String> {
        self.polled(
            name,
            PollResult::Completed {
                url: Some("u".to_owned()),
                last_frame_url: None,
                expires_at: None,
                took: None,
            },
        )
    }

    fn downloaded(&mut self, name: &str) -> Vec<String> {
        self.on(Event::Downloaded {
            node: self.ix(name),
            attempt: attempt(name),
            artifact: artifact(name),
            cost: None,
        })
    }

    /// From an admitted node to its accepted task.
    fn submit(&mut self, name: &str) {
        self.prepared(name);
        self.submitted(name);
    }

    fn outcome(&self, name: &str) -> &Outcome {
        self.state.node(self.ix(name)).outcome().expect("the node has ended")
    }
}

fn attempt(name: &str) -> AttemptId {
    AttemptId(format!("run.{name}"))
}

fn task(name: &str) -> TaskId {
    TaskId(format!("task_{name}"))
}

fn artifact(name: &str) -> Artifact {
    Artifact {
        path: PathBuf::from(format!("{name}.mp4")),
        sha256: name.repeat(8),
        first_sha256: None,
        bytes: 1,
        duration: Duration::from_secs(4),
        width: 2,
        height: 2,
        last_frame_url: None,
        expires_at: None,
        modified_at: None,
    }
}

fn completed_work(name: &str) -> ExistingWork {
    ExistingWork::Completed { attempt: attempt(name), task: task(name), artifact: artifact(name) }
}

fn in_flight(name: &str, since: Timestamp, was_downloaded: bool) -> ExistingWork {
    ExistingWork::InFlight {
        attempt: attempt(name),
        task: task(name),
        since,
        was_downloaded,
        is_missing: false,
        is_expired: false,
        is_other_account: false,
        damage: None,
    }
}

#[test]
fn chain_runs_from_lookup_to_film() {
    let mut run = Script::new(&["a", "b<a"]);
    assert_eq!(run.start(), ["lookup a"]);
    assert_eq!(run.lookup_done("a", ExistingWork::None), ["prepare a"]);
    assert_eq!(run.prepared("a"), ["submit a"]);
    assert_eq!(run.submitted("a"), ["wake in 5000 ms"]);
    assert_eq!(run.wait(5_000), ["poll a"]);
    assert_eq!(run.running("a", Some(30)), ["wake in 2000 ms"]);
    assert_eq!(run.wait(2_000), ["poll a"]);
    assert_eq!(run.completed("a"), ["download a"]);
    assert_eq!(run.downloaded("a"), ["lookup b"]);
    assert_eq!(run.lookup_done("b", ExistingWork::None), ["prepare b"]);
    run.submit("b");
    run.completed("b");
    assert_eq!(run.downloaded("b"), ["join"]);
    assert!(!run.state.is_over(), "the film is still to come");
    let failure = Failure::new(FailureKind::Local, "no room");
    assert!(run.on(Event::JoinFailed { index: 0, failure }).is_empty());
    assert!(run.state.is_over());
    let summary = run.state.clone().into_summary(RunId::from("run"));
    assert_eq!(summary.submitted(), 2);
    assert_eq!(summary.count(&[StatusKind::Done, StatusKind::Reused]), 2);
}

/// Two takes of `a`, one of which `b` continues and the film shows; `c` continues `b`.
fn takes(begins_on: &str) -> Script {
    let mut stored =
        serde_json::to_value(&*plan(&["a#1", "a#2", &format!("b<{begins_on}"), "c<b"])).expect("JSON");
    let shown = if begins_on.contains('|') { json!({ "pick": [0, 1] }) } else { json!({ "node": 1 }) };
    stored["films"][0]["clips"] = json!([{ "source": shown }, { "source": { "node": 2 } }]);
    let plan = serde_json::from_value(stored).expect("a sealed plan");
    Script::with(RunState::new(Arc::new(plan), "test", Policy::remote()))
}

fn two_takes_of(name: &str) -> PickSummary {
    PickSummary { kind: PickKind::Take, name: name.to_owned(), candidates: 2 }
}

#[test]
fn unpicked_takes_are_rendered_and_their_successors_wait() {
    let mut run = takes("a#1|a#2");
    assert_eq!(run.start(), ["lookup a#1", "lookup a#2"]);
    run.lookup_done("a#1", completed_work("a1"));
    assert!(!run.state.is_over());
    assert!(run.lookup_done("a#2", completed_work("a2")).is_empty());
    assert!(run.state.is_over());
    assert_eq!(run.outcome("b"), &Outcome::Unpicked { picks: vec!["a".to_owned()] });
    assert_eq!(run.outcome("c"), &Outcome::Blocked { by: run.ix("b") });
    assert_eq!(run.state.node(run.ix("b")).shot().decision(), Some(Decision::Deferred));
    let summary = run.state.clone().into_summary(RunId::from("run"));
    assert_eq!(summary.films[0].outcome, FilmOutcome::Unpicked { missing: 2, picks: vec!["a".to_owned()] });
    assert_eq!(summary.picks, [two_takes_of("a")]);

    let mut picked = takes("a#2");
    picked.start();
    assert!(
        picked.lookup_done("a#1", completed_work("a1")).is_empty(),
        "nobody waits for the take that was not picked"
    );
    assert_eq!(picked.lookup_done("a#2", completed_work("a2")), ["lookup b"]);
}

#[test]
fn failed_take_blocks_successors_and_film() {
    let mut run = takes("a#1|a#2");
    run.start();
    run.lookup_done("a#1", completed_work("a1"));
    run.lookup_done("a#2", ExistingWork::None);
    let failure = Failure::new(FailureKind::Local, "no room");
    run.on(Event::PrepareFailed { node: run.ix("a#2"), failure });
    assert!(matches!(run.outcome("a#2"), Outcome::Failed { .. }));
    assert_eq!(run.outcome("b"), &Outcome::Blocked { by: run.ix("a#2") });
    let summary = run.state.clone().into_summary(RunId::from("run"));
    assert_eq!(summary.films[0].outcome, FilmOutcome::Pending { missing: 2 });
    assert_eq!(summary.picks, [two_takes_of("a")], "the other one can still be picked");
}

#[test]
fn existing_videos_are_reused_without_submission() {
    let mut run = Script::new(&["a", "b<a"]);
    run.start();
    assert_eq!(run.lookup_done("a", completed_work("a")), ["lookup b"]);
    assert_eq!(run.lookup_done("b", completed_work("b")), ["join"]);
    assert_eq!(run.state.node(run.ix("b")).shot().decision(), Some(Decision::Reuse));
    assert_eq!(run.state.clone().into_summary(RunId::from("run")).submitted(), 0);
}

#[test]
fn submission_waits_until_all_lookups_are_done() {
    let mut run = Script::with(RunState::new(
        plan(&["a", "b"]),
        "test",
        Policy { max_in_flight: 1, ..Policy::remote() },
    ));
    assert_eq!(run.start(), ["lookup a", "lookup b"]);
    assert!(run.lookup_done("a", ExistingWork::None).is_empty());
    let since = run.now;
    assert_eq!(
        run.lookup_done("b", in_flight("b", since, false)),
        ["poll b"],
        "the adopted task holds the only slot"
    );
    assert_eq!(run.state.in_flight(), 1);
    assert_eq!(run.completed("b"), ["prepare a", "download b"], "its slot is free");
}

#[test]
fn indeterminate_submission_is_not_repeated_and_blocks_only_its_successors() {
    let mut run = Script::new(&["a", "b<a", "c"]);
    run.start();
    run.lookup_done("a", ExistingWork::None);
    run.lookup_done("c", ExistingWork::None);
    run.prepared("a");
    assert!(run.indeterminate("a").is_empty());
    assert!(matches!(run.outcome("a"), Outcome::Indeterminate { .. }));
    assert_eq!(run.outcome("b"), &Outcome::Blocked { by: run.ix("a") });
    run.submit("c");
    run.completed("c");
    run.downloaded("c");
    assert!(run.state.is_over());
    assert_eq!(
        run.state.clone().into_summary(RunId::from("run")).films[0].outcome,
        FilmOutcome::Pending { missing: 2 }
    );
}

#[test]
fn throttled_shots_are_retried_one_by_one_and_not_before_retry_after() {
    let names: Vec<String> = (0..8).map(|number| format!("s{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let policy = Policy { max_in_flight: 8, ..Policy::remote() };
    let mut run = Script::with(RunState::new(plan(&names), "test", policy));
    run.start();
    for name in &names {
        run.lookup_done(name, ExistingWork::None);
    }
    for name in &names {
        run.prepared(name);
    }
    for name in &names {
        assert!(run.refused(name, RefusalKind::Throttled, Some(Duration::from_mins(1))).len() <= 1);
    }
    assert!(run.wait(59_999).is_empty());
    // The wait is over for all, and one is submitted first.
    let first = run.wait(15_001);
    assert_eq!(first.len(), 1, "{first:?}");
    let first = first[0].strip_prefix("prepare ").expect("a preparation").to_owned();
    run.prepared(&first);
    let actions = run.submitted(&first);
    assert_eq!(actions.iter().filter(|action| action.starts_with("prepare")).count(), 2, "{actions:?}");
}

#[test]
fn submission_rate_counts_submissions_of_earlier_runs() {
    let policy = Policy {
        max_in_flight: 8,
        submit_rate: Some(Rate { count: 2, per: Duration::from_secs(10) }),
        ..Policy::remote()
    };
    let history = ServiceHistory { submissions: vec![Timestamp(998_000)], ..ServiceHistory::default() };
    let state = RunState::new(plan(&["a", "b", "c"]), "test", policy.clone()).with_service(
        "test",
        policy,
        history,
        Timestamp(1_000_000),
    );
    let mut run = Script::with(state);
    run.start();
    for name in ["a", "b"] {
        run.lookup_done(name, ExistingWork::None);
    }
    assert_eq!(run.lookup_done("c", ExistingWork::None), ["wake in 3001 ms"], "five seconds after the last");
    assert_eq!(run.wait(3_001), ["prepare a", "wake in 5001 ms"]);
    assert_eq!(run.wait(5_001), ["prepare b", "wake in 5001 ms"]);
}

#[test]
fn indeterminate_submission_holds_its_slot_for_the_hold_time() {
    let policy =
        Policy { max_in_flight: 1, indeterminate_slot_hold: Duration::from_secs(90), ..Policy::remote() };
    let mut run = Script::with(RunState::new(plan(&["a", "b"]), "test", policy.clone()));
    run.start();
    run.lookup_done("a", ExistingWork::None);
    run.lookup_done("b", ExistingWork::None);
    run.prepared("a");
    assert_eq!(run.indeterminate("a"), ["wake in 90000 ms"], "its task may be in flight: b waits");
    assert_eq!(run.wait(90_000), ["prepare b"]);

    // An indeterminate attempt of an earlier run holds its slot from its intent.
    let mut run = Script::with(RunState::new(plan(&["a", "b"]), "test", policy.clone()));
    run.start();
    run.lookup_done("b", ExistingWork::None);
    let intended_at = Timestamp(run.now.0 - 50_000);
    assert_eq!(
        run.lookup_done(
            "a",
            ExistingWork::Indeterminate {
                attempt: attempt("a"),
                intended_at,
                suggested_task: None,
                reason: None
            }
        ),
        ["wake in 40000 ms"]
    );
    assert_eq!(run.wait(40_000), ["prepare b"]);

    // At most for the shot's timeout.
    let brief = plan_with(&["a", "b"], |node| node["timeout"] = json!({ "secs": 30, "nanos": 0 }));
    let mut run = Script::with(RunState::new(brief, "test", policy));
    run.start();
    run.lookup_done("a", ExistingWork::None);
    run.lookup_done("b", ExistingWork::None);
    run.prepared("a");
    assert_eq!(run.indeterminate("a"), ["wake in 30000 ms"]);
}

#[test]
fn poll_rate_applies_over_all_tasks() {
    let policy = Policy { poll_rate: Rate::per_second(1), ..Policy::remote() };
    let mut run = Script::with(RunState::new(plan(&["a", "b", "c"]), "test", policy));
    run.start();
    for name in ["a", "b", "c"] {
        run.lookup_done(name, ExistingWork::None);
    }
    for name in ["a", "b", "c"] {
        run.submit(name);
    }
    assert_eq!(run.wait(5_000), ["poll a", "wake in 1001 ms"]);
    assert_eq!(run.wait(1_001), ["poll b", "wake in 1001 ms"]);
    assert_eq!(run.wait(1_001), ["poll c"]);
}

#[test]
fn throttled_poll_holds_all_polls_and_does_not_count_as_unreachable() {
    let mut run = Script::new(&["a", "b"]);
    run.start();
    for name in ["a", "b"] {
        run.lookup_done(name, ExistingWork::None);
        run.submit(name);
    }
    assert_eq!(run.wait(5_000), ["poll a", "poll b"]);
    assert_eq!(run.running("b", None), ["wake in 2000 ms"]);
    assert!(run.throttled("a", Some(Duration::from_secs(30))).is_empty(), "a tick is to come already");
    assert_eq!(run.wait(2_000), ["wake in 28000 ms"], "b has to wait as well");
    let actions = run.wait(28_000);
    assert_eq!(actions[0], "poll b");
    // The unreachable timeout does not apply: the service responds.
    for _ in 0..100 {
        run.pass(Duration::from_secs(30));
        run.on(Event::TimerFired);
        run.throttled("a", None);
    }
    assert!(matches!(run.state.node(run.ix("a")).phase, Phase::InFlight { .. }));
}

#[test]
fn throttled_download_holds_all_downloads() {
    let policy = Policy { max_downloads: 1, ..Policy::remote() };
    let mut run = Script::with(RunState::new(plan(&["a", "b"]), "test", policy));
    run.start();
    for name in ["a", "b"] {
        run.lookup_done(name, ExistingWork::None);
        run.submit(name);
        run.completed(name);
    }
    let mut failure = Failure::new(FailureKind::RateLimited, "too many");
    failure.retry_after = Some(Duration::from_secs(40));
    let (node, attempt) = (run.ix("a"), attempt("a"));
    assert!(
        run.on(Event::DownloadFailed { node, attempt, failure, partial_bytes: 0, next: None }).is_empty(),
        "b waits as well"
    );
    assert!(run.wait(39_999).iter().all(|action| action.starts_with("wake")));
    assert_eq!(run.wait(10_001), ["download a again"]);
}

#[test]
fn refused_submission_fails_after_max_tries() {
    let mut run = Script::with(RunState::new(
        plan(&["a"]),
        "test",
        Policy { max_submit_attempts: 3, ..Policy::remote() },
    ));
    run.start();
    run.lookup_done("a", ExistingWork::None);
    // One second, then two, plus a jitter that differs per shot.
    for wait in [1172, 2379] {
        run.prepared("a");
        assert_eq!(run.refused("a", RefusalKind::Retryable, None), [format!("wake in {wait} ms")]);
        run.pass(Duration::from_mins(1));
        assert_eq!(run.on(Event::TimerFired), ["prepare a"]);
    }
    run.prepared("a");
    run.refused("a", RefusalKind::Retryable, None);
    assert!(matches!(run.outcome("a"), Outcome::Failed { task: None, .. }));
}

#[test]
fn submission_that_was_held_back_is_no_try() {
    let policy = Policy { max_submit_attempts: 2, ..Policy::remote() };
    let mut run = Script::with(RunState::new(plan(&["a", "b"]), "test", policy));
    run.start();
    run.lookup_done("a", ExistingWork::None);
    run.lookup_done("b", ExistingWork::None);
    run.submit("b");
    for _ in 0..5 {
        run.prepared("a");
        run.refused("a", RefusalKind::NotSent, Some(Duration::from_secs(7)));
        assert!(run.wait(6_999).iter().all(|action| action.contains(" b") || action.starts_with("wake")));
        assert!(run.wait(3_000).contains(&"prepare a".to_owned()));
    }
    run.prepared("a");
    run.refused("a", RefusalKind::Retryable, None);
    run.pass(Duration::from_mins(1));
    assert!(run.on(Event::TimerFired).contains(&"prepare a".to_owned()), "the first try of two");
    run.prepared("a");
    run.refused("a", RefusalKind::Retryable, None);
    assert!(matches!(run.outcome("a"), Outcome::Failed { task: None, .. }));
}

#[test]
fn failed_lookup_ends_its_node_and_lets_the_others_go_on() {
    let mut run = Script::new(&["a", "b"]);
    run.start();
    assert!(run.lookup_done("b", ExistingWork::None).is_empty(), "`a` may have a task in flight");
    let failure = Failure::new(FailureKind::Local, "it is a directory");
    assert_eq!(run.on(Event::PrepareFailed { node: run.ix("a"), failure }), ["prepare b"]);
    assert!(matches!(run.outcome("a"), Outcome::Failed { task: None, .. }));
}

#[test]
fn replay_leaves_admissions_to_the_record() {
    // The record of a run with a rate of one submission in ten seconds: a timer that is not recorded admitted `b`.
    let policy =
        Policy { submit_rate: Some(Rate { count: 1, per: Duration::from_secs(10) }), ..Policy::remote() };
    let mut run = Script::with(RunState::new(plan(&["a", "b"]), "test", policy).replaying());
    run.start();
    run.lookup_done("a", ExistingWork::None);
    assert!(
        run.lookup_done("b", ExistingWork::None).is_empty(),
        "nothing is admitted before the record says so"
    );
    assert_eq!(run.prepared("b"), ["submit b"]);
    run.on(Event::Interrupted);
    assert_eq!(
        run.outcome("a"),
        &Outcome::NotStarted,
        "it was not in preparation when the run was interrupted"
    );
}

/// A run of `a` and `c` with two submit attempts each, of which both are being submitted.
fn submitting_two(fail_fast: bool) -> Script {
    let policy = Policy { max_submit_attempts: 2, ..Policy::remote() };
    let mut run = Script::with(RunState::new(plan(&["a", "b<a", "c"]), "test", policy));
    run.on(Event::RunConfigured { only: None, fail_fast, several_services: false });
    run.start();
    run.lookup_done("a", ExistingWork::None);
    run.lookup_done("c", ExistingWork::None);
    run.prepared("a");
    run.prepared("c");
    run
}

#[test]
fn service_never_reached_halts_run_as_unusable() {
    for fail_fast in [false, true] {
        let mut run = submitting_two(fail_fast);
        run.refused("a", RefusalKind::Unreachable, None);
        run.pass(Duration::from_mins(1));
        run.on(Event::TimerFired);
        run.prepared("a");
        assert_eq!(run.state.halt(), None);
        run.refused("a", RefusalKind::Unreachable, None);
        assert!(matches!(run.state.halt(), Some(Halt::ServiceUnusable { .. })), "{:?}", run.state.halt());
        run.refused("c", RefusalKind::Unreachable, None);
        assert!(matches!(run.outcome("a"), Outcome::Failed { task: None, .. }));
        assert_eq!(run.outcome("c"), &Outcome::NotStarted);
    }
}

#[test]
fn service_unreachable_past_timeout_halts_run_as_unusable() {
    let mut run = submitting_two(false);
    run.refused("a", RefusalKind::Unreachable, None);
    run.pass(Policy::remote().unreachable_timeout);
    run.refused("c", RefusalKind::Unreachable, None);
    assert!(matches!(run.state.halt(), Some(Halt::ServiceUnusable { .. })), "{:?}", run.state.halt());
}

#[test]
fn service_reached_once_then_unreachable_fails_the_shot_only() {
    let mut run = submitting_two(false);
    run.submitted("c");
    run.refused("a", RefusalKind::Unreachable, None);
    run.pass(Duration::from_mins(1));
    run.on(Event::TimerFired);
    run.prepared("a");
    run.refused("a", RefusalKind::Unreachable, None);
    assert_eq!(run.state.halt(), None);
    assert!(matches!(run.outcome("a"), Outcome::Failed { task: None, .. }));
}

#[test]
fn service_unusable_is_the_halt_even_with_fail_fast() {
    let mut run = submitting_two(true);
    run.refused("a", RefusalKind::ServiceUnusable, None);
    assert!(matches!(run.state.halt(), Some(Halt::ServiceUnusable { .. })), "{:?}", run.state.halt());
}

#[test]
fn unreachable_frame_url_is_inlined_once() {
    let mut run = Script::new(&["a"]);
    run.start();
    run.lookup_done("a", ExistingWork::None);
    run.prepared("a");
    assert_eq!(run.refused("a", RefusalKind::InvalidRequest, None), ["prepare a inline"]);
    run.prepared("a");
    assert!(run.refused("a", RefusalKind::InvalidRequest, None).is_empty());
    assert!(matches!(run.outcome("a"), Outcome::Failed { .. }));
}

#[test]
fn unusable_service_halts_submissions_but_not_tasks_in_flight() {
    let mut run = Script::new(&["a", "b", "c"]);
    run.start();
    for name in ["a", "b", "c"] {
        run.lookup_done(name, ExistingWork::None);
    }
    run.submit("a");
    run.prepared("b");
    run.refused("b", RefusalKind::ServiceUnusable, None);
    assert!(matches!(run.state.halt(), Some(Halt::ServiceUnusable { .. })));
    assert_eq!(run.prepared("c"), ["discard c"], "prepared before, and not sent after all");
    run.refused("c", RefusalKind::Retryable, None);
    assert_eq!(run.outcome("c"), &Outcome::NotStarted);
    assert_eq!(run.completed("a"), ["download a"], "what is paid for is fetched");
}

/// No key or no money at one service says nothing about another.
#[test]
fn unusable_service_halts_its_own_shots_only() {
    let two = |node: &mut serde_json::Value| {
        let name = node["name"].as_str().unwrap_or_default().to_owned();
        node["service"] = json!(name.split('-').next());
    };
    let mut run = Script::with(RunState::new(
        plan_with(&["x-1", "x-2", "y-1", "y-2<y-1", "y-3<x-2"], two),
        "test",
        Policy::remote(),
    ));
    run.start();
    for name in ["x-1", "x-2", "y-1"] {
        run.lookup_done(name, ExistingWork::None);
    }
    run.prepared("x-1");
    run.refused("x-1", RefusalKind::ServiceUnusable, None);
    assert_eq!(run.prepared("x-2"), ["discard x-2"], "prepared before, and not sent after all");
    run.refused("x-2", RefusalKind::Retryable, None);
    assert_eq!(run.state.halt(), None, "the other service is there");
    assert_eq!(run.outcome("x-2"), &Outcome::NotStarted);
    assert!(matches!(run.outcome("y-3"), Outcome::Blocked { .. }));
    run.submit("y-1");
    assert_eq!(run.completed("y-1"), ["download y-1"]);
    run.downloaded("y-1");
    assert_eq!(run.lookup_done("y-2", ExistingWork::None), ["prepare y-2"]);
    run.prepared("y-2");
    run.refused("y-2", RefusalKind::ServiceUnusable, None);
    assert!(matches!(run.state.halt(), Some(Halt::ServiceUnusable { .. })), "none is left");
    assert!(run.state.is_over());
    let summary = run.state.into_summary(RunId("r".to_owned()));
    assert_eq!(summary.unusable, ["x", "y"]);
}

#[test]
fn foreign_refusal_halts_only_before_the_service_has_answered() {
    let started = || {
        let mut run = Script::new(&["a", "b", "c"]);
        run.start();
        for name in ["a", "b", "c"] {
            run.lookup_done(name, ExistingWork::None);
        }
        run
    };
    let mut unreached = started();
    unreached.prepared("a");
    unreached.foreign_refusal("a");
    assert!(matches!(unreached.state.halt(), Some(Halt::ServiceUnusable { .. })));

    let mut reached = started();
    reached.submit("a");
    reached.prepared("b");
    reached.foreign_refusal("b");
    assert!(
        reached.state.halt().is_none(),
        "the service is there: one answer of something else is about one shot"
    );
    assert_eq!(reached.prepared("c"), ["submit c"]);
}

#[test]
fn interrupted_run_awaits_post_in_progress_and_detaches_its_task() {
    let mut run = Script::new(&["a", "b", "c"]);
    run.start();
    for name in ["a", "b", "c"] {
        run.lookup_done(name, ExistingWork::None);
    }
    run.submit("a");
    run.prepared("b");
    assert!(run.on(Event::Interrupted).is_empty());
    assert!(matches!(run.outcome("a"), Outcome::Detached { .. }));
    assert!(!run.state.is_over(), "the result to b's POST holds the id of something paid for");
    assert_eq!(run.prepared("c"), ["discard c"]);
    run.refused("c", RefusalKind::Retryable, None);
    run.submitted("b");
    assert!(matches!(run.outcome("b"), Outcome::Detached { task: kept, .. } if *kept == task("b")));
    assert!(run.state.is_over());
}

#[test]
fn failed_download_is_retried_then_detached() {
    let policy = Policy { max_download_attempts: 2, ..Policy::remote() };
    let mut run = Script::with(RunState::new(plan(&["a"]), "test", policy));
    run.start();
    run.lookup_done("a", ExistingWork::None);
    run.submit("a");
    run.completed("a");
    let failure = || Failure::new(FailureKind::Transient, "the connection broke");
    let failed = |run: &Script| Event::DownloadFailed {
        node: run.ix("a"),
        attempt: attempt("a"),
        failure: failure(),
        partial_bytes: 0,
        next: None,
    };
    let event = failed(&run);
    assert_eq!(run.on(event), ["download a again"]);
    let event = failed(&run);
    assert!(run.on(event).is_empty());
    assert!(matches!(run.outcome("a"), Outcome::Detached { .. }), "it is paid for, so it is not given up");
}

#[test]
fn task_not_found_is_polled_again_and_counts_as_gone_after_the_grace() {
    let mut run = Script::new(&["a"]);
    run.start();
    run.lookup_done("a", ExistingWork::None);
    run.submit("a");
    assert_eq!(run.wait(5_000), ["poll a"]);
    assert_eq!(run.polled("a", PollResult::NotFound { expired: false }), ["wake in 2000 ms"]);
    run.pass(Duration::from_secs(61));
    assert!(run.polled("a", PollResult::NotFound { expired: false }).is_empty());
    assert!(matches!(run.outcome("a"), Outcome::Missing { task: paid, .. } if *paid == task("a")));
    assert_eq!(run.state.budget().spent().tasks, 1, "it is paid for");
}

#[test]
fn removed_video_is_downloaded_again_and_never_rendered_again_unasked() {
    let on_expired = |node: &mut serde_json::Value| {
        node["retry"] = 3.into();
        node["retry_on"] = json!(["expired"]);
    };
    for plan in [plan(&["a"]), plan_with(&["a"], on_expired)] {
        let mut run = Script::with(RunState::new(plan, "test", Policy::remote()));
        run.start();
        let since = Timestamp(0);
        assert_eq!(run.lookup_done("a", in_flight("a", since, true)), ["poll a"]);
        assert!(run.polled("a", PollResult::NotFound { expired: true }).is_empty());
        assert!(matches!(run.outcome("a"), Outcome::Missing { .. }));
        assert_eq!(run.state.node(run.ix("a")).shot().decision(), Some(Decision::Adopt));
    }
}

/// Plans of shots that pay for another task where one has expired.
fn retried_on_expired(shots: &[&str]) -> Script {
    let plan = plan_with(shots, |node| {
        node["retry"] = 3.into();
        node["retry_on"] = json!(["expired"]);
    });
    let mut run = Script::with(RunState::new(plan, "test", Policy::remote()));
    run.start();
    run
}

const EXPIRED: PollResult = PollResult::NotFound { expired: true };
const UNKNOWN: PollResult = PollResult::NotFound { expired: false };

#[test]
fn tasks_that_vanish_together_are_missing_and_never_retried() {
    for (result, adopted) in [(EXPIRED, false), (UNKNOWN, false), (EXPIRED, true), (UNKNOWN, true)] {
        let mut run = retried_on_expired(&["a", "b", "c"]);
        for name in ["a", "b", "c"] {
            let since = run.now;
            run.lookup_done(name, if adopted { in_flight(name, since, false) } else { ExistingWork::None });
        }
        for name in ["a", "b", "c"] {
            if !adopted {
                run.submit(name);
                run.running(name, None);
            }
            let actions = run.polled(name, result.clone());
            assert!(actions.iter().all(|action| !action.starts_with("prepare")), "{actions:?}");
        }
        run.pass(Duration::from_secs(61));
        for name in ["a", "b", "c"] {
            run.polled(name, result.clone());
            let Outcome::Missing { reason, .. } = run.outcome(name) else { panic!("{name} is missing") };
            assert!(reason.contains("none of the tasks"), "{reason}");
        }
        assert!(run.state.is_over(), "nothing is submitted again");
    }
}

#[test]
fn task_is_proven_missing_by_a_response_about_another_one() {
    for (result, has_answered, wait) in [
        (EXPIRED, false, Duration::from_secs(1)),
        (EXPIRED, true, Duration::from_secs(1)),
        (UNKNOWN, true, Duration::from_secs(61)),
    ] {
        let mut run = retried_on_expired(&["a", "b"]);
        run.lookup_done("a", ExistingWork::None);
        run.lookup_done("b", ExistingWork::None);
        run.submit("a");
        run.submit("b");
        if has_answered {
            run.running("a", None);
        }
        let actions = run.polled("a", result.clone());
        assert!(actions.iter().all(|action| action.starts_with("wake")), "not proven yet: {actions:?}");
        run.pass(wait);
        run.running("b", None);
        assert_eq!(run.polled("a", result), ["expire run.a", "prepare a"]);
    }
}

#[test]
fn task_that_has_never_answered_may_have_another_id() {
    let mut run = retried_on_expired(&["a", "b"]);
    run.lookup_done("a", ExistingWork::None);
    run.lookup_done("b", ExistingWork::None);
    run.submit("a");
    run.submit("b");
    run.polled("a", UNKNOWN);
    run.pass(Duration::from_secs(61));
    run.running("b", None);
    assert!(run.polled("a", UNKNOWN).iter().all(|action| !action.starts_with("prepare")));
    assert!(matches!(run.outcome("a"), Outcome::Missing { .. }));
}

#[test]
fn task_alone_is_proven_missing_where_it_has_answered_or_is_gone() {
    let alone = || {
        let mut run = retried_on_expired(&["a"]);
        run.lookup_done("a", ExistingWork::None);
        run.submit("a");
        run
    };
    let mut run = alone();
    run.polled("a", UNKNOWN);
    run.pass(Duration::from_secs(61));
    assert!(run.polled("a", UNKNOWN).is_empty());
    assert!(matches!(run.outcome("a"), Outcome::Missing { .. }));

    let mut run = alone();
    run.running("a", None);
    run.polled("a", UNKNOWN);
    run.pass(Duration::from_secs(61));
    assert_eq!(run.polled("a", UNKNOWN), ["expire run.a", "prepare a"]);

    assert_eq!(alone().polled("a", EXPIRED), ["expire run.a", "prepare a"]);
}

#[test]
fn missing_task_is_asked_about_once_and_adopted_if_it_answers() {
    let missing = |name: &str, since, is_other_account| match in_flight(name, since, false) {
        ExistingWork::InFlight { attempt, task, since, was_downloaded, .. } => ExistingWork::InFlight {
            attempt,
            task,
            since,
            was_downloaded,
            is_missing: true,
            is_expired: false,
            is_other_account,
            damage: None,
        },
        existing => existing,
    };
    let mut run = retried_on_expired(&["a", "b", "c", "d"]);
    let since = run.now;
    run.lookup_done("a", missing("a", since, false));
    run.lookup_done("b", missing("b", since, false));
    run.lookup_done("c", missing("c", since, true));
    run.lookup_done("d", missing("d", since, true));
    // Access to a task of another account is refused: that does not end the run.
    let failure = Failure::new(FailureKind::Unauthorized, "forbidden");
    run.polled("d", PollResult::Unauthorized { failure });
    let Outcome::Detached { reason, .. } = run.outcome("d") else { panic!("d is not missing") };
    assert!(reason.contains("another API key"), "{reason}");
    run.completed("b");
    run.downloaded("b");
    assert!(matches!(run.outcome("b"), Outcome::Done { .. }));
    run.polled("a", UNKNOWN);
    assert!(matches!(run.outcome("a"), Outcome::Missing { .. }), "nothing was to be submitted for it");
    run.polled("c", UNKNOWN);
    let Outcome::Detached { reason, .. } = run.outcome("c") else { panic!("c is not missing") };
    assert!(reason.contains("another API key"), "{reason}");
}

#[test]
fn failed_task_is_retried_only_with_retry_and_never_after_moderation() {
    let retry_twice = |node: &mut serde_json::Value| node["retry"] = 2.into();
    let mut run = Script::with(RunState::new(plan_with(&["a", "b"], retry_twice), "test", Policy::remote()));
    run.start();
    run.lookup_done("a", ExistingWork::None);
    run.lookup_done("b", ExistingWork::None);
    run.submit("a");
    run.submit("b");
    let failed = |kind| PollResult::Failed { failure: Failure::new(kind, "failed") };
    assert_eq!(run.polled("a", failed(FailureKind::Task)), ["prepare a"]);
    assert!(run.polled("b", failed(FailureKind::InputModerated)).is_empty());
    run.submit("a");
    assert!(run.polled("a", failed(FailureKind::Task)).is_empty());
    assert!(matches!(run.outcome("a"), Outcome::Failed { .. }));
}

#[test]
fn task_timeout_detaches_the_task() {
    let mut run = Script::new(&["a"]);
    run.start();
    run.lookup_done("a", ExistingWork::None);
    run.submit("a");
    run.pass(Policy::remote().task_timeout);
    run.polled("a", PollResult::Running { progress: None, status: "queued".to_owned(), poll_after: None });
    assert!(matches!(run.outcome("a"), Outcome::Detached { task: kept, .. } if *kept == task("a")));
}

#[test]
fn late_events_change_nothing() {
    let mut run = Script::new(&["a"]);
    run.start();
    run.lookup_done("a", ExistingWork::None);
    run.submit("a");
    run.completed("a");
    assert!(run.completed("a").is_empty());
    assert!(run.submitted("a").is_empty());
    run.downloaded("a");
    assert!(run.polled("a", PollResult::NotFound { expired: true }).is_empty());
    assert!(matches!(run.outcome("a"), Outcome::Done { .. }));
}

/// Either the event ends a wait, or it is reported: none is dropped in silence.
#[test]
fn every_event_fits_its_phase_or_is_reported() {
    let run_after = |steps: usize| {
        let mut run = Script::new(&["a"]);
        run.start();
        let mut steps_of_a_shot: [&mut dyn FnMut(&mut Script); 4] = [
            &mut |run| drop(run.lookup_done("a", ExistingWork::None)),
            &mut |run| drop(run.prepared("a")),
            &mut |run| drop(run.submitted("a")),
            &mut |run| drop(run.completed("a")),
        ];
        steps_of_a_shot.iter_mut().take(steps).for_each(|step| step(&mut run));
        run
    };
    let (node, attempt) = (NodeIx::new(0), attempt("a"));
    let failure = || Failure::new(FailureKind::Local, "no");
    let events = [
        Event::LookupDone { node, key: "00".repeat(32), existing: ExistingWork::None, render: 1 },
        Event::PrepareFailed { node, failure: failure() },
        prepared_event(node, "a"),
        Event::BudgetExceeded { node, cap: BudgetCap::Tasks },
        Event::ClaimConflict {
            node,
            existing: ExistingWork::ClaimedByOtherRun { run: RunId::from("other") },
            renders: None,
        },
        Event::Submitted { node, attempt: attempt.clone(), task: task("a") },
        Event::Indeterminate {
            node,
            attempt: attempt.clone(),
            reason: String::new(),
            halts: false,
            suggested_task: None,
        },
        Event::Polled {
            node,
            attempt: attempt.clone(),
            result: PollResult::Failed { failure: failure() },
            next: None,
        },
        Event::DownloadFailed {
            node,
            attempt: attempt.clone(),
            failure: failure(),
            partial_bytes: 0,
            next: None,
        },
    ];
    let expected = [
        ("LookingUp", [true, true, false, false, true, false, false, false, false]),
        ("Preparing", [false, true, true, true, true, false, false, false, false]),
        ("Submitting", [false, false, false, false, true, true, true, false, false]),
        ("InFlight", [false, false, false, false, false, false, false, true, false]),
        ("Downloading", [false, false, false, false, false, false, false, false, true]),
    ];
    for (steps, (phase, fits)) in expected.iter().enumerate() {
        for (event, fits) in events.iter().zip(fits) {
            let mut run = run_after(steps);
            let before = run.state.node(node).phase.clone();
            assert!(format!("{before:?}").starts_with(phase), "{before:?}");
            run.on(event.clone());
            assert_eq!(run.state.unexpected().is_none(), *fits, "{phase}: {event:?}");
            assert_eq!(run.state.node(node).phase != before, *fits, "{phase}: {event:?}");
        }
    }
    let mut run = run_after(3);
    let of_other_attempt = Event::Polled {
        node,
        attempt: AttemptId::from("run.other"),
        result: PollResult::Failed { failure: failure() },
        next: None,
    };
    run.on(of_other_attempt);
    assert_eq!(
        run.state.unexpected().map(ToString::to_string).as_deref(),
        Some("event `polled` in phase `in-flight`")
    );
}

#[test]
fn longest_chain_is_submitted_first() {
    let mut run = Script::with(RunState::new(
        plan(&["lone", "head", "tail<head"]),
        "test",
        Policy { max_in_flight: 1, ..Policy::remote() },
    ));
    run.start();
    run.lookup_done("lone", ExistingWork::None);
    assert_eq!(run.lookup_done("head", ExistingWork::None), ["prepare head"]);
}

#[test]
fn shot_claimed_by_another_run_gets_a_later_lookup() {
    let mut run = Script::new(&["a"]);
    run.start();
    run.lookup_done("a", ExistingWork::None);
    let taken = Event::ClaimConflict {
        node: run.ix("a"),
        existing: ExistingWork::ClaimedByOtherRun { run: RunId::from("other") },
        renders: None,
    };
    assert_eq!(run.on(taken), ["lookup a"]);
    let since = run.now;
    assert_eq!(run.state.node(run.ix("a")).phase, Phase::ClaimedByOtherRun { since });
    assert_eq!(run.lookup_done("a", in_flight("a", since, false)), ["poll a"]);
}

#[test]
fn shot_claimed_by_another_run_gets_lookups_until_its_timeout() {
    let mut run = Script::new(&["a"]);
    run.start();
    let claimed = |run: &str| ExistingWork::ClaimedByOtherRun { run: RunId::from(run) };
    let event = |run: &str| Event::LookupDone {
        node: NodeIx::new(0),
        key: "00".repeat(32),
        existing: claimed(run),
        render: 1,
    };
    assert!(run.state.must_persist(&event("other"), run.now) && !run.state.repeats_claim(&event("other")));
    assert_eq!(run.lookup_done("a", claimed("other")), ["lookup a"]);
    assert!(!run.state.must_persist(&event("other"), run.now) && run.state.repeats_claim(&event("other")));
    assert!(run.state.must_persist(&event("third"), run.now) && !run.state.repeats_claim(&event("third")));
    let timeout = Policy::remote().task_timeout;
    run.pass(timeout.saturating_sub(Duration::from_millis(1)));
    assert_eq!(run.lookup_done("a", claimed("other")), ["lookup a"]);
    run.pass(Duration::from_millis(1));
    assert!(run.lookup_done("a", claimed("other")).is_empty());
    let Outcome::Failed { failure, task: None } = run.outcome("a") else { panic!("it is given up") };
    assert_eq!(failure.kind, FailureKind::Transient);
    assert!(failure.message.starts_with("run other has not ended"), "{}", failure.message);
    assert!(run.state.is_over());
}

#[test]
fn changed_record_gets_another_lookup() {
    let mut run = Script::new(&["a"]);
    run.start();
    run.lookup_done("a", ExistingWork::None);
    let existing = ExistingWork::Changed { attempt: Some(attempt("a")) };
    assert_eq!(run.on(Event::ClaimConflict { node: run.ix("a"), existing, renders: None }), ["lookup a"]);
    assert_eq!(run.state.node(run.ix("a")).phase, Phase::LookingUp);
}

#[test]
fn interrupted_run_downloads_finished_videos_within_the_grace() {
    let mut run = Script::new(&["a", "b", "c"]);
    run.start();
    for name in ["a", "b", "c"] {
        run.lookup_done(name, ExistingWork::None);
        run.submit(name);
    }
    run.completed("a");
    run.completed("b");
    assert_eq!(run.on(Event::Interrupted), ["wake in 20000 ms"]);
    assert!(matches!(run.outcome("c"), Outcome::Detached { .. }), "a task in flight is left to the next run");
    assert!(!run.state.is_over(), "two videos are on their way");
    run.downloaded("a");
    assert!(matches!(run.outcome("a"), Outcome::Done { .. }));
    run.pass(Duration::from_secs(20));
    assert!(run.state.must_persist(&Event::TimerFired, run.now), "a replay has to end it as well");
    run.on(Event::TimerFired);
    assert!(matches!(run.outcome("b"), Outcome::Detached { .. }), "it is not waited for any longer");
    assert!(run.state.is_over());
}

#[test]
fn cap_halts_the_run_once_no_reservation_is_open() {
    let caps = BudgetCaps { tasks: Some(2), ..BudgetCaps::default() };
    let state = RunState::new(plan(&["a", "b", "c", "d<a"]), "test", Policy::remote())
        .with_budget(Budget::new(caps, Arc::new(NoPrices)));
    let mut run = Script::with(state);
    run.start();
    run.lookup_done("a", ExistingWork::None);
    assert_eq!(run.lookup_done("b", ExistingWork::None), Vec::<String>::new(), "c is still looked for");
    assert_eq!(run.lookup_done("c", ExistingWork::None), ["prepare a", "prepare b"]);
    run.prepared("a");
    run.prepared("b");
    assert!(run.state.halt().is_none(), "a reservation may be released yet");
    let refused = run.refused("b", RefusalKind::InvalidRequest, None);
    assert_eq!(refused, ["prepare b inline"], "a refusal releases the reservation");
    run.submit("b");
    run.submitted("a");
    run.completed("a");
    assert_eq!(run.downloaded("a"), ["lookup d"]);
    assert_eq!(
        run.lookup_done("d", completed_work("d")),
        Vec::<String>::new(),
        "existing work costs nothing"
    );
    assert!(matches!(run.outcome("d"), Outcome::Done { .. }));
    run.completed("b");
    run.downloaded("b");
    assert_eq!(run.state.halt(), Some(&Halt::BudgetExceeded { cap: BudgetCap::Tasks }));
    assert_eq!(run.outcome("c"), &Outcome::NotStarted);
    assert!(run.state.is_over());
    assert_eq!(run.state.budget().spent().tasks, 2);
}
