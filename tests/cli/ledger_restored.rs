//! An earlier state of the ledger is put back, or the ledger goes while a run uses it: what was paid for since is noticed.

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::project_state::{back_up, remove_ledger, restore, shots};
use crate::support::proxy::KEY;
use crate::support::scripted::{Call, ScriptedService, response, task_id};
use crate::support::{Output, Project, cli_snapshot, inline_snapshot, wait_until};

const JSON: &[(&str, &str)] = &[("content-type", "application/json")];

/// A refusal in the service's own form.
const WRONG_KEY: &str = r#"{"error":{"message":"Incorrect API key provided","type":"authentication_error","code":"invalid_api_key","param":null}}"#;

fn workflow(of_one: &str, of_two: &str) -> String {
    format!(
        "version: 1\nname: two\ndefaults: {{ model: modelb-video-480p, seconds: 1, size: 480x480 }}\nshots:\n  \
         - {{ id: one, prompt: a quiet sea{of_one} }}\n  - {{ id: two, prompt: a loud sea{of_two} }}\n"
    )
}

fn in_progress(task: &str) -> String {
    format!(r#"{{"id":"{task}","object":"video","status":"in_progress"}}"#)
}

fn polled_task<'a>(call: &Call<'a>) -> Option<&'a str> {
    call.path.strip_prefix("/v1/videos/").filter(|rest| !rest.is_empty() && !rest.contains('/'))
}

/// An attempt that was refused, or whose task failed, is no record of the video that a later attempt has brought.
#[test]
fn refused_or_failed_attempt_is_no_record_of_a_later_video() {
    for (outcome, exit) in [("refused", 5), ("failed", 1)] {
        let service = ScriptedService::start(move |call| match outcome {
            "refused" => (call.path == "/v1/videos" && call.nth == 1).then(|| response(401, JSON, WRONG_KEY)),
            _ => (polled_task(call)? == task_id(1)).then(|| {
                let failed = r#""status":"failed","error":{"code":"internal_error","message":"no"}"#;
                response(200, JSON, format!(r#"{{"id":"{}","object":"video",{failed}}}"#, task_id(1)))
            }),
        });
        let project = Project::new("two.yaml", &workflow("", "")).against(&service.url, KEY);
        project.runner(&["run", "two.yaml", "--only", "one"]).expect(exit);
        let backup = back_up(&project);
        project.runner(&["run", "two.yaml"]).expect(0);
        let videos = shots(&project, "two");
        restore(&project, &backup);
        let planned = project.runner(&["plan", "two.yaml"]).expect(0);
        assert_eq!(
            planned.out.matches("is its video, and the ledger does not know it").count(),
            2,
            "{outcome}"
        );
        project.runner(&["run", "two.yaml"]).expect(3);
        assert_eq!(service.posts(), 3, "{outcome}");
        project.runner(&["ledger", "adopt", "two.yaml"]).expect(0);
        project.runner(&["run", "two.yaml"]).expect(0);
        assert_eq!((service.posts(), shots(&project, "two")), (3, videos), "{outcome}");
    }
}

/// The key of a chained shot is known only once the shot before it is done, in the middle of a run.
#[test]
fn video_of_a_chained_shot_is_noticed_once_it_has_a_key() {
    let is_done = Arc::new(AtomicBool::new(false));
    let done = Arc::clone(&is_done);
    let service = ScriptedService::start(move |call| {
        let task = polled_task(call).filter(|_| !done.load(Ordering::Relaxed))?;
        Some(response(200, JSON, in_progress(task)))
    });
    let text = workflow(", timeout: 2s", ", continues: one");
    let project = Project::new("two.yaml", &text).against(&service.url, KEY);
    project.runner(&["run", "two.yaml"]).expect(3);
    // The next runs have as much time as they need.
    fs_err::write(project.file("two.yaml"), workflow("", ", continues: one")).expect("a writable folder");
    let backup = back_up(&project);
    is_done.store(true, Ordering::Relaxed);
    project.runner(&["run", "two.yaml"]).expect(0);
    let videos = shots(&project, "two");
    restore(&project, &backup);
    cli_snapshot!("plan_video_of_chained_shot_unknown", project.runner(&["plan", "two.yaml"]).expect(0));
    let stopped = project.runner(&["run", "two.yaml"]).expect(3);
    cli_snapshot!("run_video_of_chained_shot_unknown", stopped.sorted());
    assert_eq!(service.posts(), 2);
    // Every command says what the run has said.
    cli_snapshot!("status_video_of_chained_shot_unknown", project.runner(&["status", "two.yaml"]).expect(3));
    let report = |format: &str| project.runner(&["report", "two.yaml", "--format", format]).expect(0);
    let markdown = report("md").out;
    let (_, action) = markdown.split_once("## Action needed").expect("an action");
    inline_snapshot!(action.trim(), @r"
    - **two** (unrecorded): out/two/two-[KEY].mp4 is its video, and the ledger does not know it: \`runner ledger adopt two.yaml\`
      `runner ledger adopt two.yaml`
    ");
    let junit = report("junit").out;
    let failure = junit.lines().map(str::trim).filter(|line| line.starts_with("<failure"));
    inline_snapshot!(failure.collect::<Vec<_>>().join("\n"), @r#"<failure type="unrecorded" message="out/two/two-[KEY].mp4 is its video, and the ledger does not know it: `runner ledger adopt two.yaml`"/>"#);
    project.runner(&["ledger", "adopt", "two.yaml"]).expect(0);
    project.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!((service.posts(), shots(&project, "two")), (2, videos));

    restore(&project, &backup);
    project.runner(&["run", "two.yaml", "--force"]).expect(0);
    assert_eq!(service.posts(), 3, "the user has decided");
}

/// A task that is in flight in the backup fails, and its shot would be submitted again by its `retry`: it was, and its video is there.
#[test]
fn video_of_a_retry_is_noticed_before_the_retry_is_repeated() {
    let has_failed = Arc::new(AtomicBool::new(false));
    let shared = Arc::clone(&has_failed);
    let service = ScriptedService::start(move |call| {
        let task = polled_task(call).filter(|task| *task == task_id(1))?;
        let failed = r#"{"id":"ID","object":"video","status":"failed","error":{"code":"internal_error","message":"no"}}"#;
        let failed = failed.replace("ID", task);
        Some(response(200, JSON, if shared.load(Ordering::Relaxed) { failed } else { in_progress(task) }))
    });
    let text = workflow(", timeout: 2s, retry: 2", "");
    let project = Project::new("two.yaml", &text).against(&service.url, KEY);
    let only = ["run", "two.yaml", "--only", "one"];
    project.runner(&only).expect(3);
    // The next runs have as much time as they need.
    fs_err::write(project.file("two.yaml"), workflow(", retry: 2", "")).expect("a writable folder");
    let backup = back_up(&project);
    has_failed.store(true, Ordering::Relaxed);
    project.runner(&only).expect(0);
    restore(&project, &backup);
    project.runner(&only).expect(3);
    assert_eq!(service.posts(), 2);
    let status = project.runner(&["status", "two.yaml"]).expect(3).out;
    let (_, action) = status.split_once("action needed:").expect("an action");
    inline_snapshot!(action.lines().nth(1).unwrap_or_default().trim(), @"one: its video is there, and the ledger does not know it; `runner ledger adopt two.yaml` records it");
    project.runner(&["ledger", "adopt", "two.yaml"]).expect(0);
    project.runner(&only).expect(0);
    assert_eq!(service.posts(), 2);
}

/// A response that leaves it open whether a submission was accepted, and comes after the ledger has gone.
#[cfg(unix)]
#[test]
fn indeterminate_submission_is_named_where_the_ledger_is_gone() {
    let is_gone = Arc::new(AtomicBool::new(false));
    let gone = Arc::clone(&is_gone);
    let service = ScriptedService::start(move |call| {
        if call.path != "/v1/videos" || call.nth != 1 {
            return None;
        }
        wait_until("the ledger is gone", || gone.load(Ordering::Relaxed));
        let error = r#"{"error":{"message":"internal error","type":"server_error","code":null,"param":null},"task_id":"task_888888"}"#;
        Some(response(500, JSON, error))
    });
    // Its slot is held for its timeout. Then the next shot is to be submitted.
    let project = Project::new("two.yaml", &workflow(", timeout: 2s", "")).against(&service.url, KEY);
    let run = project
        .command(&["run", "two.yaml", "--jobs", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    wait_until("it is submitted", || service.posts() == 1);
    remove_ledger(&project);
    is_gone.store(true, Ordering::Relaxed);
    let output = Output::from_process(&run.wait_with_output().expect("it ends")).expect(5);
    assert!(output.err.contains("--task one=task_888888"), "{}", output.transcript());
    assert_eq!(service.posts(), 1);
    cli_snapshot!("run_ledger_removed_indeterminate", output.sorted());
}
