//! Tasks of killed runs whose shots were rendered again, edited or removed: continued, listed and fetched, never paid for again.

use crate::support::program::Output;
use crate::support::project_state::shots;
use crate::support::proxy::{KEY, RecordingProxy, ResponseFault};
use crate::support::{Project, cli_snapshot};

const TWO: &str = "version: 1\nname: two\ndefaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }\nshots:\n  \
    - { id: one, prompt: a quiet sea }\n  - { id: two, prompt: a loud sea }\n";

fn against(proxy: &RecordingProxy) -> Project {
    Project::new("two.yaml", TWO).against(&proxy.url, KEY)
}

/// Only what needs action: the rest of a status says how long ago the runs were.
fn action_needed(status: Output) -> Output {
    let at = status.out.find("action needed:").expect("something needs action");
    Output { out: status.out[at..].to_owned(), ..status }
}

/// Kills a run of each shot alone once its task is in flight.
fn kill_with_both_in_flight(project: &Project, flags: &[&str]) {
    for shot in ["one", "two"] {
        let arguments = [&["run", "two.yaml", "--only", shot], flags].concat();
        let killed = project.runner_killed_at("before polled", &arguments);
        assert_eq!(killed.code, None, "{}", killed.transcript());
    }
}

#[test]
fn rerun_after_killed_rerun_continues_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let proxy = RecordingProxy::start(folder.path().join("service"), |_| ResponseFault::None);
    let project = against(&proxy);
    let rerun = ["run", "two.yaml", "--rerun"];
    project.runner(&["run", "two.yaml"]).expect(0);
    // Its tasks are in flight.
    kill_with_both_in_flight(&project, &["--rerun"]);
    assert_eq!(proxy.posts().len(), 4);
    // One of them is downloaded, and the run is killed again.
    let killed = project.runner_killed_at("after downloaded", &rerun);
    assert_eq!((killed.code, proxy.posts().len()), (None, 4), "{}", killed.transcript());
    let ended = project.runner(&rerun).expect(0);
    assert!(ended.err.contains("begun by an earlier --rerun"), "{}", ended.transcript());
    assert_eq!((proxy.posts().len(), shots(&project, "two").len()), (4, 4), "{}", ended.transcript());
    // That one has ended: another --rerun is a new decision.
    project.runner(&rerun).expect(0);
    assert_eq!(proxy.posts().len(), 6);
}

#[test]
fn tasks_of_edited_and_removed_shots_are_listed_and_fetched() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let proxy = RecordingProxy::start(folder.path().join("service"), |_| ResponseFault::None);
    let project = against(&proxy);
    kill_with_both_in_flight(&project, &[]);
    assert_eq!(proxy.posts().len(), 2);
    cli_snapshot!("status_tasks_of_shots", action_needed(project.runner(&["status", "two.yaml"]).expect(3)));
    cli_snapshot!("status_tasks_without_file", action_needed(project.runner(&["status"]).expect(3)));

    let edited =
        TWO.replace("a quiet sea", "a green sea").replace("  - { id: two, prompt: a loud sea }\n", "");
    fs_err::write(project.file("two.yaml"), edited).expect("a writable folder");
    cli_snapshot!("status_tasks_unclaimed", action_needed(project.runner(&["status", "two.yaml"]).expect(3)));
    let ended = project.runner(&["run", "two.yaml"]).expect(0);
    cli_snapshot!("run_tasks_unclaimed", ended.sorted());

    let tasks = proxy.accepted();
    let unknown = project.runner(&["fetch", "task_of_nobody"]).expect(2);
    cli_snapshot!("fetch_unknown_task", unknown);
    cli_snapshot!("fetch_task", project.runner(&["fetch", &tasks[0]]).expect(0));
    project.runner(&["fetch", "--all", "--in", "two.yaml"]).expect(0);
    assert_eq!((proxy.posts().len(), shots(&project, "two").len()), (3, 3));
    cli_snapshot!("fetch_nothing", project.runner(&["fetch", "--all"]).expect(0));
    project.runner(&["status", "two.yaml"]).expect(0);

    // As it was: what was fetched is reused.
    fs_err::write(project.file("two.yaml"), TWO).expect("a writable folder");
    project.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!(proxy.posts().len(), 3);
}

#[test]
fn fetch_reports_a_task_that_the_service_does_not_know_and_keeps_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let proxy = RecordingProxy::start(folder.path().join("service"), |_| ResponseFault::None);
    let project = against(&proxy);
    let killed = project.runner_killed_at("before polled", &["run", "two.yaml", "--jobs", "1"]);
    assert_eq!((killed.code, proxy.posts().len()), (None, 1), "{}", killed.transcript());
    proxy.forget_tasks(410);
    let kept = project.runner(&["fetch", "--all", "--format", "json"]).expect(3);
    cli_snapshot!("fetch_task_unknown_to_service", kept);
    proxy.forget_tasks(0);
    project.runner(&["fetch", "--all"]).expect(0);
    project.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!((proxy.posts().len(), shots(&project, "two").len()), (2, 2));
}
