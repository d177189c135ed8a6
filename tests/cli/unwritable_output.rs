//! Standard output that cannot be written: the exit code says it, and the run goes on.

use std::fs::File;
use std::process::Stdio;

use crate::support::Project;
use crate::support::project_state::shots;

const SEA: &str = "version: 1\nname: sea\nshots:\n  - {id: sea, model: modelb-video-480p, seconds: 1, size: 480x480, prompt: a quiet sea}\n";

/// Runs the program with a standard output that is full; returns its exit code and what it wrote to standard error.
fn with_full_output(project: &Project, arguments: &[&str]) -> (Option<i32>, String) {
    let full = File::options().write(true).open("/dev/full").expect("/dev/full");
    let output = project.command(arguments).stdout(Stdio::from(full)).stderr(Stdio::piped()).output();
    let output = output.expect("the program can be started");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn output_that_cannot_be_written_exits_5() {
    let project = Project::new("sea.yaml", SEA);
    let run = with_full_output(&project, &["run", "sea.yaml", "--format", "ndjson"]);
    assert_eq!(shots(&project, "sea").len(), 1, "the run goes on: {}", run.1);
    let error = "error: the output cannot be written: No space left on device (os error 28)";
    assert_eq!((run.0, run.1.lines().last()), (Some(5), Some(error)));
    for arguments in [
        &["--help"][..],
        &["--version"],
        &["check", "sea.yaml", "--format", "json"],
        &["plan", "sea.yaml"],
        &["plan", "sea.yaml", "--requests"],
        &["status", "sea.yaml"],
        &["status", "sea.yaml", "--format", "ndjson"],
        &["report", "sea.yaml"],
        &["explain", "sea.yaml"],
        &["services", "show"],
        &["schema", "workflow"],
        &["explain", "duplicate-key"],
        &["completions", "bash"],
        &["run", "sea.yaml", "--format", "ndjson"],
    ] {
        let (code, text) = with_full_output(&project, arguments);
        assert_eq!((code, text.lines().last()), (Some(5), Some(error)), "{arguments:?}: {text}");
    }
}

/// `runner plan … | head`.
#[test]
fn closed_pipe_is_not_an_error() {
    let project = Project::new("sea.yaml", SEA);
    for arguments in [&["plan", "sea.yaml"][..], &["run", "sea.yaml", "--format", "ndjson"], &["--help"]] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = project.command(arguments).stdout(writer).stderr(Stdio::piped()).output();
        let output = output.expect("the program can be started");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            (output.status.code(), text.contains("error: ")),
            (Some(0), false),
            "{arguments:?}: {text}"
        );
    }
    assert_eq!(shots(&project, "sea").len(), 1);
}
