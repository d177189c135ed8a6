//! The commands of docs/ci.md, and the script of the action for GitHub.

use std::path::PathBuf;

use serde_json::Value;

use crate::support::program::Output;
use crate::support::program::root;
use crate::support::proxy::{KEY, RecordingProxy};
use crate::support::transcript::REDACTIONS;
use crate::support::{Project, cli_snapshot};

const WORKFLOW: &str = "version: 1
name: pier
defaults: {model: modelb-video-480p, seconds: 1, size: 480x480}
shots:
  - {id: pier, prompt: a pier in rain}
  - {id: sea, continues: pier, prompt: the sea}
film: {output: pier.mp4}
";

const PRICES: &str = "version: 1
currency: EUR
as_of: 2026-01-31
source: https://example.com/prices
prices:
  - {model: modelb-video-480p, per_second: 0.10}
";

/// How long a shot took, in a report for JUnit and in Markdown.
const SECONDS: (&str, &str) = (r#"(time="|\| 1\.0 \| )\d+\.\d+"#, "$1[SECONDS]");

fn project() -> Project {
    let project = Project::new("storyboard.yaml", WORKFLOW);
    fs_err::write(project.file("prices.yaml"), PRICES).expect("the folder can be written");
    project
}

/// The commands in the block of docs/ci.md for other systems, without redirections and comments.
fn documented_commands() -> Vec<(Vec<String>, Option<String>)> {
    let page = fs_err::read_to_string(root().join("docs/ci.md")).expect("the page");
    let block = page.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block");
    let command = |line: &str| {
        let line = line.split(" #").next().unwrap_or_default();
        let (command, file) =
            line.split_once(" > ").map_or((line, None), |(command, file)| (command, Some(file)));
        let words = command.split_whitespace().skip(1).map(str::to_owned).collect();
        (words, file.map(|file| file.trim().to_owned()))
    };
    block.lines().map(command).collect()
}

#[test]
fn commands_for_ci_systems_succeed() {
    let project = project();
    let commands = documented_commands();
    assert_eq!(commands.len(), 4, "{commands:?}");
    for (arguments, file) in commands {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = project.runner(&arguments).expect(0);
        match file.as_deref() {
            Some("plan.json") => {
                let plan: Value = serde_json::from_str(&output.out).expect("a document");
                assert_eq!(plan["shots"].as_array().map(Vec::len), Some(2), "{plan}");
            }
            Some(file) => {
                assert_eq!(file, "events.ndjson");
                assert!(output.out.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
            }
            None => {}
        }
    }
    let report = fs_err::read_to_string(project.file("report.xml")).expect("a report");
    insta::with_settings!({ filters => [REDACTIONS, &[SECONDS]].concat(), omit_expression => true }, {
        insta::assert_snapshot!("ci_report", report);
    });
}

/// The script of the action, with the program on PATH as `runner`.
#[cfg(unix)]
fn action(project: &Project, variables: &[(&str, &str)]) -> (Output, String) {
    let bin = project.file("bin");
    fs_err::create_dir_all(&bin).expect("the folder can be written");
    let program = PathBuf::from(env!("CARGO_BIN_EXE_runner-under-test"));
    if !bin.join("runner").exists() {
        std::os::unix::fs::symlink(program, bin.join("runner")).expect("a link");
    }
    let summary = project.file("summary.md");
    drop(fs_err::remove_file(&summary));
    let path = std::env::join_paths(
        std::iter::once(bin).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let mut command = std::process::Command::new(root().join(".github/actions/runner/command.sh"));
    command
        .env_clear()
        .env("PATH", path.expect("a path"))
        .env("RUNNER_TEST_RENDERER", "stub")
        .env("GITHUB_STEP_SUMMARY", &summary)
        .env("GITHUB_OUTPUT", project.file("output"))
        .env("REPORT", project.file("runner-report.md"))
        .env("FILE", "storyboard.yaml")
        .envs(variables.iter().copied())
        .current_dir(project.path());
    let output = Output::from_process(&command.output().expect("the script can be started"));
    (output, fs_err::read_to_string(summary).unwrap_or_default())
}

#[cfg(unix)]
#[test]
fn action_checks_with_annotations() {
    let project = project();
    let (output, _) = action(&project, &[("COMMAND", "check"), ("ARGS", "--deny-warnings")]);
    assert_eq!(output.expect(0).out, "");
    fs_err::write(project.file("storyboard.yaml"), WORKFLOW.replace("seconds", "secnds")).expect("the file");
    let (output, _) = action(&project, &[("COMMAND", "check")]);
    cli_snapshot!("action_check", output.expect(2));
    let file_text = fs_err::read_to_string(project.file("output")).expect("outputs");
    assert_eq!(file_text, "exit-code=0\nexit-code=2\n");
}

/// For a pull request of a fork: a service is named, and there is no key.
#[cfg(unix)]
#[test]
fn action_plans_without_a_key() {
    let project = project();
    let variables =
        [("COMMAND", "plan"), ("RUNNER_BASE_URL", "https://api.example.com"), ("RUNNER_API_KEY", "")];
    let (output, summary) = action(&project, &variables);
    output.expect(0);
    assert_eq!(fs_err::read_to_string(project.file("runner-report.md")).expect("a report"), summary);
    insta::assert_snapshot!("action_plan_summary", summary);
}

#[cfg(unix)]
#[test]
fn action_runs_within_a_cap_only() {
    let proxy = RecordingProxy::faithful();
    let project = project();
    let service = [("COMMAND", "run"), ("RUNNER_BASE_URL", proxy.url.as_str()), ("RUNNER_API_KEY", KEY)];
    let (output, _) = action(&project, &service);
    cli_snapshot!("action_run_without_cap", output.expect(2));
    let (output, _) = action(&project, &[&service[..], &[("MAX_COST", "0.10")]].concat());
    output.expect(4);
    assert!(proxy.posts().is_empty());
    let (output, summary) = action(&project, &[&service[..], &[("MAX_COST", "0.20")]].concat());
    output.expect(0);
    assert_eq!(proxy.posts().len(), 2);
    insta::with_settings!({ filters => [REDACTIONS, &[SECONDS]].concat(), omit_expression => true }, {
        insta::assert_snapshot!("action_run_summary", summary);
    });
    assert!(project.file("runner-report.xml").exists());
    // The next job has the ledger, and pays for nothing.
    let (output, _) = action(&project, &[&service[..], &[("MAX_COST", "0.01")]].concat());
    output.expect(0);
    assert_eq!(proxy.posts().len(), 2);
}
