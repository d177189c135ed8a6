//! `plan` and `explain`: costs before and after a run, and why a shot would be rendered again.

use serde_json::Value;

use crate::support::proxy::{KEY, RecordingProxy};
use crate::support::{Project, cli_snapshot};

const CHAIN: &str = "version: 1
name: chain
defaults: {model: modelb-video-480p, seconds: 1}
shots:
  - {id: one, prompt: a quiet sea}
  - {id: two, continues: one, prompt: a loud sea}
film: {output: chain.mp4}
";

const PRICES: &str = "version: 1
currency: EUR
as_of: 2026-01-31
source: a test
prices:
  - {model: modelb-video-480p, per_second: 0.03}
";

#[test]
fn costs_are_reported_and_changes_explained() {
    let proxy = RecordingProxy::faithful();
    let project = Project::new("chain.yaml", CHAIN).against(&proxy.url, KEY);
    fs_err::write(project.file("prices.yaml"), PRICES).expect("the folder can be written");

    cli_snapshot!("plan_priced", project.runner(&["plan", "chain.yaml"]).expect(0));
    let run = project.runner(&["run", "chain.yaml"]).expect(0);
    cli_snapshot!("run_priced", run);

    let summary = project.runner(&["run", "chain.yaml", "--format", "json"]).expect(0);
    let summary: Value = serde_json::from_str(&summary.out).expect("one document");
    assert_eq!((&summary["submitted"], &summary["spending"]["made"]), (&0.into(), &0.into()));
    cli_snapshot!("explain_unchanged", project.runner(&["explain", "chain.yaml", "two"]).expect(0));

    let edited = CHAIN.replace("a quiet sea", "a restless sea").replace("seconds: 1", "seconds: 2");
    fs_err::write(project.file("chain.yaml"), edited).expect("the folder can be written");
    cli_snapshot!("explain_changed", project.runner(&["explain", "chain.yaml"]).expect(0));
    let json = project.runner(&["explain", "chain.yaml", "one", "--format", "json"]).expect(0).out;
    let json: Value = serde_json::from_str(&json).expect("one document");
    assert_eq!(json["shots"][0]["nearest"]["changes"][0]["now"]["value"], "a restless sea");
    let plan = project.runner(&["plan", "chain.yaml", "--format", "json"]).expect(0).out;
    let plan: Value = serde_json::from_str(&plan).expect("one document");
    assert_eq!(plan["totals"]["cost"]["max"], "0.12");
    let unknown = project.runner(&["explain", "chain.yaml", "tow"]).expect(2);
    cli_snapshot!("explain_unknown_shot", unknown);
    assert_eq!(proxy.posts().len(), 2, "nothing was submitted but by `run`");
}

#[test]
fn plan_requests_prints_exact_requests() {
    let project = Project::new("chain.yaml", CHAIN);
    insta::assert_snapshot!(project.runner(&["plan", "chain.yaml", "--requests"]).expect(0).transcript());
}

#[test]
fn invalid_price_table_is_reported_in_place() {
    let project = Project::new("chain.yaml", CHAIN);
    fs_err::write(project.file("dear.yaml"), PRICES.replace("0.03", "a lot"))
        .expect("the folder can be written");
    for command in ["plan", "run"] {
        let refused = project.runner(&[command, "chain.yaml", "--prices", "dear.yaml"]).expect(2);
        cli_snapshot!("invalid_price_table", refused);
        let missing = project.runner(&[command, "chain.yaml", "--prices", "none.yaml"]).expect(2);
        cli_snapshot!("missing_price_table", missing);
    }
    assert!(!project.file(".runner").exists(), "nothing was written");
}

/// A dry run counts what the run with the same arguments submits, and options before the file do not swallow it.
#[test]
fn dry_run_is_the_plan_of_that_run() {
    let project = Project::new("chain.yaml", CHAIN);
    project.runner(&["run", "chain.yaml"]).expect(0);
    let plan = |arguments: &[&str]| {
        let arguments = [&["run", "--dry-run"], arguments, &["chain.yaml", "--format", "json"]].concat();
        let output = project.runner(&arguments).expect(0);
        let document: Value = serde_json::from_str(&output.out).expect("one document");
        document["totals"]["tasks"]["max"].clone()
    };
    let run = |arguments: &[&str]| {
        let arguments = [&["run"], arguments, &["chain.yaml", "--format", "json"]].concat();
        let output = project.runner(&arguments).expect(0);
        let document: Value = serde_json::from_str(&output.out).expect("one document");
        document["submitted"].clone()
    };
    for (arguments, submitted) in [
        (&["--fail-fast"][..], 0),
        (&["--rerun", "two", "--fail-fast"], 1),
        (&["--rerun", "one", "--fail-fast"], 2),
        (&["--salt", "other"], 2),
        (&["--salt", "third", "--only", "one", "--fail-fast"], 1),
    ] {
        assert_eq!(plan(arguments), submitted, "{arguments:?}");
        assert_eq!(run(arguments), submitted, "{arguments:?}");
    }
}

/// A list of shots before the file takes the file for a shot; that is noticed.
#[test]
fn file_after_a_list_of_shots_is_understood() {
    let project = Project::new("chain.yaml", CHAIN);
    cli_snapshot!("plan_file_after_only", project.runner(&["plan", "--only", "one", "chain.yaml"]));
    cli_snapshot!("plan_file_after_from", project.runner(&["plan", "--from", "two", "chain.yaml"]));
    cli_snapshot!("run_file_after_force", project.runner(&["run", "--force", "chain.yaml"]));
}
