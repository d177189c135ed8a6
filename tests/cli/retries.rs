//! `retry` in a workflow: each attempt is a recorded task within the caps and the estimate.

use crate::support::proxy::{KEY, RecordingProxy};
use crate::support::{Project, cli_snapshot, inline_snapshot};

const STORM: &str = "version: 1
name: storm
defaults: {model: modelb-video-480p, seconds: 1, size: 480x480}
shots:
  - {id: storm, prompt: a storm, retry: 3}
";

/// Moderation withholds a part of what it sees: with this seed the first video, and not the second.
const HALF_IS_WITHHELD: &str =
    r#"{"seed": 2, "faults": [{"fault": {"kind": "moderation", "of": "output"}, "chance": 0.5}]}"#;

/// The attempts on record: how each ended, and whether its key is that of the first.
fn attempts(project: &Project) -> Vec<(String, bool)> {
    let ledger = rusqlite::Connection::open(project.file(".runner/ledger.db")).expect("a ledger");
    let mut statement = ledger
        .prepare(
            "SELECT state, key = (SELECT key FROM attempts LIMIT 1) FROM attempts ORDER BY intended_at, id",
        )
        .expect("attempts");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("rows");
    rows.collect::<Result<_, _>>().expect("rows")
}

#[test]
fn retry_records_a_second_attempt() {
    let proxy = RecordingProxy::with_faults(HALF_IS_WITHHELD);
    let project = Project::new("storm.yaml", STORM).against(&proxy.url, KEY);
    let plan = project.runner(&["plan", "storm.yaml"]).expect(0);
    cli_snapshot!("plan_retries", plan);
    let output = project.runner(&["run", "storm.yaml"]).expect(0);
    assert_eq!(proxy.posts().len(), 2, "{}", output.transcript());
    assert_eq!(attempts(&project), [("failed".to_owned(), true), ("completed".to_owned(), true)]);
    cli_snapshot!("run_retried", output);
    let next_run = project.runner(&["run", "storm.yaml"]).expect(0);
    assert_eq!(proxy.posts().len(), 2, "{}", next_run.transcript());
}

/// A run of one shot that has three attempts, at a service whose renderer fails, allowed one submission a minute: it waits for its second
/// attempt as soon as the first has failed.
#[cfg(unix)]
fn waiting_for_retry() -> (crate::serve::ServeProcess, Project) {
    let text = "version: 1
name: st
defaults: {model: modelb-video-480p, seconds: 1}
shots:
  - {id: bad, prompt: a sea, retry: {attempts: 3, on: [failed]}}
";
    let project = Project::new("st.yaml", text);
    let created = project.runner(&["serve", "keys", "add", "tests"]).expect(0);
    let served = crate::serve::serve(&project, "sh -c \"exit 9\"");
    let project = project.against(&served.url, created.out.trim());
    (served, project)
}

#[cfg(unix)]
const ONE_A_MINUTE: &[&str] = &["run", "st.yaml", "--max-submits-per-minute", "1", "--format", "json"];

/// Whether the first attempt has failed, as the ledger says.
#[cfg(unix)]
fn has_failed(project: &Project) -> bool {
    project.file(".runner/ledger.db").exists()
        && rusqlite::Connection::open(project.file(".runner/ledger.db"))
            .and_then(|ledger| {
                ledger.query_row("SELECT EXISTS (SELECT 1 FROM attempts WHERE state = 'failed')", [], |row| {
                    row.get(0)
                })
            })
            .unwrap_or(false)
}

#[cfg(unix)]
#[test]
fn status_between_attempts_is_waiting_for_retry() {
    let (_served, project) = waiting_for_retry();
    let mut run = project.start(ONE_A_MINUTE);
    crate::support::wait_until("the first attempt fails", || has_failed(&project));
    let text = project.runner(&["status", "st.yaml"]);
    let json = project.runner(&["status", "st.yaml", "--format", "json"]);
    drop(run.kill());
    drop(run.wait());
    // With the number of the next attempt, and why the first one failed.
    cli_snapshot!("status_waiting_for_retry", text);
    let status: serde_json::Value = serde_json::from_str(&json.out).expect("a document");
    let shot = &status["shots"][0];
    assert_eq!(
        (&shot["state"], &shot["retry"]["number"], &shot["retry"]["of"]),
        (&"waiting-for-retry".into(), &2.into(), &3.into()),
        "{status}"
    );
}

#[cfg(unix)]
#[test]
fn interrupt_between_attempts_reports_the_submission_and_its_failure() {
    let (_served, project) = waiting_for_retry();
    let mut command = project.command(ONE_A_MINUTE);
    let output =
        project.runner_signalled(&mut command, &mut [("TERM", &mut || has_failed(&project))]).expect(130);
    let summary: serde_json::Value = serde_json::from_str(&output.out).expect("a document");
    let shot = &summary["shots"][0];
    assert_eq!((&summary["submitted"], &shot["retries"]), (&1.into(), &0.into()), "{summary}");
    assert_eq!(summary["budget"]["spent"]["tasks"], 1, "{summary}");
    assert_eq!(shot["outcome"]["outcome"], "failed", "{summary}");
    inline_snapshot!(shot["outcome"]["failure"]["message"].as_str().unwrap_or_default(), @"the renderer failed with exit code 9");
    assert!(shot["task"].is_string(), "{summary}");
    let status = project.runner(&["status", "st.yaml"]);
    cli_snapshot!("status_interrupted_between_attempts", status);
}
