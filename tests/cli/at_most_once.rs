//! Misbehaving services, wrong keys and concurrent runs: no shot is submitted twice.

use crate::support::project_state::accepted;
use crate::support::proxy::{KEY, RecordingProxy};
use crate::support::scripted::{ScriptedService, response, task_id};
use crate::support::{Project, cli_snapshot, inline_snapshot};

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
    let proxy = RecordingProxy::losing_first("a quiet sea");
    let project = Project::new("two.yaml", TWO).against(&proxy.url, KEY);

    let first = project.runner(&["run", "two.yaml"]).expect(3);
    cli_snapshot!("run_indeterminate", first.sorted());
    assert_eq!(proxy.posts().len(), 2, "the other shot is made around it");

    let second = project.runner(&["run", "two.yaml"]).expect(3);
    assert_eq!(proxy.posts().len(), 2, "it is not submitted again: {}", second.transcript());

    let list = project.runner(&["resolve", "two.yaml"]).expect(3);
    cli_snapshot!("resolve_list", list);
    let unknown = project.runner(&["resolve", "two.yaml", "no-such-attempt", "--resubmit"]).expect(2);
    cli_snapshot!("resolve_unknown_attempt", unknown);
    let planned = project.runner(&["plan", "two.yaml"]).expect(0);
    assert_eq!(planned.printed_commands(), ["runner resolve two.yaml one".to_owned()].into());
    cli_snapshot!("plan_indeterminate", planned);
    let resolved = project.runner(&["resolve", "two.yaml", "one", "--resubmit"]).expect(0);
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

/// Two takes are the same request, and the service names one task for both: once it is adopted for one, nothing proposes it for the other.
#[test]
fn task_that_was_adopted_is_not_suggested_for_another_shot() {
    let body = format!(r#"{{"task_id": "{}", "error": {{"message": "an error inside"}}}}"#, task_id(77));
    let service = ScriptedService::start(move |call| {
        let is_lost = call.path == "/v1/videos" && call.nth <= 2;
        is_lost.then(|| response(500, &[("content-type", "application/json")], body.clone()))
    });
    let text = TWO.split("  - id: two").next().expect("the first shot").to_owned() + "    takes: 2\n";
    let project = Project::new("two.yaml", &text).against(&service.url, KEY);
    project.runner(&["run", "two.yaml"]).expect(3);
    let adopt = format!("--adopt {}", task_id(77));
    assert_eq!(project.runner(&["resolve", "two.yaml"]).expect(3).out.matches(&adopt).count(), 2);
    project.runner(&["resolve", "two.yaml", "one#1", "--adopt", &task_id(77)]).expect(0);
    let left = project.runner(&["resolve", "two.yaml", "--format", "json"]).expect(3);
    let left: serde_json::Value = serde_json::from_str(&left.out).expect("a list");
    let second = format!("runner resolve two.yaml {}", left[0]["attempt"].as_str().expect("an attempt"));
    for (command, code) in [("status", 3), ("resolve", 3), ("plan", 0), ("run", 3), ("resolve", 3)] {
        let output = project.runner(&[command, "two.yaml"]).expect(code);
        assert!(!output.transcript().contains(&adopt), "{}", output.transcript());
        let named = ["runner resolve two.yaml 'one#2'", "runner resolve two.yaml one#2", &second];
        assert!(named.iter().any(|name| output.out.contains(name)), "{}", output.transcript());
    }
    assert_eq!(service.posts(), 2);
}

const ASKED: &str = r#"version: 1
name: asked
defaults: { model: modela-video-2-0-260128, resolution: 480p, ratio: "16:9", seconds: 5 }
shots:
  - { id: one, prompt: a quiet sea, seed: 7 }
  - { id: two, prompt: a loud sea }
  - { id: three, prompt: no sea }
"#;

#[test]
fn submissions_are_listed_with_what_they_asked_for_and_resolved_together() {
    let service = ScriptedService::start(|call| {
        let is_lost = call.path == "/v1/videos" && call.nth <= 4;
        is_lost.then(|| response(500, &[], ""))
    });
    let project = Project::new("asked.yaml", ASKED).against(&service.url, KEY);
    let other = ASKED
        .split("  - { id: two")
        .next()
        .expect("the first shot")
        .replace("asked", "other")
        .replace("quiet", "green");
    fs_err::write(project.file("other.yaml"), other).expect("a writable folder");
    project.runner(&["run", "other.yaml"]).expect(3);
    project.runner(&["run", "asked.yaml"]).expect(3);
    cli_snapshot!(
        "resolve_list_of_several",
        project.runner(&["resolve", "asked.yaml", "one", "two"]).expect(3)
    );
    let list = project.runner(&["resolve", "asked.yaml", "--format", "ndjson"]).expect(3);
    let rows = list.out.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    let asked =
        rows.filter(|row| row["shot"] == "one").map(|row| (row["prompt"].clone(), row["seed"].clone()));
    assert!(
        asked.eq([("a green sea".into(), "7".into()), ("a quiet sea".into(), "7".into())]),
        "{}",
        list.out
    );

    project.runner(&["resolve", "asked.yaml", "two", "three", "--adopt", "task_x"]).expect(2);
    project.runner(&["resolve", "asked.yaml", "--all", "--adopt", "task_x"]).expect(2);
    project.runner(&["resolve", "asked.yaml", "--all", "three", "--resubmit"]).expect(2);
    // The shot of this workflow is meant, not that of the other one.
    let resolved = project.runner(&["resolve", "asked.yaml", "one", "two", "--resubmit"]).expect(0);
    inline_snapshot!(resolved.out, @"
    one: the next run submits it again
    two: the next run submits it again
    ");
    let resolved = project.runner(&["resolve", "asked.yaml", "--all", "--abandon"]).expect(0);
    inline_snapshot!(resolved.out, @"three: abandoned: counted as spent, and not submitted again unless `runner run asked.yaml --rerun three` asks for it");
    let left = project.runner(&["resolve", "."]).expect(3);
    assert_eq!(
        left.out.matches("attempt ").count(),
        2,
        "that of the other workflow, and the abandoned one: {}",
        left.out
    );
    project.runner(&["run", "asked.yaml"]).expect(1);
    assert_eq!(service.posts(), 6);
}

/// A wrong base URL: a gateway answers every path with a page.
#[test]
fn submit_to_another_server_stops_after_its_first_response() {
    let profile = r#"{"faults": [{"fault": {"kind": "error_response", "on": "create", "status": 404, "body": "html"}}]}"#;
    let proxy = RecordingProxy::with_faults(profile);
    let project = Project::new("two.yaml", TWO).against(&proxy.url, KEY);
    let output = project.runner(&["run", "two.yaml", "--jobs", "1"]).expect(5);
    cli_snapshot!("run_other_server", output);
    assert_eq!(proxy.posts().len(), 1);
}

#[test]
fn run_wrong_key_exits_5_and_never_shows_it() {
    let proxy = RecordingProxy::faithful();
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
fn concurrent_runs_submit_each_shot_once() {
    let proxy = RecordingProxy::faithful();
    let project = Project::new("two.yaml", TWO).against(&proxy.url, KEY);
    let mut runs: Vec<_> = (0..3).map(|_| project.start(&["run", "two.yaml"])).collect();
    for run in &mut runs {
        let code = run.wait().expect("the child ends").code();
        assert_eq!(code, Some(0), "{:?}", fs_err::read_to_string(project.file("child.log")));
    }
    assert_eq!(proxy.posts().len(), 2);
}

#[cfg(unix)]
#[test]
fn link_to_a_workflow_file_has_its_ledger_and_its_picks() {
    let text = format!("{TWO}    takes: 2\n");
    let project = Project::new("two.yaml", &text);
    project.runner(&["run", "two.yaml"]).expect(0);
    project.runner(&["pick", "two.yaml", "two", "2"]).expect(0);
    std::fs::create_dir(project.file("links")).expect("a folder");
    std::os::unix::fs::symlink("../two.yaml", project.file("links/sea.yaml")).expect("a link");
    let run = project.runner(&["run", "links/sea.yaml"]).expect(0);
    assert_eq!(accepted(&project), 3, "{}", run.transcript());
    assert!(!project.file("links/.runner").exists());
}
