//! Commands on a cluster that cannot be used, or that does not have what they ask for. Restate's ingress is a stub; the commands with a
//! server are run by `cargo xtask cluster test`.

use std::path::Path;

use axum::response::Response;

use crate::support::scripted::{ScriptedService, response};
use crate::support::{Output, Project, cli_snapshot};

const ONE: &str = "version: 1\nname: one\ndefaults: { model: modelb-video-480p, seconds: 1 }\nshots:\n  - { id: lamp, prompt: a lamp }\n";

/// The commands that read a cluster.
const COMMANDS: [&[&str]; 8] = [
    &["run", "one.yaml"],
    &["run", "one.yaml", "--attach", "01NOBODY"],
    &["status", "one.yaml"],
    &["plan", "one.yaml"],
    &["resolve", "one.yaml"],
    &["view", "one.yaml", "--no-open"],
    &["report", "one.yaml"],
    &["ui", "one.yaml", "--no-open"],
];

fn project() -> Project {
    let project = Project::new("one.yaml", ONE);
    fs_err::create_dir_all(project.file("store")).expect("a folder");
    project
}

fn on_cluster(project: &Project, engine: &str, args: &[&str]) -> Output {
    let mut command = project.command(args);
    command.env("RUNNER_ENGINE", engine).env("RUNNER_STORE", store(&project.file("store")));
    Output::from_process(&command.output().expect("the program can be started"))
}

fn store(folder: &Path) -> String {
    format!("file://{}", folder.display())
}

fn json(status: u16, body: &str) -> Response {
    response(status, &[("content-type", "application/json")], body.to_owned())
}

/// An ingress with a worker and without runs.
fn empty_cluster() -> ScriptedService {
    ScriptedService::start(|call| {
        let answer = match call.path {
            "/Engine/describe" => json(
                200,
                r#"{"service": "https://videos.example.com", "account": null, "account_key": "https://videos.example.com"}"#,
            ),
            path if path.ends_with("/events") => json(200, r#"{"head": null, "events": []}"#),
            path if path.starts_with("/RunIndex/") => json(200, "[]"),
            path if path.starts_with("/Node/") && path.ends_with("/read") => json(200, r#"{"attempts": []}"#),
            path if path.starts_with("/Account/") => json(200, "{}"),
            _ => json(500, r#"{"message": "nobody asks for that here"}"#),
        };
        Some(answer)
    })
}

#[test]
fn engine_that_is_not_reachable_exits_5() {
    let project = project();
    // A port that is taken, so that nobody else listens on it, and on which nobody listens.
    let closed = tokio::net::TcpSocket::new_v4().expect("a socket");
    closed.bind("127.0.0.1:0".parse().expect("an address")).expect("a free port");
    let engine = format!("http://{}/", closed.local_addr().expect("an address"));
    for command in COMMANDS {
        let output = on_cluster(&project, &engine, command).expect(5);
        if command[0] == "plan" {
            cli_snapshot!("plan_engine_unreachable", output);
        }
    }
    cli_snapshot!("run_engine_unreachable", on_cluster(&project, &engine, &["run", "one.yaml"]).expect(5));
}

#[test]
fn engine_without_workers_exits_5() {
    let project = project();
    let engine = ScriptedService::start(|_| {
        let body = r#"{"message": "service 'Engine' not found, make sure to register the service before calling it."}"#;
        Some(json(404, body))
    });
    cli_snapshot!("status_no_worker", on_cluster(&project, &engine.url, &["status", "one.yaml"]).expect(5));
}

#[test]
fn store_that_is_missing_exits_5() {
    let project = project();
    let engine = empty_cluster();
    fs_err::remove_dir(project.file("store")).expect("an empty folder");
    cli_snapshot!("run_store_missing", on_cluster(&project, &engine.url, &["run", "one.yaml"]).expect(5));
}

#[test]
fn engine_needs_a_store() {
    let project = project();
    let output = project.runner_with(("RUNNER_ENGINE", "http://127.0.0.1:1/"), &["status"]).expect(2);
    cli_snapshot!("status_engine_without_store", output);
}

#[test]
fn run_that_does_not_exist_exits_2() {
    let project = project();
    let engine = empty_cluster();
    let attach = &["run", "one.yaml", "--attach", "01NOBODY"];
    cli_snapshot!("run_attach_unknown", on_cluster(&project, &engine.url, attach).expect(2));
    let cancel = &["run", "one.yaml", "--attach", "01NOBODY", "--cancel"];
    on_cluster(&project, &engine.url, cancel).expect(2);
    let resolve = &["resolve", "one.yaml", "--run", "01NOBODY"];
    cli_snapshot!("resolve_run_unknown", on_cluster(&project, &engine.url, resolve).expect(2));
}

#[test]
fn commands_show_a_cluster_without_runs() {
    let project = project();
    let engine = empty_cluster();
    let run_on_engine = |args: &[&str], exit| on_cluster(&project, &engine.url, args).expect(exit);
    cli_snapshot!("status_cluster_empty", run_on_engine(&["status", "one.yaml"], 0));
    cli_snapshot!("status_cluster_empty_json", run_on_engine(&["status", "--format", "json"], 0));
    cli_snapshot!("plan_cluster_empty", run_on_engine(&["plan", "one.yaml"], 0));
    cli_snapshot!("resolve_cluster_empty", run_on_engine(&["resolve", "one.yaml"], 0));
    cli_snapshot!("run_cluster_none_failed", run_on_engine(&["run", "one.yaml", "--failed"], 0));
    cli_snapshot!("run_cluster_verify", run_on_engine(&["run", "one.yaml", "--verify"], 2));
    cli_snapshot!(
        "resolve_cluster_unknown_shot",
        run_on_engine(&["resolve", "one.yaml", "lamp", "--resubmit"], 2)
    );
    assert!(!project.file(".runner").exists(), "a command on a cluster leaves no ledger");
}

/// A message of the ingress may contain anything; it is shown on a line, and not longer than needed.
#[test]
fn refusal_of_the_engine_is_quoted() {
    let project = project();
    let engine = ScriptedService::start(|_| Some(json(403, "{\"message\": \"not for \\u001b[31myou\"}")));
    cli_snapshot!("plan_engine_refuses", on_cluster(&project, &engine.url, &["plan", "one.yaml"]).expect(5));
}

#[test]
fn help_of_worker() {
    cli_snapshot!("help_worker", project().runner(&["worker", "--help"]).expect(0));
}
