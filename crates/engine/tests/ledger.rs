//! The ledger alone: formats, limits across processes, totals, a full disk.

#![expect(clippy::expect_used, reason = "a test stops at the first surprise")]

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use engine::ledger::{LedgerReader, Persist, RunLock};
use engine::{Ledger, LedgerError};
use rusqlite::Connection;
use scheduler::budget::{Amount, BudgetCap, BudgetCaps, Reservation};
use scheduler::{
    Artifact, AttemptId, Event, ExistingWork, Failure, FailureKind, ModificationTime, NextStep, PollResult,
    Refusal, RefusalKind, Resolution, RunId, TaskId, Timestamp,
};
use support::plan;
use support::world::Rng;
use workflow::plan::{NodeIx, Plan};
use workflow::units::{Money, VideoDuration};

fn open(folder: &Path) -> Result<Ledger, LedgerError> {
    Ledger::open_without_sync(&folder.join("ledger.db"), folder)
}

fn new() -> (tempfile::TempDir, Ledger) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let ledger = open(folder.path()).expect("a new ledger");
    (folder, ledger)
}

fn begin(ledger: &Ledger, run: &str, caps: BudgetCaps) -> RunLock {
    ledger
        .begin(RunId::from(run), "test", "https://api.example.com", caps, Timestamp(1))
        .expect("a run begins")
}

fn prepared(node: usize, attempt: &str, cost: u64) -> Event {
    Event::Prepared {
        node: NodeIx::new(node),
        attempt: AttemptId::from(attempt),
        key: format!("key {attempt}"),
        digest: "d".to_owned(),
        by_url: false,
        service_independent_key: None,
        reservation: Reservation {
            cost: Some(Money::from_micros(cost)),
            duration: VideoDuration::from_secs(4),
        },
        render: 1,
        parts: Vec::new(),
    }
}

fn write(ledger: &Ledger, run_lock: &RunLock, plan: &Plan, event: Event) -> Event {
    let mut applied =
        ledger.append(run_lock, plan, Timestamp(2), vec![(event, Persist::Yes)]).expect("it can be written");
    applied.pop().expect("one event for one event")
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fs_err::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_file())
        .map(|path| (path.display().to_string(), fs_err::read(&path).expect("a file that can be read")))
        .collect()
}

/// Whatever is not a ledger of this schema is refused with what to do, and left as it is.
#[test]
fn open_anything_but_a_ledger_is_refused_without_writing() {
    let change = |file: &Path, sql: &str| {
        Connection::open(file).expect("a database").execute_batch(sql).expect("it is changed");
    };
    let others: [&dyn Fn(&Path); 5] = [
        &|file| change(file, "PRAGMA user_version = 15"),
        &|file| change(file, "PRAGMA journal_mode = delete; PRAGMA user_version = 15"),
        &|file| change(file, "PRAGMA application_id = 0; PRAGMA user_version = 0"),
        &|file| {
            fs_err::remove_file(file).expect("removable");
            change(file, "CREATE TABLE recipes (name TEXT)");
        },
        &|file| {
            let text = "a shopping list, and quite a long one at that\n".repeat(40);
            fs_err::write(file, text).expect("a file");
        },
    ];
    for make in others {
        let (folder, ledger) = new();
        drop(ledger);
        make(&folder.path().join("ledger.db"));
        let before = files(folder.path());
        let refused = open(folder.path()).expect_err("it is refused");
        assert!(matches!(refused, LedgerError::OtherFormat { .. }), "{refused:?}");
        assert!(refused.to_string().contains("move it away, and `runner ledger adopt`"), "{refused}");
        let refused =
            LedgerReader::open(&folder.path().join("ledger.db")).map(drop).expect_err("it is not read");
        assert!(matches!(refused, LedgerError::OtherFormat { .. }), "{refused:?}");
        assert!(files(folder.path()) == before, "not one byte, not one file");
    }
}

/// The process that creates the ledger may die at any time.
#[test]
fn open_creates_the_tables_of_an_empty_database() {
    for sql in ["", "PRAGMA journal_mode = wal"] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("ledger.db");
        fs_err::write(&file, "").expect("an empty file");
        Connection::open(&file).expect("a database").execute_batch(sql).expect("it is changed");
        drop(begin(&open(folder.path()).expect("a ledger"), "run", BudgetCaps::default()));
    }
}

#[test]
fn begin_run_id_of_live_run_is_refused() {
    let (_folder, ledger) = new();
    let run_lock = begin(&ledger, "run", BudgetCaps::default());
    assert!(ledger.is_alive(&RunId::from("run")));
    let second = ledger.begin(RunId::from("run"), "test", "s", BudgetCaps::default(), Timestamp(1));
    assert!(second.is_err(), "two runs of one name would take each other's attempts for their own");
    drop(run_lock);
    assert!(!ledger.is_alive(&RunId::from("run")));
}

#[test]
fn append_concurrent_processes_never_exceed_shared_budget() {
    let (folder, _ledger) = new();
    let plan = plan(&["a"]);
    let cap = Money::from_micros(1_000);
    let caps = BudgetCaps { cost: Some(cap), ..BudgetCaps::default() };
    let max_total = std::thread::scope(|scope| {
        let processes: Vec<_> = (0..4)
            .map(|process: u64| {
                let (plan, folder) = (Arc::clone(&plan), folder.path());
                scope.spawn(move || {
                    let ledger = open(folder).expect("the ledger");
                    let run = format!("run{process}");
                    let run_lock = begin(&ledger, &run, caps);
                    let mut rng = Rng::new(process + 1);
                    let mut max_total = Money::ZERO;
                    let mut refused = 0;
                    for number in 0..60 {
                        let attempt = format!("{run}.{number}");
                        let cost = 20 + rng.roll(40);
                        let written = write(&ledger, &run_lock, &plan, prepared(0, &attempt, cost));
                        let (reserved, spent) = ledger.spending().expect("it can be read");
                        max_total = max_total.max(reserved.cost.saturating_add(spent.cost));
                        match written {
                            Event::BudgetExceeded { cap: BudgetCap::Cost, .. } => refused += 1,
                            Event::Prepared { .. } => {
                                let (node, attempt) = (NodeIx::new(0), AttemptId(attempt));
                                let failure = Failure::new(FailureKind::Transient, "no");
                                match rng.roll(4) {
                                    0 => {}
                                    1 => {
                                        let task = TaskId(format!("task {attempt}"));
                                        write(
                                            &ledger,
                                            &run_lock,
                                            &plan,
                                            Event::Submitted { node, attempt, task },
                                        );
                                    }
                                    _ => {
                                        let refusal = Refusal {
                                            kind: RefusalKind::Retryable,
                                            failure,
                                            retry_after: None,
                                        };
                                        write(
                                            &ledger,
                                            &run_lock,
                                            &plan,
                                            Event::refused(node, attempt, refusal),
                                        );
                                    }
                                }
                            }
                            event => panic!("an intent is written or refused, not {event:?}"),
                        }
                    }
                    (max_total, refused)
                })
            })
            .collect();
        let all: Vec<(Money, u32)> =
            processes.into_iter().map(|process| process.join().expect("no panic")).collect();
        assert!(all.iter().any(|(_, refused)| *refused > 0), "the cap is reached");
        all.into_iter().map(|(max_total, _)| max_total).max().expect("four processes")
    });
    assert!(max_total <= cap, "{max_total} were held and spent under a cap of {cap}");
}

#[test]
fn append_budget_counts_reservations_but_not_earlier_spending() {
    let (_folder, ledger) = new();
    let plan = plan(&["a"]);
    let first = begin(&ledger, "first", BudgetCaps::default());
    for (attempt, is_done) in [("first.1", true), ("first.2", false)] {
        write(&ledger, &first, &plan, prepared(0, attempt, 600));
        let (node, attempt) = (NodeIx::new(0), AttemptId::from(attempt));
        let task = TaskId(format!("task {attempt}"));
        write(&ledger, &first, &plan, Event::Submitted { node, attempt: attempt.clone(), task });
        if is_done {
            write(
                &ledger,
                &first,
                &plan,
                Event::Downloaded {
                    node,
                    attempt,
                    artifact: artifact(),
                    cost: Some(Money::from_micros(500)),
                },
            );
        }
    }
    let (reserved, spent) = ledger.spending().expect("it can be read");
    assert_eq!((reserved.cost.as_micros(), spent.cost.as_micros()), (600, 500), "settled at what it came to");
    let second = begin(
        &ledger,
        "second",
        BudgetCaps { cost: Some(Money::from_micros(1_000)), ..BudgetCaps::default() },
    );
    assert!(matches!(
        write(&ledger, &second, &plan, prepared(0, "second.1", 401)),
        Event::BudgetExceeded { .. }
    ));
    assert!(matches!(write(&ledger, &second, &plan, prepared(0, "second.2", 400)), Event::Prepared { .. }));
}

/// A table of prices that was raised between two runs.
#[test]
fn append_downloaded_costs_what_was_reserved_at_most() {
    let (_folder, ledger) = new();
    let plan = plan(&["a"]);
    let node = NodeIx::new(0);
    let first = begin(&ledger, "first", BudgetCaps::default());
    write(&ledger, &first, &plan, prepared(0, "first.1", 600));
    let (attempt, task) = (AttemptId::from("first.1"), TaskId("task".to_owned()));
    write(&ledger, &first, &plan, Event::Submitted { node, attempt: attempt.clone(), task });
    let limit = Money::from_micros(600);
    let second = begin(&ledger, "second", BudgetCaps { cost: Some(limit), ..BudgetCaps::default() });
    let cost = Some(Money::from_micros(3_000));
    let stored =
        write(&ledger, &second, &plan, Event::Downloaded { node, attempt, artifact: artifact(), cost });
    assert!(matches!(stored, Event::Downloaded { cost: Some(cost), .. } if cost == limit), "{stored:?}");
    let (reserved, spent) = ledger.spending().expect("it can be read");
    assert_eq!((reserved.cost, spent.cost), (Money::ZERO, limit));
}

/// Its video was shorter than what was reserved, and is gone by now.
#[test]
fn adopting_an_abandoned_task_reserves_what_was_reserved_and_no_less_is_spent() {
    let (_folder, ledger) = new();
    let plan = plan(&["a"]);
    let node = NodeIx::new(0);
    let run = begin(&ledger, "run", BudgetCaps::default());
    write(&ledger, &run, &plan, prepared(0, "run.1", 10));
    let (attempt, task) = (AttemptId::from("run.1"), TaskId("task".to_owned()));
    let submitted = Event::Submitted { node, attempt: attempt.clone(), task: task.clone() };
    write(&ledger, &run, &plan, submitted);
    let cost = Some(Money::from_micros(4));
    let downloaded = Event::Downloaded { node, attempt: attempt.clone(), artifact: artifact(), cost };
    write(&ledger, &run, &plan, downloaded);
    let costs = || {
        let (reserved, spent) = ledger.spending().expect("it can be read");
        (reserved.cost.as_micros(), spent.cost.as_micros())
    };
    assert_eq!(costs(), (0, 4));
    let next = Some(NextStep::Missing { reason: "the service does not know the task".to_owned() });
    let result = PollResult::NotFound { expired: false };
    write(&ledger, &run, &plan, Event::Polled { node, attempt: attempt.clone(), result, next });
    drop(run);
    ledger.resolve(&attempt, &Resolution::Abandoned, Timestamp(3)).expect("no run is alive");
    assert_eq!(costs(), (0, 4));
    // It would lower what was spent, from which the caps of a run count.
    let live = begin(&ledger, "live", BudgetCaps::default());
    for resolution in [Resolution::NotAccepted, Resolution::Accepted { task: task.clone() }] {
        let refused = ledger.resolve(&attempt, &resolution, Timestamp(4)).expect_err("a run is alive");
        assert!(matches!(refused, LedgerError::NotResolvable(_)), "{refused}");
    }
    assert_eq!(costs(), (0, 4));
    drop(live);
    ledger.resolve(&attempt, &Resolution::Accepted { task }, Timestamp(4)).expect("it can be adopted");
    assert_eq!(costs(), (10, 0));
}

#[test]
fn append_under_cap_on_cost_counts_unpriced_tasks_in_flight_as_unknown() {
    let (_folder, ledger) = new();
    let plan = plan(&["a"]);
    let unpriced = |attempt: &str| match prepared(0, attempt, 0) {
        Event::Prepared {
            node,
            attempt,
            key,
            digest,
            by_url,
            service_independent_key,
            render,
            parts,
            ..
        } => {
            let reservation = Reservation::unpriced(VideoDuration::from_secs(4));
            Event::Prepared {
                node,
                attempt,
                key,
                digest,
                by_url,
                service_independent_key,
                reservation,
                render,
                parts,
            }
        }
        event => event,
    };
    let first = begin(&ledger, "first", BudgetCaps::default());
    write(&ledger, &first, &plan, unpriced("first.1"));
    let unpriced_tasks = ledger.unpriced_in_flight().expect("it can be read");
    assert_eq!((unpriced_tasks.count, unpriced_tasks.first.as_deref()), (1, Some("a")));

    let cost = Some(Money::from_micros(1_000));
    let strict = begin(&ledger, "strict", BudgetCaps { cost, ..BudgetCaps::default() });
    assert_eq!(
        write(&ledger, &strict, &plan, prepared(0, "strict.1", 1)),
        Event::BudgetExceeded { node: NodeIx::new(0), cap: BudgetCap::Cost }
    );
    let lenient =
        begin(&ledger, "lenient", BudgetCaps { cost, allow_unpriced: true, ..BudgetCaps::default() });
    assert!(matches!(write(&ledger, &lenient, &plan, prepared(0, "lenient.1", 1)), Event::Prepared { .. }));
}

/// What was applied before it was stored: see `RunState::may_be_deferred`.
#[test]
fn applied_events_are_stored_first_and_with_their_own_time() {
    let (_folder, ledger) = new();
    let plan = plan(&["a"]);
    let run = begin(&ledger, "run", BudgetCaps::default());
    let lookup = Event::LookupDone {
        node: NodeIx::new(0),
        key: "key run.1".to_owned(),
        existing: scheduler::ExistingWork::None,
        render: 1,
    };
    let intent = prepared(0, "run.1", 1);
    let batch = vec![(lookup.clone(), Persist::Applied(Timestamp(5))), (intent.clone(), Persist::Yes)];
    let applied = ledger.append(&run, &plan, Timestamp(7), batch).expect("it can be written");
    assert_eq!(applied, std::slice::from_ref(&intent), "what was applied is not applied again");
    let events = ledger.events(&RunId::from("run")).expect("it can be read");
    assert_eq!(events, [(Timestamp(5), lookup.clone()), (Timestamp(7), intent)]);
    let rest = vec![(lookup, Persist::Applied(Timestamp(8)))];
    assert_eq!(ledger.append(&run, &plan, Timestamp(9), rest).expect("it can be written"), []);
    assert_eq!(ledger.events(&RunId::from("run")).expect("it can be read").len(), 3);
}

/// One id answered twice: the rest of the batch is recorded. Another service may have a task of the same id.
#[test]
fn append_task_of_another_attempt_is_indeterminate() {
    let (_folder, ledger) = new();
    let plan = plan(&["a"]);
    let run = begin(&ledger, "run", BudgetCaps::default());
    for attempt in ["run.1", "run.2", "run.3"] {
        write(&ledger, &run, &plan, prepared(0, attempt, 1));
    }
    let submitted = |attempt: &str, task: &str| Event::Submitted {
        node: NodeIx::new(0),
        attempt: AttemptId::from(attempt),
        task: TaskId(task.to_owned()),
    };
    let batch = [submitted("run.1", "1"), submitted("run.2", "1"), submitted("run.3", "3")]
        .map(|event| (event, Persist::Yes));
    let applied = ledger.append(&run, &plan, Timestamp(2), batch.into()).expect("it can be written");
    assert_eq!(applied[0], submitted("run.1", "1"));
    assert!(
        matches!(&applied[1], Event::Indeterminate { reason, .. } if reason.contains("attempt run.1")),
        "{applied:?}"
    );
    assert_eq!(applied[2], submitted("run.3", "3"));

    let other_run_lock = ledger
        .begin(RunId::from("other"), "test", "https://other.example.com", BudgetCaps::default(), Timestamp(1))
        .expect("a run begins");
    write(&ledger, &other_run_lock, &plan, prepared(0, "other.1", 1));
    assert_eq!(write(&ledger, &other_run_lock, &plan, submitted("other.1", "1")), submitted("other.1", "1"));
}

/// The id that a response named is kept beside the attempt, unless it is that of another attempt.
#[test]
fn append_indeterminate_keeps_the_suggested_task() {
    let (_folder, ledger) = new();
    let plan = plan(&["a"]);
    let run = begin(&ledger, "run", BudgetCaps::default());
    for attempt in ["run.1", "run.2", "run.3"] {
        write(&ledger, &run, &plan, prepared(0, attempt, 1));
    }
    let submitted = Event::Submitted {
        node: NodeIx::new(0),
        attempt: AttemptId::from("run.1"),
        task: TaskId::from("task 1"),
    };
    write(&ledger, &run, &plan, submitted);
    let indeterminate = |attempt: &str, task: &str| Event::Indeterminate {
        node: NodeIx::new(0),
        attempt: AttemptId::from(attempt),
        reason: "500".to_owned(),
        halts: false,
        suggested_task: Some(TaskId::from(task)),
    };
    write(&ledger, &run, &plan, indeterminate("run.2", "task = 2"));
    let applied = write(&ledger, &run, &plan, indeterminate("run.3", "task 1"));
    assert!(
        matches!(&applied, Event::Indeterminate { reason, suggested_task: None, .. } if reason.contains("attempt run.1")),
        "{applied:?}"
    );
    let rows = ledger.resolvable_attempts().expect("it can be read");
    let suggested: Vec<Option<&str>> =
        rows.iter().map(|row| row.suggested_task.as_ref().map(TaskId::as_str)).collect();
    assert_eq!(suggested, [Some("task = 2"), None]);
    let task = TaskId::from("task = 2");
    ledger
        .resolve(&AttemptId::from("run.2"), &Resolution::Accepted { task: task.clone() }, Timestamp(3))
        .expect("it is adopted");
    let tasks: Vec<_> =
        ledger.open_tasks().expect("it can be read").into_iter().filter_map(|row| row.task).collect();
    assert!(tasks.contains(&task), "{tasks:?}");
}

fn artifact() -> Artifact {
    Artifact {
        path: "a.mp4".into(),
        sha256: "00".to_owned(),
        first_sha256: None,
        bytes: 1,
        duration: Duration::from_secs(4),
        width: 2,
        height: 2,
        last_frame_url: None,
        expires_at: None,
        modified_at: Some(ModificationTime(1)),
    }
}

#[test]
fn totals_equal_sums_over_attempts_after_random_events() {
    let (folder, ledger) = new();
    let plan = plan(&["a"]);
    let run_lock = begin(&ledger, "run", BudgetCaps::default());
    let mut rng = Rng::new(7);
    for number in 0..300_u64 {
        let id = format!("run.{number}");
        write(&ledger, &run_lock, &plan, prepared(0, &id, 1 + rng.roll(100)));
        let (node, attempt, task) = (NodeIx::new(0), AttemptId(id), TaskId(format!("task {number}")));
        let failure = || Failure::new(FailureKind::Task, "no");
        let submitted = Event::Submitted { node, attempt: attempt.clone(), task: task.clone() };
        match rng.roll(9) {
            0 => {}
            1 => {
                let refusal = Refusal { kind: RefusalKind::Retryable, failure: failure(), retry_after: None };
                write(&ledger, &run_lock, &plan, Event::refused(node, attempt, refusal));
            }
            6 => {
                // The service says which tasks the request created: none, or one that another attempt may own.
                let task_number = rng.roll(number + 1);
                let candidates = if task_number.is_multiple_of(2) {
                    Vec::new()
                } else {
                    vec![TaskId(format!("task {task_number}"))]
                };
                let since = Timestamp(2);
                let event = Event::Reconciled {
                    node,
                    attempt,
                    since,
                    reason: None,
                    candidates,
                    task: None,
                    next: None,
                };
                write(&ledger, &run_lock, &plan, event);
            }
            2 => {
                write(
                    &ledger,
                    &run_lock,
                    &plan,
                    Event::Indeterminate {
                        node,
                        attempt: attempt.clone(),
                        reason: String::new(),
                        halts: false,
                        suggested_task: Some(task.clone()),
                    },
                );
                for _ in 0..rng.roll(4) {
                    let resolution = match rng.roll(3) {
                        0 => Resolution::Abandoned,
                        1 => Resolution::NotAccepted,
                        _ => Resolution::Accepted { task: task.clone() },
                    };
                    // Refused where the attempt needs no resolution any more.
                    drop(ledger.resolve(&attempt, &resolution, Timestamp(3)));
                }
            }
            3 => {
                write(&ledger, &run_lock, &plan, submitted);
                let result = PollResult::Failed { failure: failure() };
                write(&ledger, &run_lock, &plan, Event::Polled { node, attempt, result, next: None });
            }
            4 => {
                write(&ledger, &run_lock, &plan, submitted);
                write(&ledger, &run_lock, &plan, Event::TaskExpired { node, attempt });
            }
            5 => {
                write(&ledger, &run_lock, &plan, submitted);
            }
            _ => {
                write(&ledger, &run_lock, &plan, submitted);
                let done = Event::Downloaded {
                    node,
                    attempt: attempt.clone(),
                    artifact: artifact(),
                    cost: Some(Money::from_micros(1)),
                };
                write(&ledger, &run_lock, &plan, done.clone());
                // Fetched once more, because its file was gone.
                write(&ledger, &run_lock, &plan, done);
                if rng.roll(2) == 0 {
                    write(&ledger, &run_lock, &plan, Event::TaskExpired { node, attempt });
                }
            }
        }
    }
    let (reserved, spent) = ledger.spending().expect("it can be read");
    let connection = Connection::open(folder.path().join("ledger.db")).expect("a database");
    let numbers = |amount: Amount| (amount.cost.as_micros() as i64, amount.tasks as i64);
    let sum = |column: &str, states: &str| -> (i64, i64) {
        let sql =
            format!("SELECT COALESCE(SUM({column}), 0), COUNT(*) FROM attempts WHERE state IN ({states})");
        connection.query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?))).expect("a sum")
    };
    assert_eq!(numbers(reserved), sum("reserved_cost", "'intended', 'indeterminate', 'submitted'"));
    assert_eq!(numbers(spent), sum("actual_cost", "'completed', 'failed', 'expired', 'abandoned'"));
    for amount in [reserved, spent] {
        assert_eq!(amount.duration, VideoDuration::from_secs(4 * amount.tasks));
    }
    assert!(reserved.tasks > 0 && spent.tasks > 0);
}

#[test]
fn resolve_attempt_of_live_run_is_refused() {
    let (_folder, ledger) = new();
    let plan = plan(&["a"]);
    let run_lock = begin(&ledger, "run", BudgetCaps::default());
    write(&ledger, &run_lock, &plan, prepared(0, "run.1", 1));
    let attempt = AttemptId::from("run.1");
    let refused = ledger.resolve(&attempt, &Resolution::NotAccepted, Timestamp(3));
    assert!(matches!(refused, Err(LedgerError::NotResolvable(reason)) if reason.contains("alive")));
    drop(run_lock);
    ledger.resolve(&attempt, &Resolution::NotAccepted, Timestamp(3)).expect("its run is gone");
    let repeated = ledger.resolve(&attempt, &Resolution::NotAccepted, Timestamp(3));
    assert!(matches!(repeated, Err(LedgerError::NotResolvable(_))), "it is accounted for");
}

#[test]
fn append_second_intent_for_key_becomes_claim_conflict() {
    let (_folder, ledger) = new();
    let plan = plan(&["a"]);
    let (first, second) =
        (begin(&ledger, "one", BudgetCaps::default()), begin(&ledger, "two", BudgetCaps::default()));
    let intent = |attempt: &str| {
        let mut event = prepared(0, attempt, 1);
        if let Event::Prepared { key, .. } = &mut event {
            "the same".clone_into(key);
        }
        event
    };
    assert!(matches!(write(&ledger, &first, &plan, intent("one.1")), Event::Prepared { .. }));
    let applied = write(&ledger, &second, &plan, intent("two.1"));
    assert!(
        matches!(applied, Event::ClaimConflict { existing: ExistingWork::ClaimedByOtherRun { run }, .. } if run == RunId::from("one"))
    );
    assert_eq!(ledger.spending().expect("it can be read").0.tasks, 1, "what is not written holds nothing");
}

#[test]
fn append_disk_full_rejects_whole_batch() {
    let (_folder, ledger) = new();
    let plan = plan(&["a"]);
    let run_lock = begin(&ledger, "run", BudgetCaps::default());
    ledger.limit_pages(40).expect("a bound");
    let mut written = 0;
    let refused = loop {
        let batch =
            (0..5).map(|number| (prepared(0, &format!("run.{written}.{number}"), 1), Persist::Yes)).collect();
        match ledger.append(&run_lock, &plan, Timestamp(2), batch) {
            Ok(_) => written += 1,
            Err(error) => break error,
        }
        assert!(written < 1_000, "40 pages are soon full");
    };
    assert!(refused.to_string().contains("full"), "{refused}");
    assert_eq!(
        ledger.resolvable_attempts().expect("it can be read").len(),
        written * 5,
        "whole batches, nothing half"
    );
}

/// Several runs may begin at once in a folder without a ledger.
#[test]
fn open_by_several_at_once_creates_one_ledger() {
    for _ in 0..40 {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let barrier = std::sync::Barrier::new(6);
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    barrier.wait();
                    drop(open(folder.path()).expect("a ledger"));
                });
            }
        });
    }
}
