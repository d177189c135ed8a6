//! Tasks of killed runs whose shots were rendered again, edited or removed: continued, listed and fetched, never paid for again.

use crate::support::project_state::shots;
use crate::support::proxy::{KEY, RecordingProxy};
use crate::support::scripted::{ScriptedService, response, task_id};
use crate::support::{Project, cli_snapshot, inline_snapshot};

const TWO: &str = "version: 1\nname: two\ndefaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }\nshots:\n  \
    - { id: one, prompt: a quiet sea }\n  - { id: two, prompt: a loud sea }\n";

fn against(proxy: &RecordingProxy) -> Project {
    Project::new("two.yaml", TWO).against(&proxy.url, KEY)
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
    let proxy = RecordingProxy::faithful();
    let project = against(&proxy);
    let rerun = ["run", "two.yaml", "--rerun"];
    project.runner(&["run", "two.yaml"]).expect(0);
    // Its tasks are in flight.
    kill_with_both_in_flight(&project, &["--rerun"]);
    assert_eq!(proxy.posts().len(), 4);
    // The run is killed again, and then one of them is downloaded. Both might be recorded in one transaction.
    let killed = project.runner_killed_at("before downloaded", &rerun);
    assert_eq!((killed.code, proxy.posts().len()), (None, 4), "{}", killed.transcript());
    project.runner(&["run", "two.yaml", "--only", "one"]).expect(0);
    assert_eq!(proxy.posts().len(), 4);
    let output = project.runner(&rerun).expect(0);
    assert_eq!((proxy.posts().len(), shots(&project, "two").len()), (4, 4), "{}", output.transcript());
    // Which of them are downloaded by then depends on timing, and the lines that follow on that.
    let first = output.err.lines().next().unwrap_or_default();
    assert!(first.starts_with("continues a rerun that is not done (--rerun): "), "{first}");
    // That one has ended: another --rerun is a new decision.
    project.runner(&rerun).expect(0);
    assert_eq!(proxy.posts().len(), 6);
}

#[test]
fn tasks_of_edited_and_removed_shots_are_listed_and_fetched() {
    let proxy = RecordingProxy::faithful();
    let project = against(&proxy);
    kill_with_both_in_flight(&project, &[]);
    assert_eq!(proxy.posts().len(), 2);
    cli_snapshot!("status_tasks_of_shots", project.runner(&["status", "two.yaml"]).expect(3).action_needed());
    cli_snapshot!("status_tasks_without_file", project.runner(&["status"]).expect(3).action_needed());

    let edited =
        TWO.replace("a quiet sea", "a green sea").replace("  - { id: two, prompt: a loud sea }\n", "");
    fs_err::write(project.file("two.yaml"), edited).expect("a writable folder");
    cli_snapshot!(
        "status_tasks_unclaimed",
        project.runner(&["status", "two.yaml"]).expect(3).action_needed()
    );
    let output = project.runner(&["run", "two.yaml"]).expect(0);
    cli_snapshot!("run_tasks_unclaimed", output.sorted());

    let tasks = proxy.accepted();
    let unknown = project.runner(&["ledger", "fetch", "task_of_nobody"]).expect(2);
    cli_snapshot!("fetch_unknown_task", unknown);
    cli_snapshot!("fetch_task", project.runner(&["ledger", "fetch", &tasks[0]]).expect(0));
    cli_snapshot!("fetch_all", project.runner(&["ledger", "fetch", "--all", "--in", "two.yaml"]).expect(0));
    assert_eq!((proxy.posts().len(), shots(&project, "two").len()), (3, 3));
    cli_snapshot!("fetch_nothing", project.runner(&["ledger", "fetch", "--all"]).expect(0));
    project.runner(&["status", "two.yaml"]).expect(0);

    // As it was: what was fetched is reused.
    fs_err::write(project.file("two.yaml"), TWO).expect("a writable folder");
    project.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!(proxy.posts().len(), 3);
}

/// `status` shows the shots of the latest run as other commands have left them since.
#[test]
fn status_shows_what_was_fetched_after_the_run() {
    let proxy = RecordingProxy::faithful();
    let project = against(&proxy);
    let killed = project.runner_killed_at("before polled", &["run", "two.yaml", "--only", "one"]);
    assert_eq!(killed.code, None, "{}", killed.transcript());
    let none_finished = project.runner(&["status", "two.yaml", "--runs", "0"]).expect(3);
    inline_snapshot!(none_finished.out.lines().next().unwrap_or_default(), @"no run is alive");
    cli_snapshot!(
        "fetch_all_after_the_run",
        project.runner(&["ledger", "fetch", "--all", "--in", "two.yaml"]).expect(0)
    );
    let status = project.runner(&["status", "two.yaml"]).expect(0).out;
    let fetched: Vec<&str> = status.lines().filter(|line| line.starts_with("one ")).collect();
    inline_snapshot!(fetched.join("\n"), @"one  done  -  [TASK]  fetched after the run");
}

/// A workflow file in the place of a task.
#[test]
fn fetch_of_a_file_says_how_to_fetch_all_of_its_tasks() {
    let project = Project::new("two.yaml", TWO);
    project.runner(&["run", "two.yaml", "--only", "one"]).expect(0);
    cli_snapshot!("fetch_file_and_all", project.runner(&["ledger", "fetch", "two.yaml", "--all"]).expect(2));
    cli_snapshot!("fetch_file", project.runner(&["ledger", "fetch", "two.yaml"]).expect(2));
}

#[test]
fn fetch_reports_a_task_that_the_service_does_not_know_and_keeps_it() {
    let proxy = RecordingProxy::faithful();
    let project = against(&proxy);
    let killed = project.runner_killed_at("before polled", &["run", "two.yaml", "--jobs", "1"]);
    assert_eq!((killed.code, proxy.posts().len()), (None, 1), "{}", killed.transcript());
    proxy.forget_tasks(410);
    let output = project.runner(&["ledger", "fetch", "--all", "--format", "json"]).expect(3);
    cli_snapshot!("fetch_task_unknown_to_service", output);
    proxy.forget_tasks(0);
    cli_snapshot!("fetch_all_known_again", project.runner(&["ledger", "fetch", "--all"]).expect(0));
    project.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!((proxy.posts().len(), shots(&project, "two").len()), (2, 2));
}

/// The first task never ends, and the second is gone: it is reported first, and the first is waited for as long as its shot says.
#[test]
fn fetch_looks_at_every_task_before_it_waits_for_one() {
    let service = ScriptedService::start(|call| {
        let task = call.path.strip_prefix("/v1/videos/")?;
        let error =
            r#"{"error":{"code":"task_not_found","message":"no such task","type":"invalid_request_error"}}"#;
        if task == task_id(2) {
            return Some(response(410, &[], error));
        }
        let body = format!(r#"{{"id":"{task}","object":"video","status":"in_progress","progress":30}}"#);
        Some(response(200, &[], body))
    });
    let text = TWO.replace("seconds: 1,", "seconds: 1, timeout: 2s,");
    let project = Project::new("two.yaml", &text).against(&service.url, KEY);
    project.runner(&["run", "two.yaml", "--only", "one"]).expect(3);
    project.runner(&["run", "two.yaml", "--only", "two"]).expect(3);
    let started = std::time::Instant::now();
    let fetch = project.runner(&["ledger", "fetch", "--all", "--in", "two.yaml", "--timeout", "2"]).expect(3);
    assert!(started.elapsed().as_secs() < 60, "{}", fetch.transcript());
    let first_words: Vec<&str> = fetch.out.lines().filter_map(|line| line.split(':').next()).collect();
    assert_eq!(first_words, ["two", "one"], "{}", fetch.transcript());
    inline_snapshot!(fetch.err, @"one: task [TASK]: not finished (30 %), waiting for it");
}

const VARIANTS: &str = "version: 1\nname: two\nparams: { sea: quiet }\n\
    defaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }\nshots:\n  - { id: one, prompt: \"a {{ sea }} sea\" }\n";

/// Each run of the same file with other arguments has tasks of its own.
#[test]
fn tasks_of_runs_with_other_arguments_are_listed_with_their_command() {
    let proxy = RecordingProxy::faithful();
    let project = Project::new("two.yaml", VARIANTS).against(&proxy.url, KEY);
    let variants: [&[&str]; 2] = [&["--salt", "a b"], &["-a", "sea=red,blue"]];
    for arguments in variants {
        let arguments = [&["run", "two.yaml", "--jobs", "1"], arguments].concat();
        let killed = project.runner_killed_at("before polled", &arguments);
        assert_eq!(killed.code, None, "{}", killed.transcript());
    }
    assert_eq!(proxy.posts().len(), 2);
    let status = project.runner(&["status", "two.yaml"]).expect(3).action_needed();
    cli_snapshot!("status_tasks_of_other_arguments", status);
    // A run of the file itself neither adopts nor disowns them.
    let output = project.runner(&["run", "two.yaml"]).expect(0);
    cli_snapshot!("run_beside_other_arguments", output.sorted());
    assert_eq!(proxy.posts().len(), 3);
    // The printed commands adopt them; the one with an axis submits its other value too.
    for arguments in variants {
        project.runner(&[&["run", "two.yaml"], arguments].concat()).expect(0);
    }
    assert_eq!(proxy.posts().len(), 4);
    project.runner(&["status", "two.yaml"]).expect(0);
}
