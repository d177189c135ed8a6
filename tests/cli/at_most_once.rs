//! Misbehaving services, wrong keys and concurrent runs: no shot is submitted twice.

use service::FaultProfile;

use crate::support::proxy::{KEY, RecordingProxy, ResponseFault};
use crate::support::scripted::{ScriptedService, response, task_id};
use crate::support::{Project, cli_snapshot};

const TWO: &str = r"version: 1
name: two
defaults:
  model: modelb-video-480p
  seconds: 1
shots:
  - id: one
    prompt: a quiet sea
  - id: two
    prompt: a loud sea
";

#[test]
fn indeterminate_submission_is_held_reported_and_resolved() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let proxy = RecordingProxy::losing_first(folder.path().join("service"), "a quiet sea");
    let project = Project::new("two.yaml", TWO).against(&proxy.url, KEY);

    let first = project.runner(&["run", "two.yaml"]).expect(3);
    cli_snapshot!("run_indeterminate", first.sorted());
    assert_eq!(proxy.posts().len(), 2, "the other shot is made around it");

    let second = project.runner(&["run", "two.yaml"]).expect(3);
    assert_eq!(proxy.posts().len(), 2, "it is not submitted again: {}", second.transcript());

    let list = project.runner(&["resolve", "two.yaml"]).expect(3);
    cli_snapshot!("resolve_list", list);
    let attempt =
        list.out.lines().nth(1).and_then(|line| line.split_whitespace().next()).expect("an attempt");
    let unknown = project.runner(&["resolve", "two.yaml", "no-such-attempt", "--resubmit"]).expect(2);
    cli_snapshot!("resolve_unknown_attempt", unknown);
    let planned = project.runner(&["plan", "two.yaml"]).expect(0);
    assert_eq!(planned.printed_commands(), [format!("runner resolve two.yaml {attempt}")].into());
    cli_snapshot!("plan_indeterminate", planned);
    let resolved = project.runner(&["resolve", "two.yaml", attempt, "--resubmit"]).expect(0);
    cli_snapshot!("resolve_resubmit", resolved);
    project.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!(proxy.posts().len(), 3);
    cli_snapshot!("resolve_nothing", project.runner(&["resolve", "two.yaml"]).expect(0));
}

/// The service accepts, fails to answer, and its error names the task.
#[test]
fn suggested_task_is_adopted_by_the_printed_command() {
    let task = task_id(77);
    let body = format!(r#"{{"task_id": "{task}", "error": {{"message": "an error inside"}}}}"#);
    let service = ScriptedService::start(move |call| {
        let is_first = call.path == "/v1/videos" && call.nth == 1;
        is_first.then(|| response(500, &[("content-type", "application/json")], body.clone()))
    });
    let first_shot = TWO.split("  - id: two").next().expect("the first shot");
    let project = Project::new("my two.yaml", first_shot).against(&service.url, KEY);
    cli_snapshot!("run_suggested_task", project.runner(&["run", "my two.yaml"]).expect(3));
    // A later run, which reads it from the ledger.
    let second = project.runner(&["run", "my two.yaml", "--format", "ndjson"]).expect(3);
    let is_reported = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        line["kind"] == "shot-finished" && line["outcome"]["suggested_task"] == task_id(77)
    };
    assert!(second.out.lines().any(is_reported), "{}", second.transcript());
    let adopt = format!(" --adopt {}", task_id(77));
    for command in ["status", "resolve"] {
        let list = project.runner(&[command, "my two.yaml"]).expect(3);
        let commands = list.printed_commands();
        let is_adoption = |command: &String| command.ends_with(&adopt);
        assert!(commands.len() == 1 && commands.iter().all(is_adoption), "{}", list.transcript());
        cli_snapshot!(format!("{command}_suggested_task"), list);
    }
    let planned = project.runner(&["plan", "my two.yaml"]).expect(0);
    let (_, command) = planned.out.split_once("`runner resolve 'my two.yaml' ").expect("a command");
    let command = command.split('`').next().expect("its end");
    let arguments: Vec<&str> = ["resolve", "my two.yaml"].into_iter().chain(command.split(' ')).collect();
    project.runner(&arguments).expect(0);
    project.runner(&["run", "my two.yaml"]).expect(0);
    assert_eq!(service.posts(), 1);
}

/// A wrong base URL: a gateway answers every path with a page.
#[test]
fn submit_to_another_server_stops_after_its_first_response() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let profile = r#"{"faults": [{"fault": {"kind": "error_response", "on": "create", "status": 404, "body": "html"}}]}"#;
    let profile = FaultProfile::from_json(profile).expect("a profile");
    let proxy = RecordingProxy::with_faults(folder.path().join("service"), profile);
    let project = Project::new("two.yaml", TWO).against(&proxy.url, KEY);
    let output = project.runner(&["run", "two.yaml", "--jobs", "1"]).expect(5);
    cli_snapshot!("run_other_server", output);
    assert_eq!(proxy.posts().len(), 1);
}

/// The user knows that a server error of this service means that nothing was accepted. What it may have cost counts against the caps.
#[test]
fn server_errors_are_repeated_where_the_user_says_so() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let faults = |times: usize| {
        let profile = format!(
            r#"{{"faults": [{{"fault": {{"kind": "error_response", "on": "create", "status": 502, "body": "html"}}, "times": {times}}}]}}"#
        );
        FaultProfile::from_json(&profile).expect("a profile")
    };
    let first_shot = TWO.split("  - id: two").next().expect("the first shot").to_owned();
    let run = |proxy: &RecordingProxy, policy: &str, tasks: &str| {
        let project = Project::new("two.yaml", &first_shot).against(&proxy.url, KEY);
        project.runner_with(("RUNNER_ON_SERVER_ERROR", policy), &["run", "two.yaml", "--max-tasks", tasks])
    };
    let proxy = RecordingProxy::with_faults(folder.path().join("two"), faults(2));
    cli_snapshot!("run_server_errors_repeated", run(&proxy, "retry", "3").expect(0));
    assert_eq!(proxy.posts().len(), 3);

    let proxy = RecordingProxy::with_faults(folder.path().join("capped"), faults(2));
    cli_snapshot!("run_server_errors_capped", run(&proxy, "retry", "2").expect(4));
    assert_eq!(proxy.posts().len(), 2);

    let proxy = RecordingProxy::with_faults(folder.path().join("held"), faults(2));
    run(&proxy, "indeterminate", "3").expect(3);
    assert_eq!(proxy.posts().len(), 1);
    cli_snapshot!("run_server_errors_policy_unknown", run(&proxy, "maybe", "3").expect(2));
    assert_eq!(proxy.posts().len(), 1);
}

/// A gateway that mixes up responses, or a service that begins to count again.
#[test]
fn task_id_answered_twice_leaves_one_shot_indeterminate() {
    let service = ScriptedService::start(|call| {
        let is_second = call.path == "/v1/videos" && call.nth == 2;
        let body = format!(
            r#"{{"id": "{}", "object": "video", "model": "modelb-video-480p", "status": "queued", "progress": 0, "created_at": 0, "seconds": "1"}}"#,
            task_id(1)
        );
        is_second.then(|| response(200, &[("content-type", "application/json")], body))
    });
    let project = Project::new("two.yaml", TWO).against(&service.url, KEY);
    let output = project.runner(&["run", "two.yaml", "--jobs", "1"]).expect(3);
    cli_snapshot!("run_task_id_twice", output.sorted());
    project.runner(&["run", "two.yaml"]).expect(3);
    assert_eq!(service.posts(), 2);
    let list = project.runner(&["resolve", "two.yaml"]).expect(3);
    let attempt =
        list.out.lines().nth(1).and_then(|line| line.split_whitespace().next()).expect("an attempt");
    project.runner(&["resolve", "two.yaml", attempt, "--resubmit"]).expect(0);
    project.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!(service.posts(), 3);
}

#[test]
fn submit_429_is_retried_until_accepted() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let proxy = RecordingProxy::start(folder.path().join("service"), |post| {
        if post <= 3 { ResponseFault::TooManyRequests } else { ResponseFault::None }
    });
    let project = Project::new("two.yaml", TWO).against(&proxy.url, KEY);
    let output = project.runner(&["run", "two.yaml"]).expect(0);
    cli_snapshot!("run_throttled", output.sorted());
}

#[test]
fn run_wrong_key_exits_5_and_never_shows_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let proxy = RecordingProxy::start(folder.path().join("service"), |_| ResponseFault::None);
    let wrong_key = "sk-wrong-9876543210";
    let project = Project::new("two.yaml", TWO).against(&proxy.url, wrong_key);
    let output = project.runner(&["-vv", "run", "two.yaml", "--jobs", "1"]).expect(5);
    assert_eq!(proxy.posts().len(), 1, "one refusal is enough");
    // Absent from a log whose lines depend on timing.
    assert!(!output.transcript().contains(wrong_key), "{}", output.transcript());
    let ledger = fs_err::read(project.file(".runner/ledger.db")).expect("a ledger");
    assert!(!ledger.windows(wrong_key.len()).any(|window| window == wrong_key.as_bytes()));
    let output = project.runner(&["run", "two.yaml", "--jobs", "1"]).expect(5);
    cli_snapshot!("run_key_rejected", output);
}

/// A service that refuses connections: its port is bound, so that no other test gets it, and not listened on.
fn unreachable_service() -> (tokio::net::TcpSocket, String) {
    let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
    socket.bind(([127, 0, 0, 1], 0).into()).expect("a free port");
    let address = socket.local_addr().expect("an address");
    (socket, format!("http://{address}"))
}

#[test]
fn run_unreachable_service_exits_5() {
    let (_socket, url) = unreachable_service();
    let one = TWO.split("  - id: two").next().unwrap_or_default();
    let project = Project::new("one.yaml", one).against(&url, KEY);
    let output = project.runner(&["run", "one.yaml"]).expect(5);
    // Sorted, because how often it tries is no matter of this test.
    cli_snapshot!("run_unreachable_service", output.sorted());
}

#[test]
fn failed_after_an_unreachable_service_submits_shots_that_were_not_started() {
    let (_socket, url) = unreachable_service();
    let project = Project::new("two.yaml", TWO).against(&url, KEY);
    // Which of the two is tried last depends on the jitter of their retries.
    project.runner(&["run", "two.yaml", "--jobs", "1"]).expect(5);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let proxy = RecordingProxy::start(folder.path().join("service"), |_| ResponseFault::None);
    let project = project.against(&proxy.url, KEY);
    let output = project.runner(&["run", "two.yaml", "--failed"]).expect(0);
    assert_eq!(proxy.posts().len(), 2, "{}", output.transcript());
}

#[test]
fn missing_video_is_downloaded_again_without_submitting() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let proxy = RecordingProxy::start(folder.path().join("service"), |_| ResponseFault::None);
    let project = Project::new("two.yaml", TWO).against(&proxy.url, KEY);
    project.runner(&["run", "two.yaml"]).expect(0);
    let files: Vec<_> =
        fs_err::read_dir(project.file("out/two")).expect("a folder").filter_map(Result::ok).collect();
    assert_eq!(files.len(), 2);
    fs_err::remove_file(files[0].path()).expect("the file can be removed");
    fs_err::write(files[1].path(), b"not a video").expect("the file can be written");
    let next_run = project.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!(proxy.posts().len(), 2, "{}", next_run.transcript());
    assert!(media::probe(&files[1].path()).is_ok());
}

#[test]
fn concurrent_runs_submit_each_shot_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let proxy = RecordingProxy::start(folder.path().join("service"), |_| ResponseFault::None);
    let project = Project::new("two.yaml", TWO).against(&proxy.url, KEY);
    let mut runs: Vec<_> = (0..3).map(|_| project.start(&["run", "two.yaml"])).collect();
    for run in &mut runs {
        assert_eq!(run.wait().expect("the child ends").code(), Some(0));
    }
    assert_eq!(proxy.posts().len(), 2);
}

#[test]
fn service_url_written_differently_is_the_same_service() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let proxy = RecordingProxy::start(folder.path().join("service"), |_| ResponseFault::None);
    let port = proxy.url.rsplit(':').next().expect("a port").trim_end_matches('/').to_owned();
    let text = "version: 1\nname: sea\ndefaults: {model: modelb-video-480p, seconds: 1, size: 480x480}\nshots: [{id: sea, prompt: a quiet sea}]\n";
    let mut project = Project::new("sea.yaml", text);
    for url in
        ["http://127.0.0.1:P", "http://127.0.0.1:P/v1", "http://127.0.0.1:P/v1/", "http://LOCALHOST:P/"]
    {
        project = project.against(&url.replace(":P", &format!(":{port}")), KEY);
        let output = project.runner(&["run", "sea.yaml"]).expect(0);
        assert_eq!(proxy.posts().len(), 1, "{url}: {}", output.transcript());
    }
}

#[test]
fn unusable_file_of_earlier_video_ends_its_shot_only() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let proxy = RecordingProxy::start(folder.path().join("service"), |_| ResponseFault::None);
    let project = Project::new("two.yaml", TWO).against(&proxy.url, KEY);
    project.runner(&["run", "two.yaml"]).expect(0);
    let file = fs_err::read_dir(project.file("out/two"))
        .expect("a folder")
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .find(|path| path.display().to_string().contains("/one-"))
        .expect("the video of shot `one`");
    fs_err::remove_file(&file).expect("the file can be removed");
    fs_err::create_dir(&file).expect("a folder can be created in its place");
    let output = project.runner(&["run", "two.yaml"]).expect(1);
    cli_snapshot!("run_earlier_video_unusable", output.sorted());
    fs_err::remove_dir(&file).expect("the folder can be removed");
    project.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!(proxy.posts().len(), 2);
}

#[test]
fn unreadable_record_of_earlier_video_ends_its_shot_only() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let proxy = RecordingProxy::start(folder.path().join("service"), |_| ResponseFault::None);
    let project = Project::new("two.yaml", TWO).against(&proxy.url, KEY);
    project.runner(&["run", "two.yaml"]).expect(0);
    let set_cost = |cost: Option<i64>| {
        let ledger = rusqlite::Connection::open(project.file(".runner/ledger.db")).expect("a ledger");
        ledger.execute("UPDATE attempts SET reserved_cost = ?1 WHERE node = 'one'", [cost]).expect("a row");
    };
    set_cost(Some(-1));
    let output = project.runner(&["run", "two.yaml"]).expect(1);
    cli_snapshot!("run_earlier_record_unreadable", output.sorted());
    set_cost(None);
    project.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!(proxy.posts().len(), 2);
}
