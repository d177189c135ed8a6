//! The ledger is removed, replaced or restored: nothing is paid for again without a word, and no paid video is overwritten.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::budget::PRICES;
use crate::support::project_state::{back_up, remove_ledger, restore, shots};
use crate::support::proxy::{KEY, RecordingProxy, ResponseFault};
use crate::support::scripted::{ScriptedService, response, task_id};
use crate::support::{Project, cli_snapshot, inline_snapshot, wait_until};

const TWO: &str = "version: 1\nname: two\ndefaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }\nshots:\n  \
    - { id: one, prompt: a quiet sea }\n  - { id: two, prompt: a loud sea, continues: one }\n";

fn against(proxy: &RecordingProxy) -> Project {
    Project::new("two.yaml", TWO).against(&proxy.url, KEY)
}

/// Nothing is created for nothing, and no run begins that `status` would list.
#[test]
fn adopting_nothing_records_nothing() {
    let project = Project::new("two.yaml", TWO);
    let adopt = || project.runner(&["ledger", "adopt", "two.yaml"]).expect(0);
    inline_snapshot!(adopt().transcript(), @"
    exit code: 0
    --- stdout
    nothing to adopt: no video or task of these shots is unrecorded
    --- stderr
    ");
    assert!(!project.file(".runner").exists(), "a ledger was created");
    project.runner(&["run", "two.yaml"]).expect(0);
    let status = || project.runner(&["status", "--format", "json"]).expect(0);
    let runs = || status().out.matches("\"started_at\"").count();
    assert_eq!(runs(), 1);
    adopt();
    assert_eq!(runs(), 1, "no run begins");
}

#[test]
fn videos_without_ledger_stop_the_run_and_are_adopted() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let proxy = RecordingProxy::start(folder.path().join("service"), |_| ResponseFault::None);
    let project = against(&proxy);
    project.runner(&["run", "two.yaml"]).expect(0);
    let videos = shots(&project, "two");
    fs_err::remove_dir_all(project.file(".runner")).expect("the ledger can be removed");

    cli_snapshot!("plan_videos_unknown", project.runner(&["plan", "two.yaml"]).expect(0));
    cli_snapshot!("run_videos_unknown", project.runner(&["run", "two.yaml"]).expect(3));
    assert_eq!(proxy.posts().len(), 2);
    cli_snapshot!("ledger_adopt", project.runner(&["ledger", "adopt", "two.yaml"]).expect(0));
    cli_snapshot!("ledger_adopt_nothing", project.runner(&["ledger", "adopt", "two.yaml"]).expect(0));
    let next_run = project.runner(&["run", "two.yaml"]).expect(0);
    inline_snapshot!(next_run.notes(), @"all 2 shots are up to date, nothing was submitted");
    assert_eq!((proxy.posts().len(), shots(&project, "two")), (2, videos));
}

#[test]
fn force_renders_again_and_keeps_the_paid_videos() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let proxy = RecordingProxy::start(folder.path().join("service"), |_| ResponseFault::None);
    let project = against(&proxy);
    project.runner(&["run", "two.yaml"]).expect(0);
    let first = &shots(&project, "two")[0].1;
    let paid = fs_err::read(first).expect("a video");
    fs_err::remove_dir_all(project.file(".runner")).expect("the ledger can be removed");
    project.runner(&["run", "two.yaml", "--force"]).expect(0);
    assert_eq!(proxy.posts().len(), 4);
    let is_kept = |path: &Path| fs_err::read(path).is_ok_and(|bytes| bytes == paid);
    let files = fs_err::read_dir(project.file("out/two")).expect("a folder").filter_map(Result::ok);
    assert!(files.map(|entry| entry.path()).any(|path| is_kept(&path)), "the paid video is somewhere");
    project.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!(proxy.posts().len(), 4);
}

/// An adopted task is reserved at its price, so that a cap counts it; one without a price is refused beside a cap, as any other.
#[test]
fn adopted_work_costs_what_it_did() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let proxy = RecordingProxy::start(folder.path().join("service"), |_| ResponseFault::None);
    let project = Project::new("two.yaml", APART).against(&proxy.url, KEY);
    let set_prices =
        |prices: &str| fs_err::write(project.file("prices.yaml"), prices).expect("it is written");
    set_prices(PRICES);
    let in_flight = |shot: &str| {
        let killed = project.runner_killed_at("after submitted", &["run", "two.yaml", "--only", shot]);
        assert_eq!(killed.code, None, "{}", killed.transcript());
    };
    in_flight("one");
    let capped = || project.runner(&["run", "two.yaml", "--max-cost", "0.12"]);
    let refused = capped().expect(4);
    remove_ledger(&project);
    let task = proxy.accepted()[0].clone();
    project.runner(&["ledger", "adopt", "two.yaml", "--task", &format!("one={task}")]).expect(0);
    assert_eq!(capped().expect(4).err, refused.err, "the same as before");
    assert_eq!(proxy.posts().len(), 1);

    fs_err::remove_file(project.file("prices.yaml")).expect("it can be removed");
    remove_ledger(&project);
    project.runner(&["ledger", "adopt", "two.yaml", "--task", &format!("one={task}")]).expect(0);
    set_prices(PRICES);
    cli_snapshot!("run_capped_beside_an_adopted_task_without_a_price", capped().expect(2));
    assert_eq!(proxy.posts().len(), 1);

    // Videos cost what their sidecars say, whatever the prices are now. That of `one` was adopted without a price, and has the present one.
    project.runner(&["run", "two.yaml"]).expect(0);
    remove_ledger(&project);
    set_prices(&PRICES.replace("0.1", "0.7"));
    project.runner(&["ledger", "adopt", "two.yaml"]).expect(0);
    let spent = project.runner(&["status", "two.yaml", "--format", "json"]).expect(0).out;
    let spent: Vec<&str> = spent.lines().filter(|line| line.contains("cost")).map(str::trim).collect();
    inline_snapshot!(spent.join(" "), @r#""cost": 0, "cost": 800000,"#);
}

/// A service that renders until `is_done`.
fn rendering_until(is_done: &Arc<AtomicBool>) -> ScriptedService {
    let is_done = Arc::clone(is_done);
    ScriptedService::start(move |call| {
        let task = call.path.strip_prefix("/v1/videos/").filter(|_| !is_done.load(Ordering::Relaxed))?;
        let body = format!(r#"{{"id":"{task}","object":"video","status":"in_progress"}}"#);
        Some(response(200, &[], body))
    })
}

const APART: &str = "version: 1\nname: two\ndefaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }\nshots:\n  \
    - { id: one, prompt: a quiet sea }\n  - { id: two, prompt: a loud sea }\n";

/// It may be that the attempt has another task, so a person decides.
#[test]
fn task_of_an_indeterminate_attempt_is_adopted_by_the_printed_command() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let proxy = RecordingProxy::start(folder.path().join("service"), |nth| {
        if nth == 1 { ResponseFault::ConnectionDropped } else { ResponseFault::None }
    });
    let project = against(&proxy);
    project.runner(&["run", "two.yaml", "--only", "one"]).expect(3);
    let assignment = format!("one={}", proxy.accepted()[0]);
    let adopt = project.runner(&["ledger", "adopt", "two.yaml", "--task", &assignment]).expect(3);
    cli_snapshot!("ledger_adopt_indeterminate", &adopt);
    let (_, command) = adopt.out.split_once(": runner ").expect("a command");
    project.runner(&command.split_whitespace().collect::<Vec<_>>()).expect(0);
    project.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!((proxy.posts().len(), shots(&project, "two").len()), (2, 2));
}

#[test]
fn adopted_video_keeps_the_task_that_is_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let proxy = RecordingProxy::start(folder.path().join("service"), |_| ResponseFault::None);
    let project = against(&proxy);
    project.runner(&["run", "two.yaml"]).expect(0);
    let (first_task, second_task) = (&proxy.accepted()[0], &proxy.accepted()[1]);
    fs_err::remove_dir_all(project.file(".runner")).expect("the ledger can be removed");
    // The file of the second is no video any more: its task is recorded instead, and brings it back.
    let second = &shots_in_folder(&project)[1];
    fs_err::write(second, "cut").expect("a writable folder");
    let assignments = [format!("one={first_task}"), format!("two={second_task}")];
    project
        .runner(&["ledger", "adopt", "two.yaml", "--task", &assignments[0], "--task", &assignments[1]])
        .expect(0);
    let next_run = project.runner(&["run", "two.yaml"]).expect(0);
    // The table of shots: name, decision, task.
    let tasks = next_run.out.lines().skip(1).filter_map(|row| row.split_whitespace().nth(2));
    assert_eq!(tasks.take(2).collect::<Vec<_>>(), [first_task, second_task], "{}", next_run.transcript());
    inline_snapshot!(next_run.notes(), @"2 of 2 shots are done, nothing was submitted");
    assert_eq!(proxy.posts().len(), 2, "{}", next_run.transcript());
    media::probe(second).expect("the video is back under its name");
}

/// The videos in the output folder, by name.
fn shots_in_folder(project: &Project) -> Vec<PathBuf> {
    let files = fs_err::read_dir(project.file("out/two")).expect("a folder").filter_map(Result::ok);
    let mut files: Vec<_> = files.map(|entry| entry.path()).collect();
    files.sort();
    files
}

#[test]
fn adopt_names_the_owner_of_a_task_and_what_it_did_not_record() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let proxy = RecordingProxy::start(folder.path().join("service"), |_| ResponseFault::None);
    let text = "version: 1\nname: four\ndefaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }\nshots:\n  \
        - { id: one, prompt: a quiet sea }\n  - { id: two, prompt: a loud sea }\n  - { id: three, prompt: a red sea }\n  \
        - { id: four, prompt: later, continues: three }\n";
    let project = Project::new("four.yaml", text).against(&proxy.url, KEY);
    project.runner(&["run", "four.yaml", "--only", "one"]).expect(0);
    let owned = format!("two={}", proxy.accepted()[0]);
    // The task of `one`; one task for two shots; a shot that has its video; a shot whose request is not known yet.
    let arguments = [
        "ledger",
        "adopt",
        "four.yaml",
        "--task",
        "one=t9",
        "--task",
        &owned,
        "--task",
        "three=t1",
        "--task",
        "four=t2",
    ];
    let twice = ["ledger", "adopt", "four.yaml", "--task", "two=t1", "--task", "three=t1"];
    cli_snapshot!("ledger_adopt_task_named_twice", project.runner(&twice).expect(2));
    cli_snapshot!("ledger_adopt_conflicts", project.runner(&arguments).expect(3));
    cli_snapshot!("ledger_adopt_conflicts_plan", project.runner(&["plan", "four.yaml"]).expect(0));
    cli_snapshot!(
        "ledger_adopt_one_task_for_two_shots",
        project.runner(&["ledger", "adopt", "four.yaml", "--task", "two=t1", "--format", "json"]).expect(3)
    );
}

/// What happens to the ledger.
#[cfg(unix)]
type Damage = fn(&Project);

/// The task of the first shot has no video yet when the second one is to be submitted.
#[cfg(unix)]
#[test]
fn ledger_removed_or_replaced_during_a_run_stops_submissions() {
    let damages: [(&str, Damage); 4] = [
        ("removed", |project| fs_err::remove_dir_all(project.file(".runner")).expect("removable")),
        ("moved", |project| fs_err::rename(project.file(".runner"), project.file("aside")).expect("movable")),
        ("emptied", |project| fs_err::write(project.file(".runner/ledger.db"), "").expect("writable")),
        ("replaced", |project| restore(project, &back_up(project))),
    ];
    for (name, damage) in damages {
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let service = ScriptedService::start(move |call| {
            if call.path.starts_with("/files/") {
                wait_until("the run is over", || over.load(Ordering::Relaxed));
            }
            None
        });
        let project = Project::new("two.yaml", APART).against(&service.url, KEY);
        let output = project.runner_held_at(
            "before submitted",
            "after nothing",
            &["run", "two.yaml", "--jobs", "1"],
            || damage(&project),
        );
        is_over.store(true, Ordering::Relaxed);
        assert_eq!((output.code, service.posts()), (Some(5), 1), "{name}: {}", output.transcript());
        let assignment = format!("one={}", task_id(1));
        let printed_assignment = output.err.split_whitespace().find(|argument| argument.starts_with("one="));
        assert_eq!(printed_assignment, Some(assignment.as_str()), "{name}: {}", output.transcript());
        cli_snapshot!(format!("run_ledger_{name}"), output);
        // The printed command works.
        remove_ledger(&project);
        project.runner(&["ledger", "adopt", "two.yaml", "--task", &assignment]).expect(0);
        project.runner(&["run", "two.yaml"]).expect(0);
        assert_eq!((service.posts(), shots(&project, "two").len()), (2, 2), "{name}");
    }
}

/// Nothing more is submitted, so nothing is looked at; the videos are there, and stop the next run.
#[cfg(unix)]
#[test]
fn ledger_removed_after_the_last_intent_is_noticed_by_the_next_run() {
    let is_done = Arc::new(AtomicBool::new(false));
    let service = rendering_until(&is_done);
    let project = Project::new("two.yaml", APART).against(&service.url, KEY);
    let mut run = project.start(&["run", "two.yaml"]);
    wait_until("both are submitted", || service.gets(&format!("/v1/videos/{}", task_id(2))) > 0);
    remove_ledger(&project);
    is_done.store(true, Ordering::Relaxed);
    assert_eq!(run.wait().expect("the run ends").code(), Some(0));
    project.runner(&["run", "two.yaml"]).expect(3);
    project.runner(&["ledger", "adopt", "two.yaml"]).expect(0);
    project.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!((service.posts(), shots(&project, "two").len()), (2, 2));
}

#[test]
fn ledger_of_an_older_backup_is_noticed_by_the_videos() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let proxy = RecordingProxy::start(folder.path().join("service"), |_| ResponseFault::None);
    let project = against(&proxy);
    project.runner(&["run", "two.yaml", "--only", "one"]).expect(0);
    let backup = fs_err::read(project.file(".runner/ledger.db")).expect("a ledger");
    project.runner(&["run", "two.yaml"]).expect(0);
    remove_ledger(&project);
    fs_err::write(project.file(".runner/ledger.db"), backup).expect("a writable folder");
    let output = project.runner(&["run", "two.yaml"]).expect(3);
    cli_snapshot!("run_ledger_of_backup", output);
    project.runner(&["ledger", "adopt", "two.yaml"]).expect(0);
    project.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!(proxy.posts().len(), 2);
}
