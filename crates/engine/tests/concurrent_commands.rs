//! What one run records about an attempt of which another run, `fetch` or a person has decided meanwhile.

#![expect(clippy::expect_used, reason = "a test stops at the first surprise")]

mod support;

use std::sync::Arc;

use engine::ledger::{Persist, RunLock};
use engine::{Ledger, LedgerError};
use rusqlite::Connection;
use scheduler::budget::{BudgetCaps, Reservation};
use scheduler::{
    Artifact, AttemptId, AttemptState, Event, Failure, FailureKind, NextStep, PollResult, Resolution, RunId,
    TaskId, Timestamp,
};
use support::plan;
use workflow::plan::{NodeIx, Plan};

fn node() -> NodeIx {
    NodeIx::new(0)
}

/// A ledger, and two runs at the same time.
struct TwoRuns {
    folder: tempfile::TempDir,
    ledger: Ledger,
    plan: Arc<Plan>,
    first: RunLock,
    second: RunLock,
}

impl TwoRuns {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let ledger = Ledger::open_without_sync(&folder.path().join("ledger.db"), folder.path());
        let ledger = ledger.expect("a new ledger");
        let begin = |run: &str| {
            let service = "https://api.example.com";
            let lock = ledger.begin(RunId::from(run), "test", service, BudgetCaps::default(), Timestamp(1));
            let lock = lock.expect("a run begins");
            drop(ledger.append(&lock, &plan(&["a"]), Timestamp(1), vec![(Event::Started, Persist::Yes)]));
            lock
        };
        let (first, second) = (begin("first"), begin("second"));
        Self { folder, plan: plan(&["a"]), ledger, first, second }
    }

    fn append(&self, run: &RunLock, event: Event) -> Result<Event, LedgerError> {
        let applied = self.ledger.append(run, &self.plan, Timestamp(2), vec![(event, Persist::Yes)])?;
        Ok(applied.into_iter().next().expect("one event for one event"))
    }

    /// Both runs know task `t1` of the first one.
    fn with_task() -> Self {
        let runs = Self::new();
        runs.submit(&runs.first, "first.1", "t1");
        runs
    }

    fn submit(&self, run: &RunLock, attempt: &str, task: &str) {
        let prepared = Event::Prepared {
            node: node(),
            attempt: AttemptId::from(attempt),
            key: "ab".repeat(32),
            digest: "d".to_owned(),
            by_url: false,
            service_independent_key: None,
            reservation: Reservation::default(),
            forced_rerun: None,
            recorded_rerun: None,
            parts: Vec::new(),
        };
        let applied = self.append(run, prepared).expect("its intent");
        assert!(matches!(applied, Event::Prepared { .. }), "{applied:?}");
        let (attempt, task) = (AttemptId::from(attempt), TaskId::from(task));
        self.append(run, Event::Submitted { node: node(), attempt, task }).expect("its task");
    }

    fn state(&self, attempt: &str) -> AttemptState {
        let row = self.ledger.attempt(&AttemptId::from(attempt)).expect("a readable ledger");
        row.expect("an attempt").state
    }
}

fn expired() -> Event {
    Event::TaskExpired { node: node(), attempt: AttemptId::from("first.1") }
}

fn failed() -> Event {
    let failure = Failure::new(FailureKind::Task, "no");
    let (result, next) = (PollResult::Failed { failure }, Some(NextStep::Fail));
    Event::Polled { node: node(), attempt: AttemptId::from("first.1"), result, next }
}

fn missing() -> Event {
    let next = Some(NextStep::Missing { reason: "the service does not know the task".to_owned() });
    let result = PollResult::NotFound { expired: false };
    Event::Polled { node: node(), attempt: AttemptId::from("first.1"), result, next }
}

fn downloaded() -> Event {
    let artifact = Artifact {
        path: "a.mp4".into(),
        sha256: "cd".repeat(32),
        first_sha256: None,
        bytes: 1,
        duration: std::time::Duration::from_secs(4),
        width: 1,
        height: 1,
        last_frame_url: None,
        expires_at: None,
        modified_at: None,
    };
    Event::Downloaded { node: node(), attempt: AttemptId::from("first.1"), artifact, cost: None }
}

/// One run gives the task up and submits another one; the other run hears of the first one only then.
#[test]
fn replaced_attempt_stays_replaced_whatever_another_run_records() {
    for ends in [expired, failed] {
        let runs = TwoRuns::with_task();
        runs.append(&runs.second, ends()).expect("the end of the task");
        runs.submit(&runs.second, "second.1", "t2");
        let before = runs.state("first.1");
        runs.append(&runs.first, missing()).expect("it can be recorded");
        assert_eq!((runs.state("first.1"), runs.state("second.1")), (before, AttemptState::Submitted));
        // Its video is one more, beside that of the shot.
        runs.append(&runs.first, downloaded()).expect("it can be recorded");
        assert_eq!(runs.state("first.1"), AttemptState::Completed);
        let row = runs.ledger.attempt(&AttemptId::from("first.1")).expect("a readable ledger");
        assert!(row.expect("an attempt").replaced_key.is_some());
    }
}

#[test]
fn abandoned_attempt_stays_abandoned_whatever_a_run_records() {
    for event in [expired, failed, missing] {
        let TwoRuns { folder, ledger, plan, first, second } = TwoRuns::with_task();
        drop((first, second));
        let attempt = AttemptId::from("first.1");
        ledger.resolve(&attempt, &Resolution::Abandoned, Timestamp(2)).expect("no run is alive");
        let begin = |run: &str| {
            ledger
                .begin(RunId::from(run), "test", "s", BudgetCaps::default(), Timestamp(3))
                .expect("it begins")
        };
        // `fetch` has asked the service before, and hears from it now; so might a run.
        let (first, second) = (begin("third"), begin("fourth"));
        let runs = TwoRuns { folder, ledger, plan, first, second };
        runs.append(&runs.second, event()).expect("it can be recorded");
        assert_eq!(runs.state("first.1"), AttemptState::Abandoned);
    }
}

/// Clocks are set meanwhile: what came first is told by the order of events.
#[test]
fn stored_video_counts_although_clocks_were_set() {
    for event in [expired, failed] {
        let runs = TwoRuns::with_task();
        let database = Connection::open(runs.folder.path().join("ledger.db")).expect("the database");
        database.execute("UPDATE runs SET started_at = 3600000", []).expect("another time");
        runs.append(&runs.second, downloaded()).expect("its video");
        runs.append(&runs.first, event()).expect("it can be recorded");
        assert_eq!(runs.state("first.1"), AttemptState::Completed);
    }
}

/// `sqlite3 ledger.db ".restore backup.db"`: the file is the same, and its content of an earlier time.
#[test]
fn ledger_restored_under_a_live_run_counts_as_replaced() {
    for lost in ["DELETE FROM attempts; DELETE FROM runs", "DELETE FROM attempts"] {
        let runs = TwoRuns::with_task();
        let database = Connection::open(runs.folder.path().join("ledger.db")).expect("the database");
        database.execute_batch(&format!("PRAGMA foreign_keys = off; {lost}")).expect("an earlier state");
        let submitted =
            Event::Submitted { node: node(), attempt: AttemptId::from("first.1"), task: TaskId::from("t1") };
        for event in [submitted, downloaded()] {
            let refused = runs.append(&runs.first, event).expect_err("it is not on record");
            assert!(matches!(refused, LedgerError::Replaced { .. }), "{refused}");
        }
        // Nor is anything else of that run recorded: its next attempt would be, and the lost one would be forgotten.
        let refused = runs.append(&runs.first, Event::Interrupted).expect_err("its attempt is not on record");
        assert!(matches!(refused, LedgerError::Replaced { .. }), "{refused}");
        // The lock file of the first names its attempt; the second has begun none.
        let unknown = runs.ledger.unknown_runs().expect("a readable ledger");
        let unknown: Vec<&str> = unknown.iter().map(|run| run.run.as_str()).collect();
        assert_eq!(unknown, if lost.contains("runs") { vec!["first", "second"] } else { vec!["first"] });
        if lost.contains("runs") {
            let refused = runs.ledger.end(&runs.first, Timestamp(3)).expect_err("it is not on record");
            assert!(matches!(refused, LedgerError::Replaced { .. }), "{refused}");
        }
    }
}

/// What a command outside of a run records into a file that is gone is not recorded.
#[cfg(unix)]
#[test]
fn commands_outside_of_a_run_report_a_ledger_that_is_gone() {
    let runs = TwoRuns::with_task();
    let account = || runs.ledger.link_account("s", "a", "b", &TaskId::from("t1"), Timestamp(3));
    let resolution = Resolution::Accepted { task: TaskId::from("t1") };
    let resolve = || runs.ledger.resolve(&AttemptId::from("first.1"), &resolution, Timestamp(3));
    account().expect("it is there");
    fs_err::remove_file(runs.folder.path().join("ledger.db")).expect("a writable folder");
    for refused in [account(), resolve()] {
        let refused = refused.expect_err("it is gone");
        assert!(matches!(refused, LedgerError::Replaced { .. }), "{refused}");
    }
}
