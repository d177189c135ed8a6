//! Services that ask to wait, or that answer slowly; proxies.

use std::time::{Duration, Instant};

use crate::support::program::Output;
use crate::support::proxy::KEY;
use crate::support::scripted::{ScriptedService, response, task_id};
use crate::support::{Project, cli_snapshot, inline_snapshot};

fn project(service: &ScriptedService, shot: &str) -> Project {
    let text = format!(
        "version: 1\nname: sea\ndefaults: {{model: modelb-video-480p, seconds: 1}}\nshots:\n  - {{id: sea, prompt: a quiet sea{shot}}}\n"
    );
    Project::new("sea.yaml", &text).against(&service.url, KEY)
}

#[test]
fn throttled_polls_end_at_the_shots_timeout() {
    let service = ScriptedService::start(|call| {
        let is_poll = call.path == format!("/v1/videos/{}", task_id(1));
        is_poll
            .then(|| response(429, &[("retry-after", "1000000000")], r#"{"error":{"message":"too many"}}"#))
    });
    let started = Instant::now();
    // Longer than a first poll takes on a busy machine, and shorter than the minute after which the next one is due.
    let output = project(&service, ", timeout: 3").runner(&["run", "sea.yaml"]).expect(3);
    assert!(started.elapsed() < Duration::from_mins(1), "{:?}", started.elapsed());
    assert_eq!(service.posts(), 1);
    cli_snapshot!("run_polls_throttled", output);
}

#[test]
fn throttled_download_uses_the_content_endpoint() {
    let service = ScriptedService::start(|call| {
        let is_file = call.path.starts_with("/files/");
        is_file.then(|| response(503, &[("retry-after", "86400")], "later"))
    });
    let output = project(&service, "").runner(&["run", "sea.yaml"]).expect(0);
    assert_eq!(service.gets(&format!("/v1/videos/{}/content", task_id(1))), 1);
    cli_snapshot!("run_download_throttled", output);
}

#[test]
fn refusals_with_retry_after_zero_are_retried_with_back_off() {
    let service = ScriptedService::start(|call| {
        let is_early = call.path == "/v1/videos" && call.nth <= 4;
        is_early.then(|| response(429, &[("retry-after", "0")], r#"{"error":{"message":"too many"}}"#))
    });
    let started = Instant::now();
    project(&service, "").runner(&["run", "sea.yaml"]).expect(0);
    assert_eq!(service.posts(), 5);
    assert!(started.elapsed() >= Duration::from_millis(100 + 200 + 400 + 800), "{:?}", started.elapsed());
}

#[test]
fn resolve_adopt_asks_again_after_a_gateways_error() {
    let service = ScriptedService::start(|call| match call.path {
        "/v1/videos" => Some(response(502, &[], "<html>Bad Gateway</html>")),
        "/v1/videos/task-7" if call.nth <= 3 => Some(response(502, &[], "<html>Bad Gateway</html>")),
        _ => None,
    });
    let project = project(&service, "");
    project.runner(&["run", "sea.yaml"]).expect(3);
    let list = project.runner(&["resolve", "sea.yaml"]).expect(3);
    let attempt =
        list.out.lines().nth(1).and_then(|line| line.split_whitespace().next()).expect("an attempt");
    project.runner(&["resolve", "sea.yaml", attempt, "--adopt", "task-7"]).expect(0);
    assert_eq!(service.gets("/v1/videos/task-7"), 4);
    project.runner(&["run", "sea.yaml"]).expect(0);
    assert_eq!(service.posts(), 1);
}

#[test]
fn proxy_variables_do_not_concern_a_service_on_this_machine() {
    let service = ScriptedService::start(|_| None);
    let project = project(&service, "");
    // Nobody listens there, and the last one is no proxy at all.
    let mut command = project.command(&["run", "sea.yaml"]);
    for (name, value) in [
        ("http_proxy", "http://127.0.0.1:9"),
        ("HTTPS_PROXY", "http://127.0.0.1:9"),
        ("ALL_PROXY", "gopher://127.0.0.1:9"),
    ] {
        command.env(name, value);
    }
    let output = command.output().expect("the program can be started");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn proxy_that_cannot_be_used_is_reported_without_its_password() {
    let service = ScriptedService::start(|_| None);
    let project = project(&service, "").against("https://service.invalid", KEY);
    let mut command = project.command(&["run", "sea.yaml"]);
    command.env("https_proxy", "socks4://me:proxy-secret@127.0.0.1:9");
    let output = command.output().expect("the program can be started");
    inline_snapshot!(Output::from_process(&output).transcript(), @"
    exit code: 2
    --- stdout
    --- stderr
    error: https_proxy is not the URL of a proxy: socks4 is not supported, only http, https, socks5 and socks5h are
    hint: set it to a URL such as http://proxy.example:3128, or name the service's host in NO_PROXY
    ");
    assert_eq!(service.posts(), 0);
}
