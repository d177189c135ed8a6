//! Runs with a selection, and runs with fail-fast.

use scheduler::RunScope;
use scheduler::last_run::{FailedShots, RunRecord};
use scheduler::{RecordedEvent, Seq};

use super::*;

fn scoped(run: &mut Script, only: Option<&[&str]>, fail_fast: bool) {
    let only = only.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
    assert!(run.on(Event::RunConfigured { only, fail_fast, several_services: false }).is_empty());
}

#[test]
fn not_selected_shot_is_reused_but_never_submitted() {
    let mut run = Script::new(&["a", "b<a", "c<b", "x", "y"]);
    scoped(&mut run, Some(&["b"]), false);
    assert_eq!(run.start(), ["lookup a", "lookup x", "lookup y"]);
    assert_eq!(run.lookup_done("a", completed_work("a")), ["lookup b"]);
    assert!(run.lookup_done("x", ExistingWork::None).is_empty());
    let since = run.now;
    assert!(run.lookup_done("y", in_flight("y", since, false)).is_empty(), "a task in flight stays so");
    assert_eq!(run.lookup_done("b", ExistingWork::None), ["prepare b"]);
    run.submit("b");
    run.completed("b");
    assert_eq!(run.downloaded("b"), ["lookup c"]);
    assert!(run.lookup_done("c", ExistingWork::None).is_empty());
    assert!(run.state.is_over());
    assert_eq!(run.outcome("x"), &Outcome::NotSelected { task: None });
    assert_eq!(run.outcome("y"), &Outcome::NotSelected { task: Some(task("y")) });
    assert_eq!(run.outcome("c"), &Outcome::NotSelected { task: None });
    assert_eq!(run.state.node(run.ix("c")).shot().decision(), Some(Decision::NotSelected));
    assert_eq!(run.state.node(run.ix("a")).shot().decision(), Some(Decision::Reuse));
    assert_eq!(
        run.state.clone().into_summary(RunId::from("run")).films[0].outcome,
        FilmOutcome::Pending { missing: 3 }
    );
}

#[test]
fn not_selected_in_flight_task_holds_a_slot_for_the_hold_time() {
    let policy =
        Policy { max_in_flight: 1, indeterminate_slot_hold: Duration::from_secs(90), ..Policy::remote() };
    let mut run = Script::with(RunState::new(plan(&["a", "b"]), "test", policy));
    scoped(&mut run, Some(&["b"]), false);
    run.start();
    let since = run.now;
    run.lookup_done("a", in_flight("a", since, false));
    assert_eq!(run.lookup_done("b", ExistingWork::None), ["wake in 90000 ms"], "the service would have two");
    assert_eq!(run.wait(90_000), ["prepare b"]);
}

#[test]
fn film_with_existing_not_selected_clips_is_joined() {
    let mut run = Script::new(&["a", "b<a", "c"]);
    scoped(&mut run, Some(&["b"]), false);
    run.start();
    run.lookup_done("a", completed_work("a"));
    run.lookup_done("c", completed_work("c"));
    run.lookup_done("b", ExistingWork::None);
    run.submit("b");
    run.completed("b");
    assert_eq!(run.downloaded("b"), ["join"]);
}

#[test]
fn not_selected_shot_ends_as_not_selected() {
    let mut run = Script::new(&["a", "b<a"]);
    scoped(&mut run, Some(&["a"]), false);
    run.start();
    run.lookup_done("a", ExistingWork::None);
    run.submit("a");
    run.polled("a", PollResult::Failed { failure: Failure::new(FailureKind::Task, "no") });
    assert_eq!(run.outcome("b"), &Outcome::NotSelected { task: None });

    let mut halted = Script::new(&["a", "b<a", "c"]);
    scoped(&mut halted, Some(&["a"]), false);
    halted.start();
    halted.on(Event::Interrupted);
    assert_eq!(halted.outcome("a"), &Outcome::NotStarted);
    assert_eq!(halted.outcome("b"), &Outcome::NotSelected { task: None });
    assert_eq!(halted.outcome("c"), &Outcome::NotSelected { task: None });
}

#[test]
fn selected_shot_is_blocked_by_missing_not_selected_shot() {
    let mut run = Script::new(&["a", "b<a"]);
    scoped(&mut run, Some(&["b"]), false);
    run.start();
    assert!(run.lookup_done("a", ExistingWork::None).is_empty());
    assert_eq!(run.outcome("b"), &Outcome::Blocked { by: run.ix("a") });
}

#[test]
fn fail_fast_halts_submissions_and_finishes_tasks_in_flight() {
    let policy = Policy { max_in_flight: 3, ..Policy::remote() };
    let mut run = Script::with(RunState::new(plan(&["a", "b", "c", "d", "e<a", "f<b"]), "test", policy));
    scoped(&mut run, None, true);
    run.start();
    for name in ["a", "b", "c", "d"] {
        run.lookup_done(name, ExistingWork::None);
    }
    run.submit("a");
    run.submit("b");
    assert!(
        run.polled("a", PollResult::Failed { failure: Failure::new(FailureKind::Task, "no") }).is_empty()
    );
    assert_eq!(run.state.halt(), Some(&Halt::FailFast { shot: "a".to_owned() }));
    assert_eq!(run.prepared("c"), ["discard c"], "its intent is on disk, and it is not sent");
    run.refused("c", RefusalKind::Retryable, None);
    assert_eq!((run.outcome("c"), run.outcome("d")), (&Outcome::NotStarted, &Outcome::NotStarted));
    assert_eq!(run.completed("b"), ["download b"], "what is paid for is fetched");
    assert_eq!(run.downloaded("b"), ["lookup f"], "existing work costs nothing");
    assert!(run.lookup_done("f", ExistingWork::None).is_empty());
    assert_eq!(run.outcome("f"), &Outcome::NotStarted);
    assert_eq!(run.outcome("e"), &Outcome::Blocked { by: run.ix("a") });
    assert!(run.state.is_over());
}

#[test]
fn failure_without_fail_fast_does_not_halt_the_run() {
    let mut run = Script::new(&["a", "b", "c<a"]);
    run.start();
    run.lookup_done("a", ExistingWork::None);
    run.lookup_done("b", ExistingWork::None);
    run.submit("a");
    run.polled("a", PollResult::Failed { failure: Failure::new(FailureKind::Task, "no") });
    assert_eq!(run.state.halt(), None);
    assert_eq!(run.prepared("b"), ["submit b"]);
}

/// A recorded run: the last event of each shot, with those that have to precede it.
fn record(scope: Option<(Option<&[&str]>, bool)>, last: Vec<(&str, Event)>) -> RunRecord {
    let mut record = RunRecord {
        run: RunId::from("last"),
        started_at: Timestamp(0),
        projection: scheduler::RunProjection::default(),
    };
    let mut record_event = |shot: Option<&str>, event: Event| {
        let shot = shot.map(ToOwned::to_owned);
        record.projection.on_event(RecordedEvent { seq: Seq(1), time: Timestamp(0), shot, event });
    };
    if let Some((only, fail_fast)) = scope {
        let only = only.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        record_event(None, Event::RunConfigured { only, fail_fast, several_services: false });
    }
    for (name, event) in last {
        let node = event.node().expect("an event of a shot");
        if !matches!(event, Event::LookupDone { .. }) {
            record_event(
                Some(name),
                Event::LookupDone { node, key: String::new(), existing: ExistingWork::None, render: 1 },
            );
            record_event(Some(name), prepared_event(node, name));
        }
        if matches!(event, Event::Polled { .. } | Event::TaskExpired { .. }) {
            record_event(Some(name), Event::Submitted { node, attempt: attempt(name), task: task(name) });
        }
        record_event(Some(name), event);
    }
    record
}

#[test]
fn failed_lists_failed_shots_and_those_not_started_because_of_them() {
    let plan = plan(&["a", "b<a", "c<b", "x", "y<x", "z"]);
    let ix = |name: &str| plan.find(name).expect("a node");
    let describe = |failed: &FailedShots| {
        let names: Vec<&str> = failed.nodes.iter().map(|node| plan.node(*node).name.as_str()).collect();
        format!("{} +{}", names.join(" "), failed.others)
    };
    let lookup_done = |name: &str, existing: ExistingWork| Event::LookupDone {
        node: ix(name),
        key: String::new(),
        existing,
        render: 1,
    };
    let done = |name: &'static str| (name, lookup_done(name, completed_work(name)));
    let polled = |name: &'static str, result: PollResult, next: NextStep| {
        (name, Event::Polled { node: ix(name), attempt: attempt(name), result, next: Some(next) })
    };
    let failed = |name: &'static str| {
        polled(name, PollResult::Failed { failure: Failure::new(FailureKind::Task, "no") }, NextStep::Fail)
    };
    let indeterminate = |name: &'static str| {
        (
            name,
            Event::Indeterminate {
                node: ix(name),
                attempt: attempt(name),
                reason: String::new(),
                halts: false,
                suggested_task: None,
            },
        )
    };
    let refused = |name: &'static str, kind| {
        let failure = Failure::new(FailureKind::Invalid, "no");
        let refusal = Refusal { kind, failure, retry_after: None };
        let halts = kind == RefusalKind::ServiceUnusable;
        (name, Event::Refused { node: ix(name), attempt: attempt(name), refusal, halts, next: None })
    };
    let gone = PollResult::NotFound { expired: false };
    let expired = |name: &'static str| (name, Event::TaskExpired { node: ix(name), attempt: attempt(name) });

    // One failure, and its dependents; the rest is done.
    let one_failed = record(None, vec![failed("a"), done("x"), done("y"), done("z")]);
    assert_eq!(describe(&one_failed.failed(&plan)), "a b c +0");
    // What is indeterminate or in flight has not failed, nor have its dependents.
    let open = record(None, vec![indeterminate("a"), refused("x", RefusalKind::InvalidRequest), done("z")]);
    assert_eq!(describe(&open.failed(&plan)), "x y +3");
    // A task that is gone has failed; one that is unknown for now has not.
    let missing = record(None, vec![expired("a"), polled("x", gone, NextStep::Continue), done("z")]);
    assert_eq!(describe(&missing.failed(&plan)), "a b c +2");
    // Shots that a killed run did not reach have not failed.
    let cut = record(None, vec![done("a"), ("b", lookup_done("b", ExistingWork::None)), failed("z")]);
    assert_eq!(describe(&cut.failed(&plan)), "z +4");
    // With fail-fast, the shots that were not started count as failed.
    let fast =
        record(Some((None, true)), vec![done("a"), failed("x"), ("z", lookup_done("z", ExistingWork::None))]);
    assert_eq!(describe(&fast.failed(&plan)), "b c x y z +0");
    let unusable = record(None, vec![refused("a", RefusalKind::ServiceUnusable), done("x"), done("y")]);
    assert_eq!(describe(&unusable.failed(&plan)), "a b c z +0");
    // What waits for a task whose outcome is open cannot be submitted.
    let beside_open =
        vec![indeterminate("a"), done("x"), done("y"), refused("z", RefusalKind::ServiceUnusable)];
    assert_eq!(describe(&record(None, beside_open).failed(&plan)), "z +3");
    // An unreachable service ends a run that it has never answered, and that alone.
    let unreachable = |halts| {
        let failure = Failure::new(FailureKind::Transient, "connection refused");
        let refusal = Refusal { kind: RefusalKind::Unreachable, failure, retry_after: None };
        let next = Some(NextStep::Fail);
        let event = Event::Refused { node: ix("a"), attempt: attempt("a"), refusal, halts, next };
        record(None, vec![("a", event), done("x"), done("y")])
    };
    assert_eq!(describe(&unreachable(true).failed(&plan)), "a b c z +0");
    assert_eq!(describe(&unreachable(false).failed(&plan)), "a b c +1");
    // Unselected shots have not failed.
    let part = record(Some((Some(&["a", "x"]), true)), vec![failed("a"), done("x")]);
    assert_eq!(describe(&part.failed(&plan)), "a +0");
    let nothing = record(None, ["a", "b", "c", "x", "y", "z"].map(done).into());
    assert_eq!(describe(&nothing.failed(&plan)), " +0");
}

#[test]
fn default_scope_is_not_recorded() {
    let plan = plan(&["a", "b"]);
    assert_eq!(RunScope::default().to_event(&plan), None);
    let only = workflow::plan::Selection::only(plan.find("b"));
    assert_eq!(
        RunScope { selection: Some(only), fail_fast: true }.to_event(&plan),
        Some(Event::RunConfigured {
            only: Some(vec!["b".to_owned()]),
            fail_fast: true,
            several_services: false
        })
    );
}
