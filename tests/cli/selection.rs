//! Partial runs: selection flags, `--failed`, `--fail-fast`.

use crate::support::proxy::{KEY, RecordingProxy};
use crate::support::{Project, cli_snapshot};

/// Two chains and a film; moderation withholds `bad` if the profile says so.
const SHOTS: &str = "version: 1
name: parts
defaults: {model: modelb-video-480p, seconds: 1, size: 480x480}
shots:
  - {id: a, prompt: the sea}
  - {id: b, continues: a, prompt: the sea wakes}
  - {id: bad, prompt: a storm}
  - {id: after, continues: bad, prompt: after the storm}
  - {id: z, prompt: a dune}
film: {output: parts.mp4}
";

const STORM: &str = r#"{"faults": [{"fault": {"kind": "moderation", "of": "output"}, "prompt": "a storm"}]}"#;

#[test]
fn partial_run_requires_dependencies() {
    let proxy = RecordingProxy::faithful();
    let project = Project::new("parts.yaml", SHOTS).against(&proxy.url, KEY);

    // Rejected before anything is paid, by `plan` as well, with the missing shots and the flag to add.
    for command in ["plan", "run"] {
        let refused = project.runner(&[command, "parts.yaml", "--only", "b", "after"]).expect(2);
        cli_snapshot!("selection_lacks_dependencies", refused);
        let unknown = project.runner(&[command, "parts.yaml", "--from", "bd"]).expect(2);
        cli_snapshot!("selection_unknown_shot", unknown);
        project.runner(&[command, "parts.yaml", "--downstream"]).expect(2);
        project.runner(&[command, "parts.yaml", "--only", "a", "--from", "a"]).expect(2);
    }
    assert_eq!(proxy.posts().len(), 0);

    let plan = project.runner(&["plan", "parts.yaml", "--from", "b"]).expect(0);
    cli_snapshot!("plan_from", plan);
    let run = project.runner(&["run", "parts.yaml", "--from", "b"]).expect(0);
    assert_eq!(proxy.posts().len(), 2, "b, and a, which it depends on: {}", run.transcript());
    cli_snapshot!("run_from", run);

    // The dependencies exist now; other shots are untouched, and `--rerun` does not reach beyond the selection.
    project.runner(&["run", "parts.yaml", "--only", "b", "--rerun", "a"]).expect(2);
    project.runner(&["run", "parts.yaml", "--only", "b", "--rerun"]).expect(0);
    assert_eq!(proxy.posts().len(), 3);
    let wide = project.runner(&["run", "parts.yaml", "--only", "bad", "--downstream"]).expect(0);
    assert_eq!(proxy.posts().len(), 5, "{}", wide.transcript());
    let none = project.runner(&["run", "parts.yaml", "--failed"]).expect(0);
    cli_snapshot!("run_nothing_failed", none);
    // The last one completes the film, though it is the only one selected.
    let last = project.runner(&["run", "parts.yaml", "--only", "z"]).expect(0);
    assert!(project.file("out/parts/parts.mp4").exists(), "{}", last.transcript());
    cli_snapshot!("run_only_completes_film", last.sorted());
    assert_eq!(proxy.posts().len(), 6);
}

#[test]
fn failed_reruns_failed_shots_and_their_dependents() {
    let proxy = RecordingProxy::with_faults(STORM);
    let project = Project::new("parts.yaml", SHOTS).against(&proxy.url, KEY);
    let none = project.runner(&["run", "parts.yaml", "--failed"]).expect(0);
    cli_snapshot!("run_failed_without_a_run", none);

    let first = project.runner(&["run", "parts.yaml"]).expect(1);
    assert_eq!(proxy.posts().len(), 4, "{}", first.transcript());
    cli_snapshot!("run_shot_failed", first.sorted());
    let plan = project.runner(&["plan", "parts.yaml", "--failed", "--format", "json"]).expect(0);
    let plan: serde_json::Value = serde_json::from_str(&plan.out).expect("a document");
    let decisions: Vec<&str> = plan["shots"]
        .as_array()
        .expect("shots")
        .iter()
        .filter_map(|shot| shot["decision"].as_str())
        .collect();
    assert_eq!(decisions, ["reuse", "reuse", "execute", "deferred", "reuse"]);
    // What failed in another file of the same name is not asked for, nor does its run hide what failed here.
    let other_text = "version: 1\nname: parts\ndefaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }\nshots: [{ id: sea, prompt: a sea }]\n";
    fs_err::write(project.file("other.yaml"), other_text).expect("a writable folder");
    project.runner(&["run", "other.yaml"]).expect(0);
    project.runner(&["run", "parts.yaml", "--failed"]).expect(1);
    assert_eq!(proxy.posts().len(), 6);
    // Another prompt passes.
    fs_err::write(project.file("parts.yaml"), SHOTS.replace("a storm", "a breeze"))
        .expect("a writable folder");
    let next_run = project.runner(&["run", "parts.yaml", "--failed"]).expect(0);
    assert_eq!(proxy.posts().len(), 8, "{}", next_run.transcript());
    assert!(project.file("out/parts/parts.mp4").exists(), "{}", next_run.transcript());
}

#[test]
fn fail_fast_stops_submitting() {
    let proxy = RecordingProxy::with_faults(&STORM.replace("output", "prompt"));
    // The longest chain is submitted first, then file order.
    let text =
        SHOTS.replace("{id: z, prompt: a dune}", "{id: y, prompt: a dune}\n  - {id: z, prompt: a plain}");
    let project = Project::new("parts.yaml", &text).against(&proxy.url, KEY);
    let output = project.runner(&["run", "parts.yaml", "--fail-fast", "--jobs", "1"]).expect(1);
    assert_eq!(proxy.posts().len(), 2, "a was done, bad failed: {}", output.transcript());
    cli_snapshot!("run_fail_fast", output.sorted());
    // A shot that was not started for that reason counts as prevented by the failure.
    let plan = project.runner(&["plan", "parts.yaml", "--failed"]).expect(0);
    cli_snapshot!("plan_failed", plan);
}
