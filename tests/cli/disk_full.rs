//! A disk that fills up during a run: submitting stops, and every accepted task is recorded or reported.

use std::process::Command;

use crate::crash_random::unclaimed_task;
use crate::support::project_state::{indeterminate, shots};
use crate::support::proxy::{KEY, RecordingProxy};
use crate::support::{Output, Project, cli_snapshot, inline_snapshot};

const SHOTS: usize = 6;

fn workflow(shots: usize) -> String {
    let shots: Vec<String> =
        (1..=shots).map(|shot| format!("  - {{id: s{shot}, prompt: the sea at {shot} o'clock}}\n")).collect();
    let shots = shots.concat();
    format!(
        "version: 1\nname: full\ndefaults: {{model: modelb-video-480p, seconds: 1, size: 480x480}}\nshots:\n{shots}"
    )
}

#[test]
fn disk_full_exits_5_and_every_task_is_recorded_or_reported() {
    let proxy = RecordingProxy::faithful();
    let project = Project::new("full.yaml", &workflow(SHOTS)).against(&proxy.url, KEY);
    project.runner(&["run", "full.yaml", "--only", "s1"]).expect(0);
    let mut ended_early = 0;
    let mut reported_tasks = 0;
    for extra_pages in [1, 2, 3] {
        let ledger = rusqlite::Connection::open(project.file(".runner/ledger.db")).expect("a ledger");
        let pages: u32 = ledger.query_row("PRAGMA page_count", [], |row| row.get(0)).expect("a number");
        drop(ledger);
        let output = project
            .command(&["run", "full.yaml", "--jobs", "2"])
            .env("RUNNER_TEST_LEDGER_PAGES", (pages + extra_pages).to_string())
            .output()
            .expect("the program can be started");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.code() == Some(0) {
            break;
        }
        assert_eq!(output.status.code(), Some(5), "{text}");
        // Which lines come before depends on the page that does not fit.
        let errors: Vec<&str> = text.lines().filter(|line| line.starts_with("error: ")).collect();
        inline_snapshot!(errors.join("\n"), @"error: the ledger [PROJECT]/.runner cannot be used: database or disk is full; nothing more was submitted");
        ended_early += 1;
        // Each as the program itself says: `runner resolve full.yaml ATTEMPT --adopt TASK`.
        for line in text.lines().filter(|line| line.contains("could not be recorded")) {
            let command = line.split('`').nth(1).expect("a command");
            let arguments: Vec<&str> = command.split_whitespace().skip(1).collect();
            project.runner(&arguments).expect(0);
            reported_tasks += 1;
        }
        assert_eq!(
            unclaimed_task(&proxy, &project),
            None,
            "an accepted task is neither on record nor told: {text}"
        );
    }
    assert!(ended_early >= 2, "the disk was full {ended_early} times, {reported_tasks} tasks were told");
    let run = project.runner(&["run", "full.yaml"]);
    // Intents without a response, which the service definitely does not know. Whether there are any depends on the page that did not fit;
    // the run waits for a decision if and only if there are.
    let list = project.runner(&["resolve", "full.yaml"]);
    let attempts = indeterminate(&project, "full.yaml");
    let expected = Some(if attempts.is_empty() { 0 } else { 3 });
    assert_eq!((run.code, list.code), (expected, expected), "{}{}", run.transcript(), list.transcript());
    for attempt in attempts {
        project.runner(&["resolve", "full.yaml", &attempt, "--resubmit"]).expect(0);
    }
    let last = project.runner(&["run", "full.yaml"]).expect(0);
    assert_eq!(
        (proxy.accepted().len(), shots(&project, "full").len()),
        (SHOTS, SHOTS),
        "{}",
        last.transcript()
    );
}

/// Runs the program where the artifact store is a file system of its own; `None` where none can be mounted.
fn with_store_on(options: &str, project: &Project, arguments: &[&str]) -> Option<Output> {
    std::fs::create_dir_all(project.file(".runner/artifacts")).expect("a folder");
    let unshared = |script: &str, arguments: &[&str]| {
        let program = project.command(arguments);
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]);
        command.arg(program.get_program()).args(program.get_args()).current_dir(project.path()).env_clear();
        command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?)))).output()
    };
    let mount = format!("mount -t tmpfs -o {options} tmpfs .runner/artifacts");
    if !unshared(&mount, &[]).is_ok_and(|tried| tried.status.success()) {
        println!("skipped: no file system of limited size can be mounted here");
        return None;
    }
    let output = unshared(&format!("{mount} && exec \"$0\" \"$@\""), arguments);
    Some(Output::from_process(&output.expect("the program can be started")))
}

#[test]
fn nothing_is_submitted_where_videos_cannot_be_stored() {
    let proxy = RecordingProxy::faithful();
    let project = Project::new("full.yaml", &workflow(SHOTS)).against(&proxy.url, KEY);
    let Some(run) = with_store_on("ro,size=1m", &project, &["run", "full.yaml"]) else { return };
    cli_snapshot!("run_read_only_store", run.expect(5));
    assert_eq!(proxy.accepted().len(), 0);
    project.runner(&["run", "full.yaml"]).expect(0);
    assert_eq!(proxy.accepted().len(), SHOTS);
}

#[test]
fn submitting_stops_before_the_disk_is_full() {
    const MANY: usize = 16;
    let proxy = RecordingProxy::faithful();
    // All others begin when the first video is stored.
    let text =
        workflow(MANY).replace("{id: s", "{needs: [s1], id: s").replace("{needs: [s1], id: s1,", "{id: s1,");
    let project = Project::new("full.yaml", &text).against(&proxy.url, KEY);
    // Room for some videos, which take a kilobyte or more.
    let Some(run) = with_store_on("size=12k", &project, &["run", "full.yaml"]) else { return };
    let run = run.expect(5);
    let error = run.err.lines().find(|line| line.starts_with("error: ")).unwrap_or_default();
    assert!(error.starts_with("error: videos cannot be stored: the disk has "), "{error}");
    assert_eq!(proxy.accepted().len(), 1);
    project.runner(&["run", "full.yaml"]).expect(0);
    assert_eq!(proxy.accepted().len(), MANY, "none is paid for twice");
}
