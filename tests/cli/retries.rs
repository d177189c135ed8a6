//! `retry` in the file: each attempt is a task with an intent of its own, within the caps, foreseen by the estimate.

use service::FaultProfile;

use crate::support::Project;
use crate::support::proxy::{KEY, RecordingProxy};

/// With this seed the first video is withheld and the second is not.
const SEED: u64 = 2;

const STORM: &str = "version: 1
name: storm
defaults: {model: modelb-video-480p, seconds: 1, size: 480x480}
shots:
  - {id: storm, prompt: a storm, retry: 3}
";

/// Moderation withholds a part of what it sees; which part, the seed decides.
fn proxy(folder: &tempfile::TempDir, seed: u64, chance: f64) -> RecordingProxy {
    let profile = format!(
        r#"{{"seed": {seed}, "faults": [{{"fault": {{"kind": "moderation", "of": "output"}}, "chance": {chance}}}]}}"#
    );
    RecordingProxy::with_faults(
        folder.path().join("service"),
        FaultProfile::from_json(&profile).expect("a profile"),
    )
}

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
    let folder = tempfile::tempdir().expect("a temporary folder");
    let proxy = proxy(&folder, SEED, 0.5);
    let project = Project::new("storm.yaml", STORM).against(&proxy.url, KEY);
    let plan = project.runner(&["plan", "storm.yaml"]).expect(0);
    assert!(plan.out.contains("to submit: 1 to 3 tasks, 1 to 3 seconds"), "{}", plan.transcript());
    assert!(plan.out.contains("retries: up to 2 of them"), "{}", plan.transcript());
    let ended = project.runner(&["run", "storm.yaml"]).expect(0);
    assert_eq!(proxy.posts().len(), 2, "{}", ended.transcript());
    assert_eq!(attempts(&project), [("failed".to_owned(), true), ("completed".to_owned(), true)]);
    let again = project.runner(&["run", "storm.yaml"]).expect(0);
    assert!(again.out.contains("nothing was submitted"), "{}", again.transcript());
}

#[test]
fn retry_respects_caps() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let proxy = proxy(&folder, 0, 1.0);
    let project = Project::new("storm.yaml", STORM).against(&proxy.url, KEY);
    let capped = project.runner(&["run", "storm.yaml", "--max-tasks", "2"]).expect(4);
    assert_eq!(proxy.posts().len(), 2, "{}", capped.transcript());
    assert_eq!(attempts(&project), [("failed".to_owned(), true), ("failed".to_owned(), true)]);
}
