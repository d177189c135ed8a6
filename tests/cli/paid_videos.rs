//! Tasks that have a video, and responses that sound as if they had none: no other task is paid for in their place.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::project_state::{remove_ledger, shots};
use crate::support::scripted::{Call, ScriptedService, response, task_id};
use crate::support::{Project, cli_snapshot, inline_snapshot};

const KEY: &str = "sk-test-0123456789abcdef";

/// Shots that pay for another task whatever becomes of the first.
fn workflow(shots: &[&str]) -> String {
    let retry = "retry: { attempts: 3, on: [failed, transient, output-moderated, corrupt, expired] }";
    let defaults = format!("defaults: {{ model: modelb-video-480p, seconds: 1, size: 480x480, {retry} }}");
    let shots: Vec<String> =
        shots.iter().map(|shot| format!("  - {{ id: {shot}, prompt: a quiet {shot} }}\n")).collect();
    let shots = shots.concat();
    format!("version: 1\nname: one\n{defaults}\nshots:\n{shots}")
}

fn is_video(call: &Call<'_>) -> bool {
    call.path.starts_with("/files/") || call.path.ends_with("/content")
}

/// Moves the videos out of a project, or back.
fn move_videos(project: &Project, are_back: bool) {
    for folder in ["out", ".runner/artifacts"] {
        let (present, aside) = (project.file(folder), project.file(&folder.replace(".runner/", "aside-")));
        let aside = aside.with_extension("aside");
        let (from, to) = if are_back { (aside, present) } else { (present, aside) };
        if to.exists() {
            fs_err::remove_dir_all(&to).expect("what the run made can be removed");
        }
        fs_err::rename(from, to).expect("the folder can be moved");
    }
}

#[test]
fn task_reported_as_failed_after_its_download_is_not_paid_for_again() {
    let is_failed = Arc::new(AtomicBool::new(false));
    let shared = Arc::clone(&is_failed);
    let path = format!("/v1/videos/{}", task_id(1));
    let service = ScriptedService::start(move |call| {
        let id = task_id(1);
        let body = format!(
            r#"{{"id":"{id}","object":"video","status":"failed","error":{{"code":"file_expired","message":"the file has expired"}}}}"#
        );
        (call.path == path && shared.load(Ordering::Relaxed)).then(|| response(200, &[], body))
    });
    let project = Project::new("one.yaml", &workflow(&["sea"])).against(&service.url, KEY);
    project.runner(&["run", "one.yaml"]).expect(0);
    move_videos(&project, false);
    is_failed.store(true, Ordering::Relaxed);
    for _ in 0..2 {
        let planned = project.runner(&["plan", "one.yaml"]).expect(0);
        assert!(planned.notes().contains("nothing to submit"), "{}", planned.transcript());
        let run = project.runner(&["run", "one.yaml"]).expect(3);
        assert_eq!(service.posts(), 1, "{}", run.transcript());
    }
    cli_snapshot!("run_failed_after_download", project.runner(&["run", "one.yaml"]).expect(3));
    // `fetch` asks as well, and decides nothing else.
    project.runner(&["ledger", "fetch", "--all"]);
    project.runner(&["run", "one.yaml"]).expect(3);
    move_videos(&project, true);
    project.runner(&["run", "one.yaml"]).expect(0);
    assert_eq!((service.posts(), shots(&project, "one").len()), (1, 1));
}

#[test]
fn removed_video_whose_files_have_expired_is_not_paid_for_again() {
    let has_expired = Arc::new(AtomicBool::new(false));
    let shared = Arc::clone(&has_expired);
    let service = ScriptedService::start(move |call| {
        let body = r#"{"error":{"code":"file_expired","message":"the file has expired","type":"invalid_request_error"}}"#;
        (is_video(call) && shared.load(Ordering::Relaxed)).then(|| response(410, &[], body))
    });
    let project = Project::new("one.yaml", &workflow(&["sea"])).against(&service.url, KEY);
    project.runner(&["run", "one.yaml"]).expect(0);
    move_videos(&project, false);
    has_expired.store(true, Ordering::Relaxed);
    for _ in 0..2 {
        let run = project.runner(&["run", "one.yaml"]).expect(3);
        assert_eq!(service.posts(), 1, "{}", run.transcript());
    }
    move_videos(&project, true);
    project.runner(&["run", "one.yaml"]).expect(0);
    assert_eq!(service.posts(), 1);
}

/// The host of the videos is unreachable, and the service has no content endpoint: the videos are there all the time.
#[test]
fn videos_that_cannot_be_reached_are_not_paid_for_again() {
    let is_unreachable = Arc::new(AtomicBool::new(true));
    let shared = Arc::clone(&is_unreachable);
    let service = ScriptedService::start(move |call| {
        let is_unreachable = shared.load(Ordering::Relaxed);
        let body = r#"{"error":{"message":"unknown route","type":"invalid_request_error"}}"#;
        let has_no_content = call.path.ends_with("/content").then(|| response(404, &[], body));
        let is_blocked = call.path.starts_with("/files/") && is_unreachable;
        has_no_content.or_else(|| is_blocked.then(|| response(502, &[], "<html>Bad Gateway</html>")))
    });
    let project = Project::new("one.yaml", &workflow(&["sea", "harbour"])).against(&service.url, KEY);
    let run = project.runner(&["run", "one.yaml"]).expect(3);
    assert_eq!(service.posts(), 2, "{}", run.transcript());
    is_unreachable.store(false, Ordering::Relaxed);
    project.runner(&["run", "one.yaml"]).expect(0);
    assert_eq!((service.posts(), shots(&project, "one").len()), (2, 2));
}

/// The videos are on no disk, and the service delivers them damaged: no command says that they are there.
#[test]
fn video_that_cannot_be_downloaded_again_is_not_done_in_any_command() {
    let is_damaged = Arc::new(AtomicBool::new(false));
    let shared = Arc::clone(&is_damaged);
    let service = ScriptedService::start(move |call| {
        let is_first = call.path.contains(&task_id(1));
        (is_video(call) && is_first && shared.load(Ordering::Relaxed))
            .then(|| response(500, &[], "<html>Internal Server Error</html>"))
    });
    let project = Project::new("one.yaml", &workflow(&["sea", "harbour"])).against(&service.url, KEY);
    project.runner(&["run", "one.yaml", "--jobs", "1"]).expect(0);
    move_videos(&project, false);
    is_damaged.store(true, Ordering::Relaxed);
    project.runner(&["run", "one.yaml"]).expect(3);
    cli_snapshot!("status_video_cannot_be_downloaded", project.runner(&["status", "one.yaml"]).expect(3));
    let report = project.runner(&["report", "one.yaml", "--format", "csv"]).expect(0).out;
    let states = report.lines().skip(1).filter_map(|line| line.split(',').nth(5)).collect::<Vec<_>>();
    assert_eq!(states, ["detached", "done"], "{report}");
    cli_snapshot!("fetch_all_cannot_be_downloaded", project.runner(&["ledger", "fetch", "--all"]).expect(3));
    let task = task_id(1);
    let fetch = ["ledger", "fetch", &task];
    project.runner(&fetch).expect(3);
    is_damaged.store(false, Ordering::Relaxed);
    cli_snapshot!("fetch_downloaded_again", project.runner(&fetch).expect(0));
    // Its video is there, and nothing is asked of the service for it.
    project.runner(&fetch).expect(2);
    project.runner(&["status", "one.yaml"]).expect(0);
    let run = project.runner(&["run", "one.yaml"]).expect(0);
    assert_eq!((service.posts(), shots(&project, "one").len()), (2, 2), "{}", run.transcript());
}

/// A task that an earlier run has lost sight of: `plan` says that nothing is submitted for it, whatever it answers now.
#[test]
fn task_that_comes_back_without_its_files_is_not_paid_for_again() {
    let is_unknown = Arc::new(AtomicBool::new(true));
    let shared = Arc::clone(&is_unknown);
    let path = format!("/v1/videos/{}", task_id(1));
    let service = ScriptedService::start(move |call| {
        let unknown = r#"{"error":{"message":"unknown task","type":"invalid_request_error"}}"#;
        let expired = r#"{"error":{"code":"file_expired","message":"the file has expired","type":"invalid_request_error"}}"#;
        let is_poll = call.path == path && shared.load(Ordering::Relaxed);
        let is_first = call.path.contains(&task_id(1));
        is_poll
            .then(|| response(404, &[], unknown))
            .or_else(|| (is_video(call) && is_first).then(|| response(410, &[], expired)))
    });
    let text =
        workflow(&["sea"]).replace(", on: [failed, transient, output-moderated, corrupt, expired]", "");
    let project = Project::new("one.yaml", &text).against(&service.url, KEY);
    project.runner(&["run", "one.yaml"]).expect(3);
    fs_err::write(project.file("one.yaml"), workflow(&["sea"])).expect("the file can be written");
    is_unknown.store(false, Ordering::Relaxed);
    let planned = project.runner(&["plan", "one.yaml"]).expect(0);
    inline_snapshot!(planned.notes(), @"
    sea: the service did not know its task, or had no intact video of it, when it was last asked; it is asked again, and nothing is submitted

    nothing to submit
    not submitted: adopt 1
    ");
    let run = project.runner(&["run", "one.yaml"]).expect(3);
    assert_eq!(service.posts(), 1, "{}", run.transcript());
}

/// The command that a run prints is about the work that it has paid for: with its parameters, its salt and its folder.
#[test]
fn printed_command_of_a_run_has_its_arguments() {
    let is_running = Arc::new(AtomicBool::new(true));
    let shared = Arc::clone(&is_running);
    let path = format!("/v1/videos/{}", task_id(1));
    let service = ScriptedService::start(move |call| {
        let body = format!(r#"{{"id":"{}","object":"video","status":"in_progress"}}"#, task_id(1));
        (call.path == path && shared.load(Ordering::Relaxed)).then(|| response(200, &[], body))
    });
    let text = "version: 1\nname: one\nparams: { look: blue }\n\
                defaults: { model: modelb-video-480p, seconds: 1, size: 480x480, timeout: 1s }\n\
                shots:\n  - { id: sea, prompt: \"a {{ look }} sea\" }\n";
    let project = Project::new("one.yaml", text).against(&service.url, KEY);
    let arguments = ["run", "one.yaml", "-p", "look=dark red", "--salt", "x", "-o", "else"];
    let run = project.runner(&arguments).expect(3);
    let command = run.out.split('`').find(|words| words.starts_with("runner run")).expect("a command");
    inline_snapshot!(command, @"runner run one.yaml --salt x -p 'look=dark red' -o else");
    is_running.store(false, Ordering::Relaxed);
    // The next run has as much time as it needs.
    fs_err::write(project.file("one.yaml"), text.replace(", timeout: 1s", "")).expect("a writable folder");
    project.runner(&arguments).expect(0);
    assert_eq!((service.posts(), fs_err::read_dir(project.file("else")).expect("a folder").count()), (1, 1));
}

/// As it prints them, the commands after a lost ledger are about the same work as well.
#[test]
fn printed_commands_after_a_removed_ledger_have_the_arguments() {
    let service = ScriptedService::start(|_| None);
    let text = "version: 1\nname: one\nparams: { look: blue }\n\
                defaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }\n\
                shots:\n  - { id: sea, prompt: \"a {{ look }} sea\" }\n";
    let project = Project::new("one.yaml", text).against(&service.url, KEY);
    let arguments = ["run", "one.yaml", "-p", "look=red", "--salt", "x", "-o", "else"];
    project.runner(&arguments).expect(0);
    remove_ledger(&project);
    // The store is gone as well: the video is known by its name in the folder of the run.
    fs_err::remove_dir_all(project.file(".runner/artifacts")).expect("removable");
    let rest = &arguments[1..];
    let dry_run = project.runner(&[&["run", "--dry-run"], rest].concat()).expect(0);
    cli_snapshot!("dry_run_after_a_removed_ledger_with_arguments", dry_run);
    let run = project.runner(&arguments).expect(3);
    let commands: Vec<&str> =
        run.err.lines().filter_map(|line| line.split_once(": runner ")).map(|(_, command)| command).collect();
    assert_eq!(
        commands,
        [
            "ledger adopt one.yaml --salt x -p look=red -o else",
            "run one.yaml --salt x -p look=red -o else --force"
        ],
        "{}",
        run.transcript()
    );
    let adopt: Vec<&str> = commands[0].split(' ').collect();
    project.runner(&adopt).expect(0);
    project.runner(&arguments).expect(0);
    assert_eq!(service.posts(), 1);
}
