//! `models` and `schema`.

use contract::Contract;
use serde_json::Value;

use crate::support::Project;
use crate::support::program::root;

#[test]
fn models_table() {
    let project = Project::new("any.yaml", "");
    insta::assert_snapshot!(project.runner(&["models"]).expect(0).transcript());
}

#[test]
fn models_json_and_ndjson() {
    let project = Project::new("any.yaml", "");
    let whole: Value = serde_json::from_str(&project.runner(&["models", "--format", "json"]).expect(0).out)
        .expect("one document");
    let lines = project.runner(&["models", "--format", "ndjson"]).expect(0).out;
    let lines: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("a document a line")).collect();
    assert_eq!(whole["models"], Value::from(lines));
    let ids: Vec<&Value> =
        whole["models"].as_array().expect("a list").iter().map(|model| &model["id"]).collect();
    let known: Vec<&str> = Contract::embedded().models().iter().map(|model| model.id.as_str()).collect();
    assert_eq!(ids, known);
    insta::assert_json_snapshot!(
        "models_first_and_last",
        [&whole["models"][0], &whole["models"][known.len() - 1]]
    );
}

#[test]
fn schema_matches_published_file() {
    let project = Project::new("any.yaml", "");
    let printed = project.runner(&["schema"]).expect(0);
    assert_eq!(printed.err, "");
    let published = fs_err::read_to_string(root().join("workflows/workflow.schema.json"))
        .expect("the schema is published");
    assert_eq!(printed.out, published, "fix it with `cargo xtask generate`");
}

#[test]
fn closed_stdout_exits_0() {
    let project = Project::new("any.yaml", "");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let ended = project.command(&["schema"]).stdout(writer).output().expect("the runner starts");
    assert_eq!((ended.status.code(), String::from_utf8_lossy(&ended.stderr).as_ref()), (Some(0), ""));
}
