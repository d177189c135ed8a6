//! SIGKILL before and after every commit of the ledger, then another run: the service sees each shot once.
//!
//! One project goes through all commit points in turn, so that each starts from the state that the one before left. Between two runs,
//! indeterminate submissions are resolved as a person would: the service has the task, or it does not.

use std::sync::{Arc, Mutex};

use engine::failpoint::CommitPoint;
use scheduler::EventKind;

use crate::crash_random::unclaimed_task;
use crate::support::project_state::{accepted, indeterminate, shots};
use crate::support::proxy::{KEY, RecordingProxy, ResponseFault};
use crate::support::{Project, inline_snapshot};

const SHOTS: usize = 9;

fn workflow() -> String {
    let shots: Vec<String> = (1..=SHOTS)
        .map(|shot| format!("  - {{ id: s{shot}, prompt: the sea at {shot} o'clock }}\n"))
        .collect();
    let shots = shots.concat();
    let clips: Vec<String> = (1..=SHOTS).map(|shot| format!("s{shot}")).collect();
    format!(
        "version: 1\nname: clock\ndefaults: {{ model: modelb-video-480p, seconds: 1, size: 480x480 }}\nshots:\n{shots}film:\n  \
         output: clock.mp4\n  shots: [{}]\n",
        clips.join(", ")
    )
}

/// How a boundary is brought about.
enum Scenario {
    /// On the usual way of a run, with this fault of the next POST.
    InSequence(ResponseFault),
    /// Resolved by a person, for submissions that became indeterminate.
    ByResolve,
    /// In a setting of its own.
    Own(fn()),
}

/// Closed, like the list of what the ledger writes.
fn scenario(point: CommitPoint) -> Scenario {
    match point {
        CommitPoint::Begin
        | CommitPoint::Event(
            EventKind::RunConfigured
            | EventKind::Started
            | EventKind::LookupDone
            | EventKind::Prepared
            | EventKind::Submitted
            | EventKind::Polled
            | EventKind::Downloaded
            | EventKind::FilmJoined,
        )
        | CommitPoint::Sidecar
        | CommitPoint::End => Scenario::InSequence(ResponseFault::None),
        CommitPoint::Event(EventKind::Refused) => Scenario::InSequence(ResponseFault::TooManyRequests),
        CommitPoint::Event(EventKind::Indeterminate) => {
            Scenario::InSequence(ResponseFault::ConnectionDropped)
        }
        CommitPoint::Event(EventKind::Resolved) => Scenario::ByResolve,
        CommitPoint::EarlierCut => Scenario::Own(earlier_cut_persisted),
        CommitPoint::Cut => Scenario::Own(cut_replaced),
        CommitPoint::Event(EventKind::ClaimConflict) => Scenario::Own(claim_conflict),
        CommitPoint::Event(EventKind::BudgetExceeded) => Scenario::Own(budget_exceeded),
        CommitPoint::Event(EventKind::PrepareFailed) => Scenario::Own(prepare_failed),
        CommitPoint::Event(EventKind::DownloadFailed) => Scenario::Own(download_failed),
        CommitPoint::Event(EventKind::JoinFailed) => Scenario::Own(join_failed),
        CommitPoint::Event(EventKind::TimerFired) => Scenario::Own(timer_fired),
        CommitPoint::Event(EventKind::Interrupted) => Scenario::Own(interrupted),
        CommitPoint::Event(EventKind::TaskExpired) => Scenario::Own(task_expired),
        CommitPoint::Event(EventKind::Reconciled) => Scenario::Own(reconciled),
        CommitPoint::Event(EventKind::RendersAsked) => Scenario::Own(renders_asked),
        CommitPoint::Event(EventKind::RendersWithdrawn) => Scenario::Own(renders_withdrawn),
    }
}

/// In an order in which each is reached.
const IN_SEQUENCE: &[CommitPoint] = &[
    CommitPoint::Begin,
    CommitPoint::Event(EventKind::RunConfigured),
    CommitPoint::Event(EventKind::Started),
    CommitPoint::Event(EventKind::LookupDone),
    CommitPoint::Event(EventKind::Prepared),
    CommitPoint::Event(EventKind::Refused),
    CommitPoint::Event(EventKind::Indeterminate),
    CommitPoint::Event(EventKind::Submitted),
    CommitPoint::Event(EventKind::Polled),
    CommitPoint::Sidecar,
    CommitPoint::Event(EventKind::Downloaded),
    CommitPoint::Event(EventKind::FilmJoined),
    CommitPoint::End,
];

/// Resolves every indeterminate submission and returns their number.
fn resolve_indeterminate(project: &Project, proxy: &RecordingProxy) -> usize {
    let open = indeterminate(project, "clock.yaml");
    for attempt in &open {
        let task = unclaimed_task(proxy, project);
        let resolution = task.as_deref().map_or(vec!["--resubmit"], |task| vec!["--adopt", task]);
        for side in ["before", "after"] {
            // The first time it dies before it is on record, the second time just after.
            let arguments = [vec!["resolve", "clock.yaml", attempt], resolution.clone()].concat();
            let output = project.runner_killed_at(&format!("{side} resolved"), &arguments);
            assert_eq!(output.code, None, "it is killed {side} resolved: {}", output.transcript());
        }
    }
    open.len()
}

#[test]
fn kill_at_every_commit_point_submits_each_shot_once() {
    // The fault of the next POST.
    let next = Arc::new(Mutex::new(ResponseFault::None));
    let shared = Arc::clone(&next);
    let proxy = RecordingProxy::start(move |_| {
        std::mem::replace(&mut shared.lock().expect("no test panics here"), ResponseFault::None)
    });
    let project = Project::new("clock.yaml", &workflow()).against(&proxy.url, KEY);
    let mut resolved = 0;
    for point in IN_SEQUENCE {
        let Scenario::InSequence(fault) = scenario(*point) else {
            panic!("{point:?} has a setting of its own")
        };
        for side in ["before", "after"] {
            *next.lock().expect("no handler panics") = fault;
            let boundary = format!("{side} {}", point.as_str());
            let output =
                project.runner_killed_at(&boundary, &["run", "clock.yaml", "--jobs", "1", "--fail-fast"]);
            assert_eq!(output.code, None, "it is killed {boundary}: {}", output.transcript());
            resolved += resolve_indeterminate(&project, &proxy);
        }
    }
    let last = project.runner(&["run", "clock.yaml"]).expect(0);
    // All was rendered before.
    inline_snapshot!(last.notes(), @"
    film: out/clock/clock.mp4 (9.0 s, 640x640, silent, up to date)
    all 9 shots are up to date, nothing was submitted
    ");
    assert_eq!(
        (proxy.accepted().len(), shots(&project, "clock").len()),
        (SHOTS, SHOTS),
        "{}",
        last.transcript()
    );
    assert!(resolved >= 4, "some kills fell between a POST and its answer: {resolved}");
}

#[test]
fn kill_at_rare_commit_points_submits_nothing_extra() {
    let mut in_sequence = 0;
    // They wait most of the time, so they run at once.
    std::thread::scope(|scope| {
        for point in CommitPoint::all() {
            match scenario(point) {
                Scenario::Own(run) => {
                    scope.spawn(run);
                }
                Scenario::InSequence(_) => {
                    in_sequence += 1;
                    assert!(IN_SEQUENCE.contains(&point), "{point:?} is not tried");
                }
                Scenario::ByResolve => {}
            }
        }
    });
    assert_eq!(in_sequence, IN_SEQUENCE.len());
}

/// A project of `shots` shots, against a service with the given fault.
fn setup(shots: usize, faults: &str) -> (RecordingProxy, Project) {
    let proxy = RecordingProxy::with_faults(&format!("{{\"faults\": [{faults}]}}"));
    let project = Project::new("few.yaml", &workflow_of(shots, "few", "the sea")).against(&proxy.url, KEY);
    (proxy, project)
}

fn workflow_of(shots: usize, name: &str, prompt: &str) -> String {
    let shots: Vec<String> = (1..=shots)
        .map(|shot| format!("  - {{ id: s{shot}, prompt: {prompt} at {shot} o'clock }}\n"))
        .collect();
    let shots = shots.concat();
    format!(
        "version: 1\nname: {name}\ndefaults: {{ model: modelb-video-480p, seconds: 1, size: 480x480 }}\nshots:\n{shots}film: \
         {{ output: {name}.mp4 }}\n"
    )
}

const RUN: &[&str] = &["run", "few.yaml", "--jobs", "1"];

/// Killed before or after a commit, and then run to its end: the number of POSTs in all.
#[track_caller]
fn killed_on_both_sides(proxy: &RecordingProxy, project: &Project, point: CommitPoint, posts: usize) {
    for side in ["before", "after"] {
        let output = project.runner_killed_at(&format!("{side} {}", point.as_str()), RUN);
        assert_eq!(output.code, None, "it is killed {side} {}: {}", point.as_str(), output.transcript());
    }
    let last = project.runner(RUN).expect(0);
    assert_eq!(proxy.posts().len(), posts, "{}", last.transcript());
}

/// While this run makes its request ready, another one makes the shot.
fn claim_conflict() {
    let (proxy, project) = setup(1, "");
    let output = project.runner_held_at("before prepared", "after claim-conflict", RUN, || {
        project.runner(RUN).expect(0);
    });
    assert_eq!(output.code, None, "{}", output.transcript());
    let last = project.runner(RUN).expect(0);
    assert_eq!(proxy.posts().len(), 1, "{}", last.transcript());
}

/// While this run makes its request ready, another one spends what it might have spent.
fn budget_exceeded() {
    let (proxy, project) = setup(1, "");
    fs_err::write(project.file("other.yaml"), workflow_of(1, "other", "a dune")).expect("a writable folder");
    let arguments = [RUN, &["--max-tasks", "1"]].concat();
    let output = project.runner_held_at("before prepared", "after budget-exceeded", &arguments, || {
        project.runner(&["run", "other.yaml"]).expect(0);
    });
    assert_eq!(output.code, None, "{}", output.transcript());
    assert_eq!(proxy.posts().len(), 1, "the cap is kept");
    project.runner(&arguments).expect(0);
    assert_eq!(proxy.posts().len(), 2);
}

/// An image is deleted between plan and request.
fn prepare_failed() {
    let (proxy, project) = setup(1, "");
    let text = workflow_of(1, "few", "the sea").replace(" }\nfilm", ", first_frame: still.png }\nfilm");
    fs_err::write(project.file("few.yaml"), text).expect("a writable folder");
    let still = project.file("still.png");
    let image = media::encode_png(&media::RgbImage::new(64, 64));
    for side in ["before", "after"] {
        fs_err::write(&still, &image).expect("a writable folder");
        let output = project.runner_held_at("before started", &format!("{side} prepare-failed"), RUN, || {
            fs_err::remove_file(&still).expect("the image can be removed");
        });
        assert_eq!(output.code, None, "{}", output.transcript());
        assert_eq!(proxy.posts().len(), 0);
    }
    fs_err::write(&still, &image).expect("a writable folder");
    let last = project.runner(RUN).expect(0);
    assert_eq!(proxy.posts().len(), 1, "{}", last.transcript());
}

fn download_failed() {
    let fault = r#"{"fault": {"kind": "error_response", "on": "file", "status": 503}, "times": 2}"#;
    let (proxy, project) = setup(1, fault);
    killed_on_both_sides(&proxy, &project, CommitPoint::Event(EventKind::DownloadFailed), 1);
}

/// A folder occupies the path of the film.
fn join_failed() {
    let (proxy, project) = setup(1, "");
    let film = project.file("out/few/few.mp4");
    fs_err::create_dir_all(film.join("in the way")).expect("a writable folder");
    for side in ["before", "after"] {
        let output = project.runner_killed_at(&format!("{side} join-failed"), RUN);
        assert_eq!(output.code, None, "{}", output.transcript());
    }
    fs_err::remove_dir_all(&film).expect("the folder can be removed");
    project.runner(RUN).expect(0);
    assert!(film.is_file());
    assert_eq!(proxy.posts().len(), 1);
}

fn earlier_cut_persisted() {
    film_is_edited_and_joined_again(CommitPoint::EarlierCut);
}

fn cut_replaced() {
    film_is_edited_and_joined_again(CommitPoint::Cut);
}

/// Whenever the program dies while it replaces a cut, every cut is a whole film, and the next run ends with each of them under a name of its own.
fn film_is_edited_and_joined_again(point: CommitPoint) {
    let (proxy, project) = setup(2, "");
    let text = workflow_of(2, "few", "the sea");
    project.runner(RUN).expect(0);
    let frames = |name: &str| {
        let film = media::probe(&project.file(&format!("out/few/{name}"))).expect("a whole film");
        film.video.expect("frames").frames
    };
    let total = frames("few.mp4");
    for (edit, side) in [(1, "before"), (2, "after")] {
        let film = format!("few.mp4, shots: [{{ shot: s1, in: {edit}f }}, s2] }}");
        let edited = text.replace("few.mp4 }", &film);
        assert_ne!(edited, text);
        fs_err::write(project.file("few.yaml"), edited).expect("a writable folder");
        let boundary = format!("{side} {}", point.as_str());
        let output = project.runner_killed_at(&boundary, RUN);
        assert_eq!(output.code, None, "it is killed {boundary}: {}", output.transcript());
        let current = frames("few.mp4");
        assert!(
            current == total - edit || current == total + 1 - edit,
            "{boundary}: the film has {current} of {total} frames"
        );
        project.runner(RUN).expect(0);
        let earlier: Vec<u64> = (1..=edit).map(|number| frames(&format!("few.{number}.mp4"))).collect();
        let expected: Vec<u64> = (0..edit).map(|edit| total - edit).collect();
        assert_eq!((frames("few.mp4"), earlier), (total - edit, expected), "{boundary}");
        assert!(!project.file(&format!("out/few/few.{}.mp4", edit + 1)).exists(), "{boundary}");
    }
    assert_eq!(proxy.posts().len(), 2, "an edit costs nothing");
    // Both kills have left the folder in which the film was written.
    let list = project.runner(&["clean", "few.yaml", "--format", "ndjson"]).expect(0);
    let scratch = list.out.lines().filter(|line| line.contains("/.film-")).count();
    assert_eq!(scratch, 2, "{}", list.out);
}

/// The first poll of a task says that it is gone.
fn task_expired() {
    let fault = r#"{"fault": {"kind": "error_response", "on": "poll", "status": 410}, "times": 1}"#;
    let retried =
        workflow_of(1, "few", "the sea").replace(" }\nfilm", ", retry: { attempts: 2, on: expired } }\nfilm");
    let setup = || {
        let (proxy, project) = setup(1, fault);
        fs_err::write(project.file("few.yaml"), &retried).expect("a writable folder");
        (proxy, project)
    };
    let (proxy, project) = setup();
    let before = project.runner_killed_at("before task-expired", RUN);
    assert_eq!(before.code, None, "{}", before.transcript());
    project.runner(RUN).expect(0);
    assert_eq!(proxy.posts().len(), 1, "nothing is on record: it is asked about again, and it is there");

    let (proxy, project) = setup();
    let after = project.runner_killed_at("after task-expired", RUN);
    assert_eq!(after.code, None, "{}", after.transcript());
    project.runner(RUN).expect(0);
    assert_eq!(
        proxy.posts().len(),
        1,
        "given up, and not replaced: it is asked about again, and it is there"
    );
}

/// The embedded service says what became of a submission.
fn reconciled() {
    let project = Project::new("few.yaml", &workflow_of(1, "few", "the sea"));
    for boundary in ["before submitted", "before reconciled", "after reconciled"] {
        let output = project.runner_killed_at(boundary, RUN);
        assert_eq!(output.code, None, "it is killed {boundary}: {}", output.transcript());
    }
    let last = project.runner(RUN).expect(0);
    assert_eq!(accepted(&project), 1, "{}", last.transcript());
}

/// What was asked for before it was on record is asked for again, and once.
fn renders_asked() {
    let (proxy, project) = setup(2, "");
    project.runner(RUN).expect(0);
    let rerun = [RUN, &["--rerun"]].concat();
    for side in ["before", "after"] {
        let output = project.runner_killed_at(&format!("{side} renders-asked"), &rerun);
        assert_eq!(output.code, None, "it is killed {side}: {}", output.transcript());
        assert_eq!(proxy.posts().len(), 2);
    }
    project.runner(&rerun).expect(0);
    assert_eq!(proxy.posts().len(), 4);
    // Everything is done.
    project.runner(RUN).expect(0);
    assert_eq!(proxy.posts().len(), 4);
}

fn renders_withdrawn() {
    let (proxy, project) = setup(1, "");
    project.runner(RUN).expect(0);
    let rerun = [RUN, &["--rerun"]].concat();
    let withdraw = ["run", "few.yaml", "--rerun", "--withdraw"];
    assert_eq!(project.runner_killed_at("after renders-asked", &rerun).code, None);
    for side in ["before", "after"] {
        let output = project.runner_killed_at(&format!("{side} renders-withdrawn"), &withdraw);
        assert_eq!(output.code, None, "it is killed {side}: {}", output.transcript());
    }
    project.runner(RUN).expect(0);
    assert_eq!(proxy.posts().len(), 1, "it is not wanted any more");
}

#[cfg(unix)]
fn interrupted() {
    let (proxy, project) = setup(2, "");
    proxy.hold_tasks(true);
    for side in ["before", "after"] {
        let mut command = project.command(RUN);
        command.env("RUNNER_TEST_KILL_AT", format!("{side} interrupted"));
        // As this run says: a poll of the one before may arrive when that has ended.
        let mut is_in_flight = || project.logged("submitted as task") + project.logged("adopted task") == 1;
        let output = project.runner_signalled(&mut command, &mut [("INT", &mut is_in_flight)]);
        assert_eq!(output.signal, Some(9), "{}", output.transcript());
    }
    proxy.hold_tasks(false);
    let last = project.runner(RUN).expect(0);
    assert_eq!((proxy.posts().len(), shots(&project, "few").len()), (2, 2), "{}", last.transcript());
}

/// The grace of an interrupted run ends while a video is still being fetched.
#[cfg(unix)]
fn timer_fired() {
    let (proxy, project) = setup(1, "");
    proxy.hold_files(true);
    for side in ["before", "after"] {
        let mut command = project.command(&[RUN, &["--shutdown-grace", "0.1"]].concat());
        command.env("RUNNER_TEST_KILL_AT", format!("{side} timer-fired"));
        let before = proxy.gets("/files/");
        let mut is_fetching = || proxy.gets("/files/") > before;
        let output = project.runner_signalled(&mut command, &mut [("INT", &mut is_fetching)]);
        assert_eq!(output.signal, Some(9), "{}", output.transcript());
    }
    proxy.hold_files(false);
    let last = project.runner(RUN).expect(0);
    assert_eq!((proxy.posts().len(), shots(&project, "few").len()), (1, 1), "{}", last.transcript());
}

/// There are no such signals.
#[cfg(not(unix))]
fn interrupted() {}

#[cfg(not(unix))]
fn timer_fired() {}
