//! What would be made and what it costs, before and after; and why a shot is made again.

use serde_json::Value;

use crate::support::Project;
use crate::support::proxy::{KEY, RecordingProxy, ResponseFault};

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

/// Names of attempts, times and hashes change with every run.
fn steady(text: &str) -> String {
    let mut out = Vec::new();
    for line in text.lines() {
        let words: Vec<String> = line
            .split(' ')
            .map(|word| {
                let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
                let hex =
                    |length: usize| bare.len() == length && bare.bytes().all(|byte| byte.is_ascii_hexdigit());
                let replacement = if bare.len() > 17 && bare.contains('T') && bare.contains('-') {
                    if bare.ends_with('Z') { "<time>" } else { "<attempt>" }
                } else if hex(12) {
                    "<key>"
                } else if let Some((before, _)) = bare.split_once("sha256:") {
                    return format!("{before}<hash>");
                } else {
                    return word.to_owned();
                };
                word.replace(bare, replacement)
            })
            .collect();
        out.push(words.join(" "));
    }
    out.join("\n")
}

#[test]
fn costs_are_reported_and_changes_explained() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let proxy = RecordingProxy::start(folder.path().join("service"), |_| ResponseFault::None);
    let project = Project::new("chain.yaml", CHAIN).against(&proxy.url, KEY);
    fs_err::write(project.file("prices.yaml"), PRICES).expect("the folder can be written");

    let first = project.runner(&["plan", "chain.yaml"]).expect(0).out;
    assert!(first.contains("cost: 0.03 to 0.06 EUR"), "{first}");
    let run = project.runner(&["run", "chain.yaml"]).expect(0);
    assert!(run.err.contains("cost: 0.03 to 0.06 EUR"), "{}", run.transcript());
    assert!(run.out.contains("spent: 0.06 EUR for 2 videos"), "{}", run.transcript());

    let again = project.runner(&["run", "chain.yaml", "--format", "json"]).expect(0);
    let again: Value = serde_json::from_str(&again.out).expect("one document");
    assert_eq!((&again["submitted"], &again["spending"]["made"]), (&0.into(), &0.into()));
    let same = project.runner(&["explain", "chain.yaml", "two"]).expect(0).out;
    assert!(same.contains("two: reuse") && same.contains("its key is that of attempt"), "{same}");

    let edited = CHAIN.replace("a quiet sea", "a restless sea").replace("seconds: 1", "seconds: 2");
    fs_err::write(project.file("chain.yaml"), edited).expect("the folder can be written");
    insta::assert_snapshot!(steady(&project.runner(&["explain", "chain.yaml"]).expect(0).out));
    let json = project.runner(&["explain", "chain.yaml", "one", "--format", "json"]).expect(0).out;
    let json: Value = serde_json::from_str(&json).expect("one document");
    assert_eq!(json["shots"][0]["nearest"]["changes"][0]["now"]["value"], "a restless sea");
    let plan = project.runner(&["plan", "chain.yaml", "--format", "json"]).expect(0).out;
    let plan: Value = serde_json::from_str(&plan).expect("one document");
    assert_eq!(plan["totals"]["cost"]["most"], "0.12");
    let unknown = project.runner(&["explain", "chain.yaml", "tow"]).expect(2);
    assert!(unknown.err.contains("did you mean `two`?"), "{}", unknown.transcript());
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
        assert!(
            refused.err.contains("dear.yaml:6:44") && refused.err.contains("amount of money"),
            "{}",
            refused.transcript()
        );
        let missing = project.runner(&[command, "chain.yaml", "--prices", "none.yaml"]).expect(2);
        assert!(missing.err.contains("none.yaml"), "{}", missing.transcript());
    }
    assert!(!project.file(".runner").exists(), "nothing was written");
}
