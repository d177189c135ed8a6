//! Tests of the logs of runs.

use std::time::Duration;

use scheduler::budget::Reservation;
use scheduler::{
    AttemptId, AttemptState, ExistingWork, Failure, FailureKind, Halt, NextStep, Policy, PollResult, Seq,
    StatusKind, TaskId,
};

use super::*;

const WORKFLOW: &str = "
version: 1
name: log
defaults: {model: modelb-video-480p, seconds: 4}
shots:
  - id: a
    prompt: a lamp
";

fn log() -> RunLog {
    let plan = workflow::load(
        WORKFLOW.as_bytes(),
        "log.yaml",
        &workflow::InMemory::default(),
        &workflow::Options::default(),
        contract::Contract::embedded(),
    );
    let head = RunHead {
        run: RunId::from("r"),
        spec: String::new(),
        identity: "http://127.0.0.1:1".to_owned(),
        policy: Policy::remote(),
        length: 0,
        started: Timestamp(0),
        last: Timestamp(0),
        is_ended: false,
    };
    RunLog::new(head, Arc::new(plan.expect("a plan")), None)
}

fn downloading() -> Vec<Event> {
    let (node, attempt, task) = (NodeIx::new(0), AttemptId::from("r.1"), TaskId::from("t"));
    let key = "ab".repeat(32);
    vec![
        Event::Started,
        Event::LookupDone { node, key: key.clone(), existing: ExistingWork::None, render: 1 },
        Event::Prepared {
            node,
            attempt: attempt.clone(),
            key,
            digest: String::new(),
            by_url: false,
            service_independent_key: None,
            reservation: Reservation { cost: None, duration: Duration::from_secs(4).into() },
            render: 1,
            parts: Vec::new(),
        },
        Event::Submitted { node, attempt: attempt.clone(), task },
        Event::Polled {
            node,
            attempt,
            result: PollResult::Completed { url: None, last_frame_url: None, expires_at: None, took: None },
            next: None,
        },
    ]
}

fn logged(time: i64, event: Event) -> LogEntry {
    LogEntry { time: Timestamp(time), event, is_answer: false, is_check: false }
}

#[test]
fn timers_detach_nothing_before_the_grace_period_ends() {
    let mut log = log();
    let kind = |log: &RunLog| log.projection().shot("a").map(scheduler::Shot::kind);
    let add = |log: &mut RunLog, seconds: i64, event: Event| {
        log.add(logged(seconds * 1_000, event));
    };
    for event in downloading() {
        add(&mut log, 1, event);
    }
    add(&mut log, 2, Event::TimerFired);
    assert_eq!(kind(&log), Some(StatusKind::Downloading));
    add(&mut log, 3, Event::Interrupted);
    add(&mut log, 4, Event::TimerFired);
    assert_eq!(kind(&log), Some(StatusKind::Downloading));
    assert_eq!(log.projection().halt(), Some(&Halt::Interrupted));
    let grace = i64::try_from(Policy::remote().shutdown_grace.as_secs()).expect("some seconds");
    add(&mut log, 3 + grace, Event::TimerFired);
    assert_eq!(kind(&log), Some(StatusKind::Detached));
    assert_eq!(open(&log), [("r.1", AttemptState::Submitted)]);
}

/// The open attempts after these events, of a run that goes on.
fn open_after(events: Vec<Event>) -> Vec<(String, AttemptState)> {
    let mut log = log();
    for event in events {
        log.add(logged(1, event));
    }
    open(&log).into_iter().map(|(id, state)| (id.to_owned(), state)).collect()
}

fn open(log: &RunLog) -> Vec<(&str, AttemptState)> {
    log.open_attempts().map(|open| (open.attempt.id.as_str(), open.attempt.state)).collect()
}

/// A submission without a response.
fn indeterminate() -> Vec<Event> {
    let mut events = downloading();
    events.truncate(3);
    let attempt = AttemptId::from("r.1");
    let reason = "no response".to_owned();
    let (node, suggested_task) = (NodeIx::new(0), None);
    events.push(Event::Indeterminate { node, attempt, reason, halts: false, suggested_task });
    events
}

fn reconciled(task: Option<&str>) -> Event {
    Event::Reconciled {
        node: NodeIx::new(0),
        attempt: AttemptId::from("r.1"),
        since: Timestamp(1),
        reason: Some("no response".to_owned()),
        candidates: Vec::new(),
        task: task.map(TaskId::from),
        next: Some(NextStep::Fail),
    }
}

fn polled(result: PollResult, next: NextStep) -> Event {
    Event::Polled { node: NodeIx::new(0), attempt: AttemptId::from("r.1"), result, next: Some(next) }
}

#[test]
fn indeterminate_attempt_is_open_until_it_is_reconciled() {
    let open = |state| vec![("r.1".to_owned(), state)];
    assert_eq!(open_after(indeterminate()), open(AttemptState::Indeterminate));
    let open_after_event = |event: Event| open_after([indeterminate(), vec![event]].concat());
    assert_eq!(open_after_event(reconciled(None)), [], "it was not accepted");
    // The run has given the shot up, so that a later one polls the task.
    assert_eq!(open_after_event(reconciled(Some("t"))), open(AttemptState::Submitted));
}

#[test]
fn attempt_is_not_open_while_its_run_takes_care_of_it_or_after_it_failed() {
    let mut submitting = downloading();
    submitting.truncate(3);
    let failed = |next| polled(PollResult::Failed { failure: Failure::new(FailureKind::Task, "no") }, next);
    let with = |events: Vec<Event>| [submitting.clone(), events].concat();
    assert_eq!(open_after(with(vec![])), []);
    assert_eq!(open_after(with(vec![reconciled(Some("t"))])), []);
    assert_eq!(open_after(with(vec![reconciled(None)])), []);
    assert_eq!(open_after(with(vec![reconciled(Some("t")), failed(NextStep::Fail)])), []);
    let mut ended = log();
    let events = with(vec![reconciled(Some("t")), failed(NextStep::Fail)]);
    for event in events {
        ended.add(logged(1, event));
    }
    (ended.head.is_ended, ended.head.length) = (true, ended.length);
    assert!(ended.is_over() && open(&ended).is_empty(), "its end is in the log");
}

#[test]
fn task_that_a_live_run_has_left_is_open() {
    let mut in_flight = downloading();
    in_flight.truncate(4);
    let not_found = || PollResult::NotFound { expired: false };
    let after = |next| open_after([in_flight.clone(), vec![polled(not_found(), next)]].concat());
    let reason = || "it is not finished".to_owned();
    let open = |state| vec![("r.1".to_owned(), state)];
    assert_eq!(after(NextStep::Continue), []);
    assert_eq!(after(NextStep::Detach { reason: reason() }), open(AttemptState::Submitted));
    assert_eq!(after(NextStep::Missing { reason: reason() }), open(AttemptState::Missing));
}

#[test]
fn events_are_read_from_a_number_on() {
    let mut log = log();
    for event in downloading() {
        log.add(logged(1, event));
    }
    let numbers: Vec<i64> = log.events_after(Seq(3)).map(|recorded| recorded.seq.0).collect();
    assert_eq!(numbers, [4, 5]);
}
