//! Responses that look like refusals, tasks or proofs and are none: nothing is paid for twice, and nothing that is paid for is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::project_state::{remove_ledger, shots};
use crate::support::scripted::{Call, ScriptedService, clip_of, response, task_id, truncated_response};
use crate::support::{Output, Project, cli_snapshot, inline_snapshot, wait_until};

const ONE: &str = "version: 1\nname: one\ndefaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }\nshots:\n  \
    - { id: lamp, prompt: a quiet sea, retry: { attempts: 3 } }\n";

fn against(service: &ScriptedService) -> Project {
    Project::new("one.yaml", ONE).against(&service.url, "sk-test-0123456789abcdef")
}

fn is_post(call: &Call<'_>) -> bool {
    call.path == "/v1/videos"
}

/// A service that accepts the first submission and answers it with an error: each of the next would be paid for as well.
fn accepting_with(status: u16, headers: &'static [(&str, &str)], body: &'static str) -> ScriptedService {
    ScriptedService::start(move |call| {
        (is_post(call) && call.nth == 1).then(|| response(status, headers, body))
    })
}

#[test]
fn error_with_an_id_where_ids_stand_is_not_a_refusal() {
    for (status, body) in [
        (
            503,
            r#"{"error":{"message":"timeout waiting","type":"server_error","code":"timeout"},"task_id":"t1"}"#,
        ),
        (429, r#"{"error":{"message":"slow down","type":"rate_limit_error"},"id":"t1"}"#),
        (400, r#"{"error":{"message":"no","type":"invalid_request_error"},"data":{"task_id":"t1"}}"#),
    ] {
        let service = accepting_with(status, &[], body);
        let project = against(&service);
        let run = project.runner(&["run", "one.yaml", "--max-tasks", "1"]).expect(3);
        assert_eq!(service.posts(), 1, "{status} {body}: {}", run.transcript());
        // The command that is printed works: the task is the one that the response names.
        project.runner(&["resolve", "one.yaml", "lamp", "--adopt", "t1"]).expect(0);
        project.runner(&["run", "one.yaml"]).expect(0);
        assert_eq!((service.posts(), shots(&project, "one").len()), (1, 1), "{status} {body}");
    }
}

/// It may have accepted the same request before, and names its task in words.
#[test]
fn refusal_as_a_duplicate_is_not_paid_for_again() {
    let refuse = |message: &'static str| {
        ScriptedService::start(move |call| {
            let error = format!(r#"{{"error":{{"message":"{message}","type":"invalid_request_error"}}}}"#);
            (is_post(call) && call.nth == 1).then(|| response(400, &[], error))
        })
    };
    let service = refuse("duplicate of cgt-20261128142319-x7k2p");
    let project = against(&service);
    cli_snapshot!("run_refused_as_a_duplicate", project.runner(&["run", "one.yaml"]).expect(3));
    project.runner(&["run", "one.yaml"]).expect(3);
    assert_eq!(service.posts(), 1);
    // The word is one of the request: a new task has a new one.
    let service = refuse("a video called vid8f120077 already exists");
    let text = ONE.replace("a quiet sea", "on video vid8f120077");
    let project = Project::new("one.yaml", &text).against(&service.url, "sk-test-0123456789abcdef");
    project.runner(&["run", "one.yaml"]).expect(1);
    project.runner(&["run", "one.yaml"]).expect(0);
    assert_eq!((service.posts(), shots(&project, "one").len()), (2, 1));
}

#[test]
fn error_that_only_resembles_the_services_is_not_a_refusal() {
    for (status, body) in [
        (503, r#"{"error":{"message":"upstream reset before headers"}}"#),
        (503, r#"{"error":{"message":"Bad gateway","code":503,"status":"UNAVAILABLE"}}"#),
        (404, r#"{"error":{"message":"Not Found"}}"#),
        (400, r#"{"error":{"message":"Bad Request"}}"#),
    ] {
        let service = accepting_with(status, &[], body);
        let project = against(&service);
        project.runner(&["run", "one.yaml"]);
        let next_run = project.runner(&["run", "one.yaml"]).expect(3);
        assert_eq!(service.posts(), 1, "{status} {body}: {}", next_run.transcript());
    }
    let service = accepting_with(503, &[], r#"{"error":{"message":"upstream reset before headers"}}"#);
    let project = against(&service);
    cli_snapshot!("run_503_of_gateway", project.runner(&["run", "one.yaml"]).expect(3));
    cli_snapshot!("run_503_of_gateway_again", project.runner(&["run", "one.yaml"]).expect(3));
}

/// A wrong address: every shot would have to be resolved by hand.
#[test]
fn run_stops_where_another_server_answers() {
    for (status, headers, body) in [
        (200, &[("content-type", "text/html")][..], "<!doctype html><title>Welcome</title>"),
        (200, &[], r#"{"ok":true}"#),
        (202, &[("location", "/v1/videos/t1")], ""),
        (301, &[("location", "https://www.example.com/")], ""),
        (405, &[], "<html>405 Not Allowed</html>"),
        (407, &[], "proxy authentication required"),
    ] {
        let service =
            ScriptedService::start(move |call| is_post(call).then(|| response(status, headers, body)));
        let shots = "matrix: { n: { from: 1, to: 9 } }, prompt: \"sea {{ n }}\"";
        let text = ONE.replace("prompt: a quiet sea", shots);
        let project = Project::new("one.yaml", &text).against(&service.url, "sk-test-0123456789abcdef");
        let run = project.runner(&["run", "one.yaml", "--jobs", "1"]).expect(5);
        assert_eq!(service.posts(), 1, "{status} {body}: {}", run.transcript());
    }
}

/// What is missing may say that it is none of the service's own.
#[test]
fn error_whose_connection_breaks_is_not_a_refusal() {
    for (status, body) in [
        (503, r#"{"error":{"message":"overloaded","type":"server_error"}}"#),
        (400, r#"{"error":{"message":"no","type":"invalid_request_error"}}"#),
    ] {
        let service = ScriptedService::start(move |call| {
            (is_post(call) && call.nth == 1).then(|| truncated_response(status, body))
        });
        let project = against(&service);
        let run = project.runner(&["run", "one.yaml"]).expect(3);
        assert_eq!(service.posts(), 1, "{status} {body}: {}", run.transcript());
        project.runner(&["run", "one.yaml"]).expect(3);
        assert_eq!(service.posts(), 1, "{status} {body}");
    }
}

#[test]
fn poll_response_that_is_not_about_the_task_decides_nothing() {
    for (status, body) in [
        (200, r#"{"status":"failed","message":"gateway timeout"}"#),
        (200, r#"{"status":"FAILED","code":504}"#),
        (200, r#"{"data":{"status":"failed"}}"#),
        (403, "<html>Cloudflare</html>"),
        (401, "session expired"),
        (404, r#"{"error":{"message":"Not Found"}}"#),
        (410, r#"{"error":{"message":"Gone"}}"#),
    ] {
        let path = format!("/v1/videos/{}", task_id(1));
        let service = ScriptedService::start(move |call| {
            (call.path == path && call.nth <= 2).then(|| response(status, &[], body))
        });
        let project = against(&service);
        let run = project.runner(&["run", "one.yaml"]).expect(0);
        assert_eq!(service.posts(), 1, "{status} {body}: {}", run.transcript());
    }
}

#[test]
fn video_that_a_gateway_cannot_find_is_not_paid_for_again() {
    let service = ScriptedService::start(|call| {
        let is_video = call.path.starts_with("/files/") || call.path.ends_with("/content");
        (is_video && call.nth <= 3).then(|| response(404, &[], "<html>404 Not Found nginx</html>"))
    });
    let text = ONE.replace("{ attempts: 3 }", "{ attempts: 3, on: [expired] }");
    let project = Project::new("one.yaml", &text).against(&service.url, "sk-test-0123456789abcdef");
    for _ in 0..3 {
        if project.runner(&["run", "one.yaml"]).code == Some(0) {
            break;
        }
    }
    assert_eq!((service.posts(), shots(&project, "one").len()), (1, 1));
}

/// Such ids are one in 64 of those in Base64 with the alphabet of URLs.
#[test]
fn command_for_a_task_id_that_begins_with_a_dash_can_be_pasted() {
    let service =
        accepting_with(500, &[], r#"{"error":{"message":"lost","type":"server_error"},"id":"-abc"}"#);
    let project = against(&service);
    let run = project.runner(&["run", "one.yaml"]).expect(3);
    let command = run.err.split('`').find(|words| words.contains("--adopt")).expect("a command is printed");
    let words: Vec<&str> = command.split_whitespace().skip(1).collect();
    assert_eq!(words.last(), Some(&"--adopt=-abc"));
    project.runner(&words).expect(0);
    project.runner(&["run", "one.yaml"]).expect(0);
    assert_eq!(service.posts(), 1);
}

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

/// A page or nothing in the place of the video, with a success status: it says nothing about the video.
#[test]
fn page_in_place_of_a_video_is_not_corrupt() {
    for body in ["<!doctype html><title>Sign in</title>", "", "try again later"] {
        let service = ScriptedService::start(move |call| {
            let is_video = call.path.starts_with("/files/") || call.path.ends_with("/content");
            is_video.then(|| response(200, &[], body))
        });
        let text = ONE.replace("{ attempts: 3 }", "{ attempts: 3, on: [corrupt, expired] }");
        let project = Project::new("one.yaml", &text).against(&service.url, "sk-test-0123456789abcdef");
        let run = project.runner(&["run", "one.yaml"]).expect(3);
        assert_eq!(service.posts(), 1, "{body}: {}", run.transcript());
    }
}

/// The replacement is refused: the task that it would have replaced is known again, and its video is downloaded.
#[test]
fn task_whose_replacement_is_refused_is_polled_again() {
    let is_gone = Arc::new(AtomicBool::new(true));
    let shared = Arc::clone(&is_gone);
    let service = ScriptedService::start(move |call| {
        if is_post(call) {
            let body = r#"{"error":{"message":"no credit","type":"billing_error"}}"#;
            return (call.nth == 2).then(|| response(402, &[], body));
        }
        let body = r#"{"error":{"message":"gone","type":"invalid_request_error"}}"#;
        let is_poll = call.path == format!("/v1/videos/{}", task_id(1));
        (is_poll && shared.load(Ordering::Relaxed)).then(|| response(410, &[], body))
    });
    let text = ONE.replace("{ attempts: 3 }", "{ attempts: 2, on: [expired] }");
    let project = Project::new("one.yaml", &text).against(&service.url, "sk-test-0123456789abcdef");
    project.runner(&["run", "one.yaml"]).expect(5);
    assert_eq!(service.posts(), 2, "one was accepted, and one refused");
    is_gone.store(false, Ordering::Relaxed);
    let run = project.runner(&["run", "one.yaml"]).expect(0);
    assert_eq!((service.posts(), shots(&project, "one").len()), (2, 1), "{}", run.transcript());
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
    cli_snapshot!("clean_task_that_was_replaced", project.runner(&["clean", "one.yaml", "--paid"]).expect(0));

    // Both are adopted from their sidecars, the one that is used among them.
    fs_err::remove_dir_all(project.file(".runner/runs")).ok();
    for file in ["ledger.db", "ledger.db-wal", "ledger.db-shm"] {
        fs_err::remove_file(project.file(".runner").join(file)).ok();
    }
    project.runner(&["ledger", "adopt", "one.yaml"]).expect(0);
    project.runner(&["run", "one.yaml"]).expect(0);
    assert_eq!(service.posts(), 2);
}

/// The record says by then that its video is there.
#[test]
fn replaced_task_that_is_named_twice_is_fetched_once() {
    let (project, service) = with_a_replaced_task(|_| None);
    let task = task_id(1);
    let fetched = project.runner(&["ledger", "fetch", &task, &task]).expect(0);
    assert_eq!(fetched.out.lines().count(), 1, "{}", fetched.transcript());
    let replaced = |shot: &&(String, std::path::PathBuf)| shot.1.to_string_lossy().contains(".replaced-");
    assert_eq!(shots(&project, "one").iter().filter(replaced).count(), 0);
    assert_eq!((service.posts(), shots(&project, "one").len()), (2, 2));
}

/// A run gives the task up while `fetch` downloads its video, and pays for another one.
#[test]
fn task_that_is_replaced_during_its_fetch_is_recorded_beside_the_shots_video() {
    let (is_broken, is_held) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicBool::new(false)));
    let (shared_broken, shared_held, first) = (Arc::clone(&is_broken), Arc::clone(&is_held), task_id(1));
    let path = format!("/files/{first}.mp4");
    let service = ScriptedService::start(move |call| {
        let is_video = call.path.contains("/files/") || call.path.ends_with("/content");
        let damaged = "\0\0\0\u{18}ftypisom\0\0\u{2}\0isomiso2\0\0\0\u{8}moov";
        if !is_video || !call.path.contains(&first) {
            return None;
        }
        if shared_broken.load(Ordering::Relaxed) {
            return Some(response(200, &[], damaged));
        }
        // A download that had begun would be given up as too slow after some seconds.
        tokio::task::block_in_place(|| {
            wait_until("the run has ended", || !shared_held.load(Ordering::Relaxed));
        });
        Some(response(200, &[("content-type", "video/mp4")], clip_of(&first)))
    });
    let text = ONE.replace("{ attempts: 3 }", "{ attempts: 2, on: [corrupt] }");
    let project = Project::new("one.yaml", &text).against(&service.url, "sk-test-0123456789abcdef");
    project.runner(&["run", "one.yaml", "--max-tasks", "1"]).expect(4);
    let before = service.gets(&path);
    is_held.store(true, Ordering::Relaxed);
    is_broken.store(false, Ordering::Relaxed);
    std::thread::scope(|scope| {
        let fetching = scope.spawn(|| project.runner(&["ledger", "fetch", &task_id(1)]));
        wait_until("the video is asked for", || service.gets(&path) > before);
        is_broken.store(true, Ordering::Relaxed);
        project.runner(&["run", "one.yaml"]).expect(0);
        is_held.store(false, Ordering::Relaxed);
        fetching.join().expect("no panic").expect(0);
    });
    assert_eq!(service.posts(), 2);
    // The shot's video, and the other one under its own name and under the one that it had for a moment.
    let names: Vec<String> =
        shots(&project, "one").into_iter().map(|(_, path)| path.display().to_string()).collect();
    let replaced = names.iter().filter(|name| name.contains(".replaced-")).count();
    assert_eq!((names.len(), replaced), (3, 1), "{names:?}");
    // The run takes the name back for the shot's video.
    project.runner(&["run", "one.yaml"]).expect(0);
    assert_eq!((service.posts(), shots(&project, "one").len()), (2, 4));
    // Without the ledger, the shot's video is the one that it had.
    remove_ledger(&project);
    let sidecars =
        fs_err::read_dir(project.file(".runner/artifacts")).expect("a folder").filter_map(Result::ok);
    let sidecars = sidecars.filter(|entry| entry.path().extension().is_some_and(|end| end == "json"));
    assert_eq!(sidecars.count(), 2, "one for each video");
    let adopted = project.runner(&["ledger", "adopt", "one.yaml"]).expect(0);
    let named = adopted.out.replace(&task_id(1), "[TASK 1]").replace(&task_id(2), "[TASK 2]");
    cli_snapshot!("adopt_after_a_replaced_task", Output { out: named, ..adopted });
    project.runner(&["run", "one.yaml"]).expect(0);
    assert_eq!(service.posts(), 2);
}

/// The submission in its place was abandoned, before or after: the video is that of the shot.
#[test]
fn video_of_a_replaced_task_is_used_where_its_replacement_is_abandoned() {
    for is_fetched_first in [true, false] {
        let (project, service) = with_a_replaced_task(|call| {
            (is_post(call) && call.nth == 2).then(|| response(500, &[], "<html>an error</html>"))
        });
        // The attempt's id, because its shot has two submissions that can be abandoned.
        let open = project.runner(&["resolve", "one.yaml"]).expect(3).out;
        let attempt =
            open.lines().nth(1).and_then(|line| line.split_whitespace().next()).expect("one is open");
        let mut commands =
            [&["ledger", "fetch", "--all"][..], &["resolve", "one.yaml", attempt, "--abandon"]];
        if !is_fetched_first {
            commands.reverse();
        }
        for command in commands {
            project.runner(command).expect(0);
        }
        for _ in 0..2 {
            let run = project.runner(&["run", "one.yaml"]).expect(0);
            assert_eq!((service.posts(), shots(&project, "one").len()), (2, 2), "{}", run.transcript());
        }
    }
}

/// The submission in its place was never accepted: the video is that of the shot.
#[test]
fn video_of_a_replaced_task_is_used_where_its_replacement_came_to_nothing() {
    let (project, service) = with_a_replaced_task(|call| {
        (is_post(call) && call.nth == 2).then(|| response(500, &[], "<html>an error</html>"))
    });
    cli_snapshot!(
        "fetch_task_whose_replacement_is_open",
        project.runner(&["ledger", "fetch", "--all"]).expect(0)
    );
    project.runner(&["resolve", "one.yaml", "lamp", "--resubmit"]).expect(0);
    let run = project.runner(&["run", "one.yaml"]).expect(0);
    assert_eq!((service.posts(), shots(&project, "one").len()), (2, 2), "{}", run.transcript());
    project.runner(&["status", "one.yaml"]).expect(0);
    // Its sidecar is of a time when it was not.
    remove_ledger(&project);
    project.runner(&["ledger", "adopt", "one.yaml"]).expect(0);
    let run = project.runner(&["run", "one.yaml"]).expect(0);
    assert_eq!(service.posts(), 2, "{}", run.transcript());
}

/// A project whose first task was damaged, so that a `retry` replaced it, and is whole by now. `script` answers what else it wants to.
fn with_a_replaced_task(
    script: impl Fn(&Call<'_>) -> Option<axum::response::Response> + Send + Sync + 'static,
) -> (Project, ScriptedService) {
    let is_broken = Arc::new(AtomicBool::new(true));
    let (shared, first) = (Arc::clone(&is_broken), task_id(1));
    let service = ScriptedService::start(move |call| {
        let is_video = call.path.contains("/files/") || call.path.ends_with("/content");
        let is_damaged = is_video && call.path.contains(&first) && shared.load(Ordering::Relaxed);
        let damaged = "\0\0\0\u{18}ftypisom\0\0\u{2}\0isomiso2\0\0\0\u{8}moov";
        if is_damaged { Some(response(200, &[], damaged)) } else { script(call) }
    });
    let text = ONE.replace("{ attempts: 3 }", "{ attempts: 2, on: [corrupt] }");
    let project = Project::new("one.yaml", &text).against(&service.url, "sk-test-0123456789abcdef");
    project.runner(&["run", "one.yaml"]);
    is_broken.store(false, Ordering::Relaxed);
    (project, service)
}

/// It is closed where it never does, and its cost stays spent.
#[test]
fn task_that_was_replaced_is_closed_when_it_never_comes_back() {
    let first = Arc::new(std::sync::OnceLock::<String>::new());
    let service = ScriptedService::start(move |call| {
        let task = call.path.strip_prefix("/v1/videos/")?.split('/').next()?.to_owned();
        let error =
            r#"{"error":{"code":"task_not_found","message":"no such task","type":"invalid_request_error"}}"#;
        (*first.get_or_init(|| task.clone()) == task).then(|| response(410, &[], error))
    });
    let text = ONE.replace("{ attempts: 3 }", "{ attempts: 2, on: [expired] }");
    let project = Project::new("one.yaml", &text).against(&service.url, "sk-test-0123456789abcdef");
    project.runner(&["run", "one.yaml"]).expect(0);
    let closed = project.runner(&["resolve", "one.yaml", "lamp", "--abandon"]).expect(0);
    cli_snapshot!("resolve_task_that_was_replaced", closed);
    let status = project.runner(&["status", "one.yaml"]).expect(0);
    inline_snapshot!(status.out.lines().last().unwrap_or_default(), @"total: 0 tasks, 0 s of video reserved; 2 tasks, 2 s of video spent");
    // It is there after all.
    let attempt = closed.out.split(':').next().expect("its id").to_owned();
    let adopt = ["resolve", "one.yaml", &attempt, "--adopt", &task_id(1), "--no-verify"];
    cli_snapshot!("resolve_adopt_of_a_replaced_task", project.runner(&adopt).expect(0));
    project.runner(&["status", "one.yaml"]).expect(3);
    project.runner(&["resolve", "one.yaml", &attempt, "--abandon"]).expect(0);
    project.runner(&["run", "one.yaml"]).expect(0);
    assert_eq!((service.posts(), shots(&project, "one").len()), (2, 1));
}

/// The id that the service does not know is not the task's: a single 404 proves nothing.
#[test]
fn submission_with_two_ids_is_not_paid_for_again() {
    let service = ScriptedService::start(|call| {
        let gone = r#"{"error":{"message":"no such task","type":"invalid_request_error"}}"#;
        let body = r#"{"id":"req-1","task_id":"task_1","status":"queued"}"#;
        match call.path {
            "/v1/videos" => Some(response(200, &[], body)),
            "/v1/videos/req-1" => Some(response(404, &[], gone)),
            _ => None,
        }
    });
    let text = ONE.replace("{ attempts: 3 }", "{ attempts: 3, on: [expired] }");
    let project = Project::new("one.yaml", &text).against(&service.url, "sk-test-0123456789abcdef");
    // As where something else than the service answers, the run ends: each submission would need a decision.
    cli_snapshot!("run_submission_with_two_ids", project.runner(&["run", "one.yaml"]).expect(5));
    assert_eq!(service.posts(), 1);
    project.runner(&["resolve", "one.yaml", "lamp", "--adopt", "task_1"]).expect(0);
    project.runner(&["run", "one.yaml"]).expect(0);
    assert_eq!((service.posts(), shots(&project, "one").len()), (1, 1));
}

/// None is suggested: the next command would adopt a task that may be another's.
#[test]
fn submission_with_several_ids_suggests_none() {
    for body in [
        r#"{"id":"req-1","status":"success","data":{"id":"t1","object":"video","status":"queued"}}"#,
        r#"{"id":"t2","task_id":"t1","status":"queued"}"#,
    ] {
        let service = accepting_with(200, &[], body);
        let project = against(&service);
        let run = project.runner(&["run", "one.yaml"]).expect(5);
        assert!(
            !run.transcript().contains("--adopt t") && run.transcript().contains("--adopt TASK"),
            "{body}"
        );
        project.runner(&["resolve", "one.yaml", "lamp", "--adopt", "t1"]).expect(0);
        project.runner(&["run", "one.yaml"]).expect(0);
        assert_eq!((service.posts(), shots(&project, "one").len()), (1, 1), "{body}");
    }
}

/// The only task, which has never answered: its id may be that of something else.
#[test]
fn task_that_has_never_answered_is_missing_and_not_paid_for_again() {
    let path = format!("/v1/videos/{}", task_id(1));
    let service = ScriptedService::start(move |call| {
        let gone = r#"{"error":{"message":"no such task","type":"invalid_request_error"}}"#;
        (call.path == path).then(|| response(404, &[], gone))
    });
    let text = ONE.replace("{ attempts: 3 }", "{ attempts: 3, on: [expired] }");
    let project = Project::new("one.yaml", &text).against(&service.url, "sk-test-0123456789abcdef");
    let run = project.runner(&["run", "one.yaml"]).expect(3);
    assert_eq!(service.posts(), 1, "{}", run.transcript());
}

/// Whatever its body and headers are.
#[test]
fn submission_refused_with_429_is_repeated() {
    let in_words = r#"{"error":{"message":"lost contact with task t17","type":"rate_limit_error"}}"#;
    for (headers, body) in [
        (&[("content-encoding", "gzip")][..], &b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xabV\xcaLQ\xb2"[..]),
        (&[("x-task-type", "text2video"), ("location", "/v1/videos/t1")], b"<html>Too Many Requests</html>"),
        (&[], in_words.as_bytes()),
        (&[], b""),
    ] {
        let service = ScriptedService::start(move |call| {
            (is_post(call) && call.nth == 1).then(|| response(429, headers, body))
        });
        let project = against(&service);
        project.runner(&["run", "one.yaml"]).expect(0);
        assert_eq!((service.posts(), shots(&project, "one").len()), (2, 1), "{headers:?}");
    }
}
