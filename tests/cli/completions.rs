//! What shells, packages and people need besides runs: completions, man pages, the version, explanations of codes.

use serde_json::Value;

use crate::support::{Project, cli_snapshot};

#[test]
fn completions_of_each_shell_name_every_command() {
    let project = Project::new("sea.yaml", "");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = project.runner(&["completions", shell]).expect(0).out;
        // A script has thousands of lines, which clap writes.
        for command in ["explain", "adopt", "max-cost"] {
            assert!(script.contains(command), "{shell} does not complete {command}");
        }
        // Shells that are installed read what is theirs.
        let file = project.file(&format!("completions.{shell}"));
        fs_err::write(&file, script).expect("the folder can be written");
        let is_read = std::process::Command::new(shell).arg("-n").arg(&file).status();
        if let (Ok(status), "bash" | "zsh" | "fish") = (is_read, shell) {
            assert!(status.success(), "{shell} -n");
        } else {
            println!("skipped: {shell} is not installed or has no check of syntax");
        }
    }
    cli_snapshot!("completions_unknown_shell", project.runner(&["completions", "tcsh"]).expect(2));
}

#[test]
fn man_pages_of_every_command() {
    let project = Project::new("sea.yaml", "");
    project.runner(&["man", "man1"]).expect(0);
    let page = |name: &str| fs_err::read_to_string(project.file("man1").join(name)).expect(name);
    // The pages have what `--help` says, which is in docs/reference.md.
    assert!(page("runner.1").contains(".TH runner 1"));
    let run = page("runner-run.1");
    for text in ["max\\-cost", "Examples:", "runner run storyboard.yaml"] {
        assert!(run.contains(text), "{text} is missing in {run}");
    }
    page("runner-ledger-adopt.1");
    page("runner-serve-keys-add.1");
    assert!(!project.file("man1/runner-man.1").exists() && !project.file("man1/runner-help.1").exists());
}

#[test]
fn version_names_the_contract() {
    let project = Project::new("sea.yaml", "");
    let output = project.runner(&["--version"]).expect(0);
    let (program, contract) = (env!("CARGO_PKG_VERSION"), contract::Contract::embedded().version());
    assert_eq!(output.out, format!("runner {program} (video service contract {contract})\n"));
    assert_eq!(project.runner(&["-V"]).expect(0).out, output.out);
}

#[test]
fn explain_code_with_example_and_fix() {
    let project = Project::new("sea.yaml", "");
    cli_snapshot!("explain_code", project.runner(&["explain", "unknown-key"]).expect(0));
    let copied = project.runner(&["explain", "warning[stale-pick]"]).expect(0);
    cli_snapshot!("explain_code_of_warning", copied);
    cli_snapshot!("explain_code_unknown", project.runner(&["explain", "unknwon-key"]).expect(2));
    let document = project.runner(&["explain", "unknown-key", "--format", "ndjson"]).expect(0).out;
    let document: Value = serde_json::from_str(&document).expect("a document");
    assert!(document["meaning"].is_string(), "{document}");
    fs_err::write(project.file("unknown-key"), "shots: []\n").expect("a file");
    let file = project.runner(&["explain", "unknown-key"]).expect(2);
    assert!(file.err.contains("unknown-key:1"), "the file counts first: {}", file.err);
}
