//! What one run records about an attempt of which another run, `fetch` or a person has decided meanwhile.

#![expect(clippy::expect_used, reason = "a test stops at the first surprise")]

mod support;

use std::path::Path;
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
        let applied = self.append(run, prepared(attempt)).expect("its intent");
        assert!(matches!(applied, Event::Prepared { .. }), "{applied:?}");
        let (attempt, task) = (AttemptId::from(attempt), TaskId::from(task));
        self.append(run, Event::Submitted { node: node(), attempt, task }).expect("its task");
    }

    fn state(&self, attempt: &str) -> AttemptState {
        let row = self.ledger.attempt(&AttemptId::from(attempt)).expect("a readable ledger");
        row.expect("an attempt").state
    }
}

fn prepared(attempt: &str) -> Event {
    Event::Prepared {
        node: node(),
        attempt: AttemptId::from(attempt),
        key: "ab".repeat(32),
        digest: "d".to_owned(),
        by_url: false,
        service_independent_key: None,
        reservation: Reservation::default(),
        render: 1,
        parts: Vec::new(),
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
        let row = row.expect("an attempt");
        assert!(runs.ledger.is_extra_render(&row).expect("a readable ledger"), "{}", row.key);
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

/// What happens to a ledger's file, and how that is reported.
type Loss<'a> = (&'a dyn Fn(&Path), &'a str);

/// The file is gone, is another one or has another content: nothing is submitted on its account, and what is under way may still be recorded.
#[test]
fn ledger_that_is_lost_under_a_live_run_is_noticed_before_the_next_intent() {
    let sql = |file: &Path, sql: &str| {
        let database = Connection::open(file).expect("the database");
        database.execute_batch(&format!("PRAGMA foreign_keys = off; {sql}")).expect("an earlier state");
    };
    let losses: [Loss<'_>; 5] = [
        (&|file| fs_err::remove_file(file).expect("removable"), "was removed or moved"),
        (
            &|file| {
                fs_err::copy(file, file.with_extension("new")).expect("a copy");
                fs_err::rename(file.with_extension("new"), file).expect("movable");
            },
            "was replaced by another file",
        ),
        (&|file| fs_err::write(file, "").expect("writable"), "was emptied"),
        // `sqlite3 ledger.db ".restore backup.db"`
        (&|file| sql(file, "DELETE FROM attempts; DELETE FROM runs"), "has lost records of a live run"),
        (&|file| sql(file, "DELETE FROM attempts"), "has lost records of a live run"),
    ];
    for (lose, what) in losses {
        let runs = TwoRuns::with_task();
        lose(&runs.folder.path().join("ledger.db"));
        let refused = runs.append(&runs.first, prepared("first.2")).expect_err("it is lost");
        assert!(matches!(refused, LedgerError::Replaced { .. }), "{refused}");
        assert!(refused.to_string().contains(what), "{refused}");
    }
}
