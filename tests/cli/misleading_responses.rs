//! Responses that look like refusals, tasks or proofs and are none: nothing is paid for twice, and nothing that is paid for is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::project_state::shots;
use crate::support::scripted::{ScriptedService, response, task_id};
use crate::support::{Project, cli_snapshot};

const ONE: &str = "version: 1\nname: one\ndefaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }\nshots:\n  \
    - { id: lamp, prompt: a quiet sea, retry: { attempts: 3 } }\n";

#[test]
fn status_that_the_contract_does_not_define_is_named() {
    let path = format!("/v1/videos/{}", task_id(1));
    let service = ScriptedService::start(move |call| {
        let body = format!(r#"{{"id":"{}","object":"video","status":"SUCCEEDED"}}"#, task_id(1));
        (call.path == path).then(|| response(200, &[], body))
    });
    // Longer than a first poll takes on a busy machine: what it says is reported while the task is waited for.
    let text = ONE.replace("retry: { attempts: 3 }", "timeout: 3s");
    let project = Project::new("one.yaml", &text).against(&service.url, "sk-test-0123456789abcdef");
    cli_snapshot!("run_undefined_status", project.runner(&["run", "one.yaml"]).expect(3));
}

/// A page in the place of the video, with a success status: it says nothing about the video.
#[test]
fn page_in_place_of_a_video_is_not_corrupt() {
    let service = ScriptedService::start(|call| {
        let is_video = call.path.starts_with("/files/") || call.path.ends_with("/content");
        is_video.then(|| response(200, &[], "<!doctype html><title>Sign in</title>"))
    });
    let text = ONE.replace("{ attempts: 3 }", "{ attempts: 3, on: [corrupt, expired] }");
    let project = Project::new("one.yaml", &text).against(&service.url, "sk-test-0123456789abcdef");
    let run = project.runner(&["run", "one.yaml"]).expect(3);
    assert_eq!(service.posts(), 1, "{}", run.transcript());
}

/// The service has the video after all; the cap stops the submission that would have replaced its task.
#[test]
fn task_without_a_replacement_is_polled_before_another_is_paid_for() {
    let is_broken = Arc::new(AtomicBool::new(true));
    let shared = Arc::clone(&is_broken);
    let service = ScriptedService::start(move |call| {
        let is_video = call.path.starts_with("/files/") || call.path.ends_with("/content");
        let damaged = "\0\0\0\u{18}ftypisom\0\0\u{2}\0isomiso2\0\0\0\u{8}moov";
        (is_video && shared.load(Ordering::Relaxed)).then(|| response(200, &[], damaged))
    });
    let text = ONE.replace("{ attempts: 3 }", "{ attempts: 2, on: [corrupt] }");
    let project = Project::new("one.yaml", &text).against(&service.url, "sk-test-0123456789abcdef");
    project.runner(&["run", "one.yaml", "--max-tasks", "1"]).expect(4);
    is_broken.store(false, Ordering::Relaxed);
    let planned = project.runner(&["plan", "one.yaml"]).expect(0);
    cli_snapshot!("plan_task_without_replacement", planned);
    let run = project.runner(&["run", "one.yaml"]).expect(0);
    assert_eq!((service.posts(), shots(&project, "one").len()), (1, 1), "{}", run.transcript());
}

/// The service has both videos in the end: that of the task that a `retry` gave up is fetched beside the one that is used.
#[test]
fn task_that_was_replaced_is_listed_and_fetched_when_it_comes_back() {
    let is_gone = Arc::new(AtomicBool::new(true));
    let (shared, first) = (Arc::clone(&is_gone), Arc::new(std::sync::OnceLock::<String>::new()));
    let service = ScriptedService::start(move |call| {
        let task = call.path.strip_prefix("/v1/videos/")?.split('/').next()?.to_owned();
        let error =
            r#"{"error":{"code":"task_not_found","message":"no such task","type":"invalid_request_error"}}"#;
        let is_first = *first.get_or_init(|| task.clone()) == task;
        (is_first && shared.load(Ordering::Relaxed)).then(|| response(410, &[], error))
    });
    let text = ONE.replace("{ attempts: 3 }", "{ attempts: 2, on: [expired] }");
    let project = Project::new("one.yaml", &text).against(&service.url, "sk-test-0123456789abcdef");
    let run = project.runner(&["run", "one.yaml"]).expect(0);
    assert_eq!((service.posts(), shots(&project, "one").len()), (2, 1), "{}", run.transcript());
    cli_snapshot!(
        "status_task_that_was_replaced",
        project.runner(&["status", "one.yaml"]).expect(3).action_needed()
    );
    cli_snapshot!(
        "fetch_task_that_was_replaced_and_is_gone",
        project.runner(&["ledger", "fetch", "--all"]).expect(0)
    );

    is_gone.store(false, Ordering::Relaxed);
    cli_snapshot!("fetch_task_that_was_replaced", project.runner(&["ledger", "fetch", "--all"]).expect(0));
    project.runner(&["status", "one.yaml"]).expect(0);
    assert_eq!(shots(&project, "one").len(), 2);
    project.runner(&["run", "one.yaml"]).expect(0);
    assert_eq!(service.posts(), 2);
}
