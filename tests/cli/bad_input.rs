//! Invalid workflows: a diagnostic at its location, exit code 2, nothing submitted, nothing written.

use serde_json::Value;

use crate::support::{Project, cli_snapshot};

/// Runs an invalid workflow and checks that nothing but output came of it.
#[track_caller]
fn refused(text: &str) -> String {
    let project = Project::new("bad.yaml", text);
    let run = project.runner(&["run", "bad.yaml"]).expect(2);
    assert!(run.out.is_empty(), "standard output is for results: {}", run.out);
    let files: Vec<_> =
        fs_err::read_dir(project.path()).expect("the folder").filter_map(Result::ok).collect();
    assert_eq!(files.len(), 1, "something was written");
    let check = project.runner(&["check", "bad.yaml"]).expect(2);
    assert_eq!(run.err, check.err, "run and check say the same");
    let plan = project.runner(&["plan", "bad.yaml"]).expect(2);
    assert_eq!(run.err, plan.err, "run and plan say the same");
    run.err
}

/// A workflow of family A with `shots`.
fn shots(shots: &str) -> String {
    format!(
        "version: 1\nname: bad\ndefaults:\n  model: modela-video-2-0-260128\n  ratio: \"16:9\"\nshots:\n{shots}"
    )
}

#[test]
fn check_reports_all_problems_at_once() {
    let text = shots(
        "  - id: pier
    prompt: \"{{ keper }} on the pier\"
    secnds: 5
  - id: sea
    continues: peer
    prompt: the sea
    seconds: 16
  - id: sea
    prompt: the sea again
    seconds: 5
    duration: 5
  - id: still
    model: modelb-video-1.5-preview-480p
    prompt: a still picture
",
    );
    insta::assert_snapshot!(refused(&text));
}

/// No part of it in any format, whether or not the file can be read as YAML.
#[test]
fn check_api_key_in_file() {
    let key = "sk-PLANTED0123456789abcdef";
    let text = format!("api_key: {key}\n{}", shots("  - { id: a, prompt: one, seconds: 5 }\n"));
    let errors = refused(&text);
    insta::assert_snapshot!(errors);
    for text in
        [text.clone(), text.replace("shots:", "shots: ["), format!("{text}  - api-key: |\n      {key}\n")]
    {
        let project = Project::new("bad.yaml", &text);
        for format in ["text", "json"] {
            let output = project.runner(&["check", "bad.yaml", "--format", format]).expect(2);
            // A snapshot has the whole text of one; this is about all formats.
            assert!(!output.transcript().contains("PLANTED"), "{}", output.transcript());
            assert!(!output.transcript().contains("abcdef"), "{}", output.transcript());
        }
    }
}

#[test]
fn check_json_diagnostics() {
    let project = Project::new(
        "bad.yaml",
        &shots("  - { id: a, prompt: one, secnds: 5 }\n  - { id: a, prompt: two }\n"),
    );
    let output = project.runner(&["check", "bad.yaml", "--format", "ndjson"]).expect(2);
    cli_snapshot!("check_json_diagnostics", output);
    let document = project.runner(&["check", "bad.yaml", "--format", "json"]).expect(2).out;
    let document: Value = serde_json::from_str(&document).expect("one document");
    let lines: Vec<Value> =
        output.out.lines().map(|line| serde_json::from_str(line).expect("a document a line")).collect();
    assert_eq!(document["diagnostics"], Value::from(lines));
}

#[test]
fn check_github_annotations() {
    let project = Project::new("bad.yaml", &shots("  - { id: a, prompt: \"one, 50 %\", secnds: 5 }\n"));
    let arguments = ["check", "bad.yaml", "missing.yaml", "--format", "github"];
    cli_snapshot!("check_github_annotations", project.runner(&arguments).expect(2));
}

#[test]
fn color_follows_terminal_no_color_and_flag() {
    let project = Project::new("bad.yaml", &shots("  - { id: a, prompt: one, secnds: 5 }\n"));
    let is_colored = |arguments: &[&str], no_color: bool| {
        let mut command = project.command(arguments);
        if no_color {
            command.env("NO_COLOR", "1");
        }
        let output = command.output().expect("the program can be started");
        assert_eq!(output.status.code(), Some(2));
        output.stderr.contains(&0x1b)
    };
    assert!(!is_colored(&["check", "bad.yaml"], false), "this is no terminal");
    assert!(is_colored(&["--color", "always", "check", "bad.yaml"], false));
    assert!(is_colored(&["check", "bad.yaml", "--color", "always"], true), "the flag overrides NO_COLOR");
    assert!(!is_colored(&["check", "bad.yaml", "--color", "never"], false));
    // A pseudo-terminal, where there is a program that makes one.
    let program = env!("CARGO_BIN_EXE_runner-under-test");
    for (setting, expected) in [("NO_COLOR=", true), ("NO_COLOR=1", false)] {
        let command_line = format!("env {setting} TERM=xterm '{program}' check bad.yaml");
        let terminal_output = std::process::Command::new("script")
            .args(["-qec", &command_line, "/dev/null"])
            .current_dir(project.path())
            .stdin(std::process::Stdio::null())
            .output();
        match terminal_output {
            Ok(terminal_output) => {
                assert_eq!(
                    terminal_output.stdout.contains(&0x1b),
                    expected,
                    "{}",
                    String::from_utf8_lossy(&terminal_output.stdout)
                );
            }
            Err(_) => println!("skipped: there is no `script` to make a terminal with"),
        }
    }
}

/// Read as `-o nly=a`, it would render everything, into a folder `nly=a`.
#[test]
fn long_flags_with_one_dash_are_refused() {
    let project =
        Project::new("w.yaml", &shots("  - {id: a, prompt: a pier}\n  - {id: b, prompt: a lamp}\n"));
    cli_snapshot!("run_long_flag_with_one_dash", project.runner(&["run", "w.yaml", "-only=a"]).expect(2));
    assert!(!project.file("out").exists() && !project.file(".runner").exists(), "nothing was rendered");
    // Values and short flags with their values are not meant.
    project.runner(&["plan", "w.yaml", "-oout/other"]).expect(0);
    project.runner(&["edit", "w.yaml", "a", "--prompt", "-seed of doubt", "--dry-run"]).expect(0);
}
