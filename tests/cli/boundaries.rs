//! Killed with SIGKILL on either side of everything that the ledger writes, and run again: the service sees each shot once.
//!
//! One project goes through all boundaries in turn, so that each finds it as the one before has left it. Between two runs, what only a person can
//! know is accounted for as that person would: the service has the task, or it has not.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use engine::failpoint::Written;
use scheduler::EventKind;
use serde_json::Value;
use service::FaultProfile;

use crate::killed::unclaimed_task;
use crate::support::Project;
use crate::support::front::{Fate, Front, KEY};
use crate::support::made::{accepted, shots};

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
enum Tried {
    /// On the usual way of a run, with this fate of the next POST.
    OnTheWay(Fate),
    /// By a person who accounts for what was lost on that way.
    ByAPerson,
    /// In a setting of its own.
    By(fn()),
}

/// Closed, like the list of what the ledger writes.
fn tried(written: Written) -> Tried {
    match written {
        Written::Begin
        | Written::Event(
            EventKind::Scoped
            | EventKind::Started
            | EventKind::Looked
            | EventKind::Prepared
            | EventKind::Submitted
            | EventKind::Answered
            | EventKind::Downloaded
            | EventKind::Joined,
        )
        | Written::End => Tried::OnTheWay(Fate::Arrives),
        Written::Event(EventKind::Refused) => Tried::OnTheWay(Fate::TooMany),
        Written::Event(EventKind::Lost) => Tried::OnTheWay(Fate::IsLost),
        Written::Resolved => Tried::ByAPerson,
        Written::Event(EventKind::Taken) => Tried::By(taken),
        Written::Event(EventKind::Capped) => Tried::By(capped),
        Written::Event(EventKind::Unprepared) => Tried::By(unprepared),
        Written::Event(EventKind::NotDownloaded) => Tried::By(not_downloaded),
        Written::Event(EventKind::NotJoined) => Tried::By(not_joined),
        Written::Event(EventKind::Woke) => Tried::By(woke),
        Written::Event(EventKind::Interrupted) => Tried::By(interrupted),
        Written::Forget => Tried::By(forget),
        Written::Accounted => Tried::By(accounted),
    }
}

/// In an order in which each is reached.
const ON_THE_WAY: &[Written] = &[
    Written::Begin,
    Written::Event(EventKind::Scoped),
    Written::Event(EventKind::Started),
    Written::Event(EventKind::Looked),
    Written::Event(EventKind::Prepared),
    Written::Event(EventKind::Refused),
    Written::Event(EventKind::Lost),
    Written::Event(EventKind::Submitted),
    Written::Event(EventKind::Answered),
    Written::Event(EventKind::Downloaded),
    Written::Event(EventKind::Joined),
    Written::End,
];

/// Accounts for every submission whose answer was lost, and says how many there were.
fn account(project: &Project, front: &Front) -> usize {
    let listed = project.runner(&["resolve", "clock.yaml", "--format", "json"]);
    let listed: Value = serde_json::from_str(&listed.out).expect("a list");
    let open: Vec<String> = listed
        .as_array()
        .expect("a list")
        .iter()
        .map(|row| row["attempt"].as_str().expect("an attempt").to_owned())
        .collect();
    for attempt in &open {
        let task = unclaimed_task(front, project);
        let answer = task.as_deref().map_or(vec!["--resubmit"], |task| vec!["--adopt", task]);
        for side in ["before", "after"] {
            // The first time it dies before it is on record, the second time just after.
            let arguments = [vec!["resolve", "clock.yaml", attempt], answer.clone()].concat();
            let ended = project.runner_killed_at(&format!("{side} resolved"), &arguments);
            assert_eq!(ended.code, None, "it is killed {side} resolved: {}", ended.told());
        }
    }
    open.len()
}

#[test]
fn a_kill_at_every_boundary_of_the_ledger_pays_for_each_shot_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // How many POSTs from now on meet something else than an answer, and what.
    let next = Arc::new(AtomicUsize::new(0));
    let told = Arc::clone(&next);
    let front = Front::start(folder.path().join("service"), move |_| match told.swap(0, Ordering::SeqCst) {
        1 => Fate::TooMany,
        2 => Fate::IsLost,
        _ => Fate::Arrives,
    });
    let project = Project::of("clock.yaml", &workflow()).against(&front.url, KEY);
    let mut accounted = 0;
    for written in ON_THE_WAY {
        let Tried::OnTheWay(fate) = tried(*written) else { panic!("{written:?} has a setting of its own") };
        for side in ["before", "after"] {
            next.store(
                match fate {
                    Fate::Arrives => 0,
                    Fate::TooMany => 1,
                    Fate::IsLost => 2,
                },
                Ordering::SeqCst,
            );
            let at = format!("{side} {}", written.word());
            let ended = project.runner_killed_at(&at, &["run", "clock.yaml", "--jobs", "1", "--fail-fast"]);
            assert_eq!(ended.code, None, "it is killed {at}: {}", ended.told());
            accounted += account(&project, &front);
        }
    }
    let last = project.runner(&["run", "clock.yaml"]).expect(0);
    assert!(last.out.contains("nothing was submitted"), "all was made on the way: {}", last.out);
    assert_eq!((front.accepted().len(), shots(&project, "clock").len()), (SHOTS, SHOTS), "{}", last.told());
    assert!(accounted >= 4, "some kills fell between a POST and its answer: {accounted}");
}

#[test]
fn a_kill_at_every_boundary_off_the_usual_way_pays_for_nothing_unasked() {
    let mut on_the_way = 0;
    // They wait most of the time, so they run at once.
    std::thread::scope(|scope| {
        for written in Written::all() {
            match tried(written) {
                Tried::By(setting) => {
                    scope.spawn(setting);
                }
                Tried::OnTheWay(_) => {
                    on_the_way += 1;
                    assert!(ON_THE_WAY.contains(&written), "{written:?} is not tried");
                }
                Tried::ByAPerson => {}
            }
        }
    });
    assert_eq!(on_the_way, ON_THE_WAY.len());
}

/// A project of so many shots, against a service that misbehaves as told.
fn setting(shots: usize, faults: &str) -> (tempfile::TempDir, Front, Project) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let profile = FaultProfile::from_json(&format!("{{\"faults\": [{faults}]}}")).expect("a profile");
    let front = Front::with_faults(folder.path().join("service"), profile);
    let project = Project::of("few.yaml", &few(shots, "few", "the sea")).against(&front.url, KEY);
    (folder, front, project)
}

fn few(shots: usize, name: &str, prompt: &str) -> String {
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

/// Killed on either side of what is written, and then run to its end: so many POSTs in all.
#[track_caller]
fn killed_on_both_sides(front: &Front, project: &Project, written: Written, posts: usize) {
    for side in ["before", "after"] {
        let ended = project.runner_killed_at(&format!("{side} {}", written.word()), RUN);
        assert_eq!(ended.code, None, "it is killed {side} {}: {}", written.word(), ended.told());
    }
    let last = project.runner(RUN).expect(0);
    assert_eq!(front.posts().len(), posts, "{}", last.told());
}

/// While this run makes its request ready, another one makes the shot.
fn taken() {
    let (_folder, front, project) = setting(1, "");
    let ended = project.runner_held_at("before prepared", "after taken", RUN, || {
        project.runner(RUN).expect(0);
    });
    assert_eq!(ended.code, None, "{}", ended.told());
    let last = project.runner(RUN).expect(0);
    assert_eq!(front.posts().len(), 1, "{}", last.told());
}

/// While this run makes its request ready, another one spends what it might have spent.
fn capped() {
    let (_folder, front, project) = setting(1, "");
    fs_err::write(project.file("other.yaml"), few(1, "other", "a dune")).expect("a writable folder");
    let arguments = [RUN, &["--max-tasks", "1"]].concat();
    let ended = project.runner_held_at("before prepared", "after capped", &arguments, || {
        project.runner(&["run", "other.yaml"]).expect(0);
    });
    assert_eq!(ended.code, None, "{}", ended.told());
    assert_eq!(front.posts().len(), 1, "the cap is kept");
    project.runner(&arguments).expect(0);
    assert_eq!(front.posts().len(), 2);
}

/// A picture goes away between the plan and the request.
fn unprepared() {
    let (_folder, front, project) = setting(1, "");
    let text = few(1, "few", "the sea").replace(" }\nfilm", ", first_frame: still.png }\nfilm");
    fs_err::write(project.file("few.yaml"), text).expect("a writable folder");
    let still = project.file("still.png");
    let picture = media::encode_png(&media::RgbImage::new(64, 64));
    for side in ["before", "after"] {
        fs_err::write(&still, &picture).expect("a writable folder");
        let ended = project.runner_held_at("before started", &format!("{side} unprepared"), RUN, || {
            fs_err::remove_file(&still).expect("the picture can be removed");
        });
        assert_eq!(ended.code, None, "{}", ended.told());
        assert_eq!(front.posts().len(), 0);
    }
    fs_err::write(&still, &picture).expect("a writable folder");
    let last = project.runner(RUN).expect(0);
    assert_eq!(front.posts().len(), 1, "{}", last.told());
}

fn not_downloaded() {
    let fault = r#"{"fault": {"kind": "answer", "on": "file", "status": 503}, "times": 2}"#;
    let (_folder, front, project) = setting(1, fault);
    killed_on_both_sides(&front, &project, Written::Event(EventKind::NotDownloaded), 1);
}

/// Where the film is to be, there is a folder.
fn not_joined() {
    let (_folder, front, project) = setting(1, "");
    let film = project.file("out/few/few.mp4");
    fs_err::create_dir_all(film.join("in the way")).expect("a writable folder");
    for side in ["before", "after"] {
        let ended = project.runner_killed_at(&format!("{side} not-joined"), RUN);
        assert_eq!(ended.code, None, "{}", ended.told());
    }
    fs_err::remove_dir_all(&film).expect("the folder can be removed");
    project.runner(RUN).expect(0);
    assert!(film.is_file());
    assert_eq!(front.posts().len(), 1);
}

/// The first poll of a task says that it is gone.
fn forget() {
    let fault = r#"{"fault": {"kind": "answer", "on": "poll", "status": 410}, "times": 1}"#;
    let (_folder, front, project) = setting(1, fault);
    let before = project.runner_killed_at("before forget", RUN);
    assert_eq!(before.code, None, "{}", before.told());
    project.runner(RUN).expect(0);
    assert_eq!(front.posts().len(), 1, "nothing is on record: it is asked about again, and it is there");

    let (_folder, front, project) = setting(1, fault);
    let after = project.runner_killed_at("after forget", RUN);
    assert_eq!(after.code, None, "{}", after.told());
    // On record as gone: the next run makes it anew, as after a run that came to its end and said so.
    let again = project.runner_killed_at("after forget", RUN);
    assert_eq!(again.code, None, "{}", again.told());
    assert_eq!(front.posts().len(), 2);
}

/// The embedded service says what became of a submission.
fn accounted() {
    let project = Project::of("few.yaml", &few(1, "few", "the sea"));
    for at in ["before submitted", "before accounted", "after accounted"] {
        let ended = project.runner_killed_at(at, RUN);
        assert_eq!(ended.code, None, "it is killed {at}: {}", ended.told());
    }
    let last = project.runner(RUN).expect(0);
    assert_eq!(accepted(&project), 1, "{}", last.told());
}

#[cfg(unix)]
fn interrupted() {
    let (_folder, front, project) =
        setting(2, r#"{"fault": {"kind": "stuck_at", "percent": 0}, "times": 20}"#);
    for side in ["before", "after"] {
        let mut command = project.command(RUN);
        command.env("RUNNER_TEST_KILL_AT", format!("{side} interrupted"));
        let before = front.gets("/v1/");
        let mut is_out = || front.gets("/v1/") > before;
        let ended = project.runner_signalled(&mut command, &mut [("INT", &mut is_out)]);
        assert_eq!(ended.signal, Some(9), "{}", ended.told());
    }
    let last = project.runner(RUN).expect(0);
    assert_eq!((front.posts().len(), shots(&project, "few").len()), (2, 2), "{}", last.told());
}

/// The grace of an interrupted run ends while a video is still being fetched.
#[cfg(unix)]
fn woke() {
    let slow = r#"{"fault": {"kind": "slow_body", "bytes_per_second": 20}, "times": 2}"#;
    let (_folder, front, project) = setting(1, slow);
    for side in ["before", "after"] {
        let mut command = project.command(&[RUN, &["--grace", "0.1"]].concat());
        command.env("RUNNER_TEST_KILL_AT", format!("{side} woke"));
        let before = front.gets("/files/");
        let mut is_fetching = || front.gets("/files/") > before;
        let ended = project.runner_signalled(&mut command, &mut [("INT", &mut is_fetching)]);
        assert_eq!(ended.signal, Some(9), "{}", ended.told());
    }
    let last = project.runner(RUN).expect(0);
    assert_eq!((front.posts().len(), shots(&project, "few").len()), (1, 1), "{}", last.told());
}

/// There are no such signals.
#[cfg(not(unix))]
fn interrupted() {}

#[cfg(not(unix))]
fn woke() {}
