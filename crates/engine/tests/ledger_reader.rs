//! Read-only access: live and dead runs are reported, and reading leaves no trace.

#![expect(clippy::expect_used, reason = "a test stops at the first surprise")]

mod support;

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use engine::Ledger;
use engine::ledger::{LedgerReader, Persist, RunLock};
use scheduler::budget::{BudgetCaps, Reservation};
use scheduler::{
    Artifact, AttemptId, Event, ExistingWork, PollResult, RunId, RunProjection, Seq, StatusKind, TaskId,
    Timestamp,
};
use support::plan;
use workflow::plan::{NodeIx, Plan};
use workflow::units::{Money, VideoDuration};

struct Project {
    folder: tempfile::TempDir,
    plan: Arc<Plan>,
}

impl Project {
    fn new(shots: &[&str]) -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder"), plan: plan(shots) }
    }

    fn file(&self) -> std::path::PathBuf {
        self.folder.path().join(".runner/ledger.db")
    }

    fn ledger(&self) -> Ledger {
        Ledger::open_without_sync(&self.file(), self.folder.path()).expect("a ledger")
    }

    fn append(&self, ledger: &Ledger, run_lock: &RunLock, time: i64, events: Vec<Event>) {
        let events = events.into_iter().map(|event| (event, Persist::Yes)).collect();
        ledger.append(run_lock, &self.plan, Timestamp(time), events).expect("appended");
    }

    fn reading(&self) -> LedgerReader {
        LedgerReader::open(&self.file()).expect("readable").expect("there")
    }

    /// Every file below the folder with its content.
    fn all(&self) -> BTreeMap<std::path::PathBuf, Vec<u8>> {
        fn walk(folder: &Path, all: &mut BTreeMap<std::path::PathBuf, Vec<u8>>) {
            for entry in fs_err::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    walk(&path, all);
                } else {
                    all.insert(path.clone(), fs_err::read(&path).expect("readable"));
                }
            }
        }
        let mut all = BTreeMap::new();
        walk(self.folder.path(), &mut all);
        all
    }
}

fn begin(ledger: &Ledger, run: &str, time: i64) -> RunLock {
    ledger
        .begin(RunId::from(run), "test", "https://a.test", BudgetCaps::default(), Timestamp(time))
        .expect("begun")
}

fn id(run: &str, number: usize) -> AttemptId {
    AttemptId(format!("{run}.{number}"))
}

fn prepared(run: &str, index: usize) -> Event {
    Event::Prepared {
        node: NodeIx::new(index),
        attempt: id(run, index),
        key: format!("{index}"),
        digest: String::new(),
        by_url: false,
        service_independent_key: None,
        reservation: Reservation {
            cost: Some(Money::from_micros(250_000)),
            duration: VideoDuration::from_secs(4),
        },
        render: 1,
        parts: Vec::new(),
    }
}

fn submitted(run: &str, index: usize) -> Event {
    Event::Submitted {
        node: NodeIx::new(index),
        attempt: id(run, index),
        task: TaskId(format!("task_{run}_{index}")),
    }
}

fn downloaded(run: &str, index: usize) -> Event {
    let artifact = Artifact {
        path: "a.mp4".into(),
        sha256: String::new(),
        first_sha256: None,
        bytes: 1,
        duration: Duration::from_secs(4),
        width: 1,
        height: 1,
        last_frame_url: None,
        expires_at: None,
        modified_at: None,
    };
    Event::Downloaded {
        node: NodeIx::new(index),
        attempt: id(run, index),
        artifact,
        cost: Some(Money::from_micros(200_000)),
    }
}

#[test]
fn reader_reports_live_run_and_run_whose_process_died() {
    let project = Project::new(&["a", "b", "c", "d"]);
    let ledger = project.ledger();
    let run_lock = begin(&ledger, "r1", 1_000);
    let lookup_done = |index: usize| Event::LookupDone {
        node: NodeIx::new(index),
        key: format!("{index}"),
        existing: ExistingWork::None,
        render: 1,
    };
    project.append(&ledger, &run_lock, 2_000, (0..4).map(lookup_done).collect());
    project.append(&ledger, &run_lock, 3_000, (0..3).map(|index| prepared("r1", index)).collect());
    project.append(&ledger, &run_lock, 4_000, vec![submitted("r1", 0), submitted("r1", 1)]);
    let indeterminate = Event::Indeterminate {
        node: NodeIx::new(2),
        attempt: id("r1", 2),
        reason: "cut".to_owned(),
        halts: false,
        suggested_task: Some(TaskId::from("task_cut")),
    };
    let url = Some("https://cdn.example/v".to_owned());
    let completed = PollResult::Completed { url, last_frame_url: None, expires_at: None, took: None };
    let ended = Event::Polled { node: NodeIx::new(0), attempt: id("r1", 0), result: completed, next: None };
    project.append(&ledger, &run_lock, 9_000, vec![indeterminate, ended, downloaded("r1", 0)]);

    let mut projection = RunProjection::default();
    let before = project.all();
    {
        let reader = project.reading();
        let runs = reader.runs(0).expect("runs");
        assert_eq!((runs.len(), runs[0].is_alive, runs[0].ended_at), (1, true, None));
        for event in reader.events(&runs[0].run, projection.last_seq()).expect("events") {
            projection.on_event(event);
        }
        let reported: Vec<_> =
            projection.shots().map(|(name, shot)| (name, shot.kind(), shot.since().0)).collect();
        assert_eq!(
            reported,
            [
                ("a", StatusKind::Done, 9_000),
                ("b", StatusKind::InFlight, 4_000),
                ("c", StatusKind::Indeterminate, 9_000),
                ("d", StatusKind::Waiting, 2_000)
            ]
        );
        let open = reader.open_attempts().expect("attempts");
        let tasks: Vec<_> = open.iter().map(|open| open.task.as_ref().map(ToString::to_string)).collect();
        assert_eq!(tasks, [Some("task_r1_1".to_owned()), None]);
        assert_eq!(open[1].trouble.as_deref(), Some("cut"));
        assert_eq!(open[1].suggested_task, Some(TaskId::from("task_cut")));
        let (reserved, spent) = reader.spending().expect("sums");
        assert_eq!(
            (reserved.tasks, reserved.cost.as_micros(), spent.tasks, spent.cost.as_micros()),
            (2, 500_000, 1, 200_000)
        );
        let all = runs.iter().map(|run| run.run.clone()).collect();
        assert_eq!(reader.spending_of(&all).expect("sums"), (reserved, spent));
        let none = reader.spending_of(&HashSet::new()).expect("sums");
        assert_eq!((none.0.tasks, none.1.tasks), (0, 0));

        // Events written meanwhile are for the next read, which reads only new ones.
        let running =
            PollResult::Running { progress: Some(50), status: "in_progress".to_owned(), poll_after: None };
        let polled =
            Event::Polled { node: NodeIx::new(1), attempt: id("r1", 1), result: running, next: None };
        project.append(&ledger, &run_lock, 10_000, vec![polled]);
        assert_eq!(reader.events(&runs[0].run, projection.last_seq()).expect("events").len(), 0);
    }
    let new_events = project.reading().events(&RunId::from("r1"), projection.last_seq()).expect("events");
    assert_eq!(new_events.len(), 1);
    for event in new_events {
        projection.on_event(event);
    }
    assert!(projection.shots().any(|(name, shot)| name == "b" && shot.kind() == StatusKind::Detached));

    drop(run_lock);
    let runs = project.reading().runs(1).expect("runs");
    assert_eq!((runs[0].is_alive, runs[0].ended_at), (false, None));
    let names = |all: &BTreeMap<std::path::PathBuf, Vec<u8>>| all.keys().cloned().collect::<Vec<_>>();
    let lock = project.folder.path().join(".runner/runs/r1.lock");
    assert_eq!(
        names(&project.all()),
        names(&before).into_iter().filter(|name| *name != lock).collect::<Vec<_>>()
    );
}

#[test]
fn runs_limit_applies_to_ended_runs_only() {
    let project = Project::new(&["a"]);
    let ledger = project.ledger();
    for (run, time) in [("r1", 1_000), ("r2", 2_000), ("r3", 3_000)] {
        let run_lock = begin(&ledger, run, time);
        ledger.end(&run_lock, Timestamp(time + 500)).expect("ended");
    }
    let _alive = begin(&ledger, "r0", 500);
    let reported: Vec<String> =
        project.reading().runs(2).expect("runs").into_iter().map(|run| run.run.to_string()).collect();
    assert_eq!(reported, ["r3", "r2", "r0"]);
}

#[test]
fn reader_open_creates_no_files() {
    let project = Project::new(&["a"]);
    assert!(LedgerReader::open(&project.file()).expect("nothing is no error").is_none());
    assert!(project.all().is_empty());
    {
        let ledger = project.ledger();
        let run_lock = begin(&ledger, "r1", 1_000);
        project.append(&ledger, &run_lock, 2_000, vec![Event::Started]);
        ledger.end(&run_lock, Timestamp(3_000)).expect("ended");
    }
    // The last connection has closed: everything is in one file, and looking makes no other.
    let before = project.all();
    assert_eq!(project.reading().events(&RunId::from("r1"), Seq(0)).expect("events").len(), 1);
    assert_eq!(project.all(), before);
}

/// The locks that this process has on a file, by proc(5).
#[cfg(target_os = "linux")]
fn posix_locks(file: &Path) -> usize {
    use std::os::unix::fs::MetadataExt as _;
    let inode = fs_err::metadata(file).expect("a file").ino();
    let (process, inode) = (format!(" {} ", std::process::id()), format!(":{inode} "));
    let locks = fs_err::read_to_string("/proc/locks").unwrap_or_default();
    locks
        .lines()
        .filter(|lock| lock.contains("POSIX") && lock.contains(&process) && lock.contains(&inode))
        .count()
}

#[cfg(target_os = "linux")]
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn skip(why: &str) {
    eprintln!("skipped: {why}");
}

/// POSIX: a process that closes a descriptor of a file loses its locks on it, whichever descriptor they were taken through.
#[cfg(target_os = "linux")]
#[test]
fn ledger_keeps_its_locks_while_others_are_opened_and_closed() {
    let project = Project::new(&["a"]);
    let control = project.folder.path().join("control.db");
    let connection = rusqlite::Connection::open(&control).expect("a database");
    connection.execute_batch("CREATE TABLE t (x); BEGIN IMMEDIATE").expect("a lock");
    if posix_locks(&control) == 0 {
        skip("/proc/locks does not list the locks of this process");
        return;
    }
    let ledger = project.ledger();
    let run_lock = begin(&ledger, "run1", 1);
    assert!(posix_locks(&project.file()) > 0, "it keeps others from removing its WAL");
    drop(project.reading());
    assert!(posix_locks(&project.file()) > 0, "after it was read beside");
    drop(project.ledger());
    assert!(posix_locks(&project.file()) > 0, "after it was opened a second time");
    drop(run_lock);
}
