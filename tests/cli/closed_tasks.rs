//! Commands without an API key, tasks that a person closes, and printed commands: each of them works as it is printed.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::StatusCode;
use axum::response::IntoResponse as _;

use crate::support::program::Output;
use crate::support::proxy::{KEY, OTHER_KEY, RecordingProxy};
use crate::support::scripted::{ScriptedService, response, task_id};
use crate::support::{Project, cli_snapshot, inline_snapshot};

const TWO: &str = "version: 1\nname: two\ndefaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }\nshots:\n  \
    - { id: one, prompt: a quiet sea }\n  - { id: two, prompt: a loud sea }\n";

const PRICES: &str = "version: 1\ncurrency: USD\nas_of: 2026-11-01\nsource: a test\nprices:\n  \
    - { model: modelb-video-480p, per_second: 0.10 }\n";

/// The error of a service that has deleted a video.
const GONE: &str =
    r#"{"error":{"code":"video_expired","message":"the video was deleted","type":"invalid_request_error"}}"#;

/// Runs a printed command as a shell would. None of the names here is quoted.
fn run_command_line(project: &Project, command: &str) -> Output {
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    project.runner(&words)
}

/// `runner ui` serves until it is interrupted.
fn assert_serves_page(project: &Project, command: &str) {
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    let mut server =
        project.command(&words).stdout(Stdio::piped()).spawn().expect("the program can be started");
    let mut address = String::new();
    let read = BufReader::new(server.stdout.take().expect("a pipe")).read_line(&mut address);
    drop(server.kill());
    drop(server.wait());
    assert!(read.is_ok() && address.starts_with("http://127.0.0.1:"), "`{command}`: {address}");
}

#[test]
fn plan_explain_and_status_need_no_key() {
    let proxy = RecordingProxy::faithful();
    let project = Project::new("two.yaml", TWO).against(&proxy.url, KEY);
    let killed = project.runner_killed_at("before polled", &["run", "two.yaml", "--only", "one"]);
    assert_eq!(killed.code, None, "{}", killed.transcript());
    let requests = proxy.gets("/");
    let without_key = |arguments: &[&str]| project.runner_with(("RUNNER_API_KEY", ""), arguments);
    cli_snapshot!("plan_without_key", without_key(&["plan", "two.yaml"]).expect(0));
    without_key(&["plan", "two.yaml", "--format", "json"]).expect(0);
    without_key(&["explain", "two.yaml"]).expect(0);
    without_key(&["status", "two.yaml"]).expect(3);
    assert_eq!(proxy.gets("/"), requests, "nothing is asked of the service");
    cli_snapshot!("run_without_key", without_key(&["run", "two.yaml"]).expect(2));
}

/// A task whose video is gone is closed by the shot's name: its cost stays spent, nothing is pending, and only --rerun pays for another.
#[test]
fn task_whose_video_is_gone_is_closed_and_stays_paid() {
    let service = ScriptedService::start(|call| {
        (call.path.ends_with("/content") || call.path.starts_with("/files/"))
            .then(|| StatusCode::GONE.into_response())
    });
    let text = TWO.replace("  - { id: two, prompt: a loud sea }\n", "");
    let project = Project::new("two.yaml", &text).against(&service.url, KEY);
    fs_err::write(project.file("prices.yaml"), PRICES).expect("the folder can be written");
    let open = project.runner(&["run", "two.yaml"]).expect(3);
    assert_eq!(service.posts(), 1, "{}", open.transcript());
    project.runner(&["status", "two.yaml"]).expect(3);

    cli_snapshot!(
        "resolve_unknown_shot",
        project.runner(&["resolve", "two.yaml", "three", "--abandon"]).expect(2)
    );
    let refused = project.runner(&["resolve", "two.yaml", "one", "--resubmit"]).expect(2);
    inline_snapshot!(refused.transcript(), @"
    exit code: 2
    --- stdout
    --- stderr
    error: nothing is to be resolved for one: its last submission is recorded as submitted with task [TASK]
    hint: `runner run two.yaml --only one` continues from there
    ");
    cli_snapshot!(
        "resolve_abandon_task",
        project.runner(&["resolve", "two.yaml", "one", "--abandon"]).expect(0)
    );
    project.runner(&["status", "two.yaml"]).expect(0);
    assert_eq!(spending(&project), (0, 100_000), "what was reserved is spent, and nothing is reserved");
    // It cannot be taken for a submission that was not accepted: its task is known.
    let refused = project.runner(&["resolve", "two.yaml", "one", "--resubmit"]).expect(2);
    inline_snapshot!(refused.transcript(), @"
    exit code: 2
    --- stdout
    --- stderr
    error: attempt [ATTEMPT] was accepted as task [TASK], which is paid for: it can only be adopted as that task again
    ");
    assert_eq!(spending(&project), (0, 100_000));
    project.runner(&["run", "two.yaml"]).expect(1);
    assert_eq!(service.posts(), 1, "it is not paid for again unasked");
    // What was closed by mistake is opened again, as the same task.
    let task = task_of(&project);
    project.runner(&["resolve", "two.yaml", "one", "--adopt", &task, "--no-verify"]).expect(0);
    assert_eq!(spending(&project), (100_000, 0));
    project.runner(&["resolve", "two.yaml", "one", "--abandon"]).expect(0);
    assert_eq!(spending(&project), (0, 100_000));
    project.runner(&["run", "two.yaml", "--rerun", "one"]).expect(3);
    assert_eq!(service.posts(), 2);
}

/// A render that was asked for is paid for once, also if its video is gone: another one is asked for again. If it comes back after all, it counts.
#[test]
fn asked_render_whose_video_is_gone_is_not_paid_for_again() {
    let is_gone = Arc::new(AtomicBool::new(false));
    let service = ScriptedService::start({
        let is_gone = is_gone.clone();
        move |call| {
            let is_download = call.path.ends_with("/content") || call.path.starts_with("/files/");
            (is_download && is_gone.load(Ordering::Relaxed)).then(|| response(410, &[], GONE))
        }
    });
    let project = Project::new("two.yaml", TWO).against(&service.url, KEY);
    project.runner(&["run", "two.yaml", "--only", "one"]).expect(0);
    is_gone.store(true, Ordering::Relaxed);
    project.runner(&["run", "two.yaml", "--only", "one", "--rerun"]).expect(3);
    let plain = project.runner(&["run", "two.yaml", "--only", "one"]).expect(0);
    assert_eq!(service.posts(), 2, "{}", plain.transcript());
    is_gone.store(false, Ordering::Relaxed);
    project.runner(&["ledger", "fetch", "--all", "--in", "two.yaml"]).expect(0);
    let plain = project.runner(&["run", "two.yaml", "--only", "one"]).expect(0);
    assert_eq!(service.posts(), 2, "{}", plain.transcript());
    assert!(plain.out.contains(&task_id(2)), "it is the newest that was asked for: {}", plain.transcript());
}

/// The video of each attempt is gone: no later run pays for more of them, and each task is closed by the command that is printed, or by its id.
#[test]
fn task_whose_video_is_gone_after_every_retry_is_closed_by_the_printed_command() {
    let service = ScriptedService::start(|call| {
        (call.path.ends_with("/content") || call.path.starts_with("/files/"))
            .then(|| response(410, &[], GONE))
    });
    let text = TWO
        .replace("  - { id: two, prompt: a loud sea }\n", "")
        .replace("sea }", "sea, retry: { attempts: 3, on: [expired] } }");
    let project = Project::new("two.yaml", &text).against(&service.url, KEY);
    let run = project.runner(&["run", "two.yaml"]).expect(3);
    assert_eq!(service.posts(), 3, "{}", run.transcript());
    cli_snapshot!("run_video_gone", run);
    let run = project.runner(&["run", "two.yaml"]).expect(3);
    assert_eq!(service.posts(), 3, "{}", run.transcript());
    cli_snapshot!("status_video_gone", project.runner(&["status", "two.yaml"]).expect(3).action_needed());
    cli_snapshot!("resolve_video_gone", project.runner(&["resolve", "two.yaml"]).expect(3));
    cli_snapshot!("fetch_video_gone", project.runner(&["ledger", "fetch", "--all"]).expect(3).sorted());

    let close = "runner resolve two.yaml one --abandon";
    assert!(run.printed_commands().contains(close), "{}", run.transcript());
    run_command_line(&project, close).expect(0);
    let list = project.runner(&["resolve", "two.yaml", "--format", "json"]).expect(3);
    let list: serde_json::Value = serde_json::from_str(&list.out).expect("a list");
    let tasks = list.as_array().expect("a list").iter().filter(|row| row["state"] == "expired");
    for row in tasks {
        project
            .runner(&["resolve", "two.yaml", row["task"].as_str().expect("a task"), "--abandon"])
            .expect(0);
    }
    project.runner(&["status", "two.yaml"]).expect(0);
    project.runner(&["resolve", "two.yaml"]).expect(0);
    project.runner(&["run", "two.yaml"]).expect(1);
    assert_eq!(service.posts(), 3);
}

/// Reserved and spent, in millionths.
fn spending(project: &Project) -> (i64, i64) {
    let ledger = rusqlite::Connection::open(project.file(".runner/ledger.db")).expect("a ledger");
    ledger
        .query_row("SELECT reserved_cost, spent_cost FROM totals", [], |row| Ok((row.get(0)?, row.get(1)?)))
        .expect("totals")
}

fn task_of(project: &Project) -> String {
    let ledger = rusqlite::Connection::open(project.file(".runner/ledger.db")).expect("a ledger");
    ledger.query_row("SELECT task FROM attempts", [], |row| row.get(0)).expect("one attempt")
}

/// Every command that is printed in backquotes is accepted as it is: it never ends as invalid usage.
#[test]
fn printed_commands_work_as_they_are() {
    let mut pasted = BTreeSet::new();
    let mut paste_all = |project: &Project, outputs: &[Output]| {
        for output in outputs {
            for command in output.printed_commands() {
                if command.starts_with("runner ui ") {
                    assert_serves_page(project, &command);
                    pasted.insert("ui".to_owned());
                    continue;
                }
                let result = run_command_line(project, &command);
                assert_ne!(result.code, Some(2), "`{command}`: {}", result.transcript());
                pasted.insert(command.split(' ').nth(1).expect("a subcommand").to_owned());
            }
        }
    };
    let text = "version: 1\nname: two\ndefaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }\nshots:\n  \
        - { id: lamp, takes: 2, prompt: a lamp }\n  - { id: sweep, matrix: { look: [noir, pastel] }, pick: open, prompt: \"{{ look }}\" }\n  \
        - { id: sea, continues: lamp, prompt: a sea }\n  - { id: end, continues: sweep, prompt: an end }\n";
    let project = Project::new("two.yaml", text);
    let planned = project.runner(&["plan", "two.yaml"]).expect(0);
    let run = project.runner(&["run", "two.yaml"]).expect(3);
    let status = project.runner(&["status", "two.yaml"]).expect(3);
    let list = project.runner(&["pick", "two.yaml"]).expect(3);
    paste_all(&project, &[planned, run, status, list]);

    // Indeterminate, in flight, unclaimed and missing.
    let proxy = RecordingProxy::losing_first("a quiet sea");
    let project = Project::new("two.yaml", TWO).against(&proxy.url, KEY);
    let killed = project.runner_killed_at("after submitted", &["run", "two.yaml", "--only", "two"]);
    assert_eq!(killed.code, None, "{}", killed.transcript());
    let run = project.runner(&["run", "two.yaml", "--only", "one"]).expect(3);
    let status = project.runner(&["status", "two.yaml"]).expect(3);
    let planned = project.runner(&["plan", "two.yaml"]).expect(0);
    let list = project.runner(&["resolve", "two.yaml"]).expect(3);
    let edited = TWO.replace("a loud sea", "a green sea");
    fs_err::write(project.file("two.yaml"), edited).expect("a writable folder");
    let unclaimed = project.runner(&["status", "two.yaml"]).expect(3);
    proxy.forget_tasks(410);
    paste_all(&project, &[run, status, planned, list, unclaimed]);
    let account = project.against(&proxy.url, OTHER_KEY);
    let planned = account.runner(&["plan", "two.yaml"]).expect(0);
    paste_all(&account, &[planned]);
    assert_eq!(
        pasted,
        BTreeSet::from(["ledger", "pick", "resolve", "run", "services", "ui"].map(str::to_owned))
    );
}
