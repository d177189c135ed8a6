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
    let document: Value =
        serde_json::from_str(&project.runner(&["models", "--format", "json"]).expect(0).out)
            .expect("one document");
    let lines = project.runner(&["models", "--format", "ndjson"]).expect(0).out;
    let lines: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("a document a line")).collect();
    assert_eq!(document["models"], Value::from(lines));
    let ids: Vec<&Value> =
        document["models"].as_array().expect("a list").iter().map(|model| &model["id"]).collect();
    let expected: Vec<&str> = Contract::embedded().models().iter().map(|model| model.id.as_str()).collect();
    assert_eq!(ids, expected);
    insta::assert_json_snapshot!(
        "models_first_and_last",
        [&document["models"][0], &document["models"][expected.len() - 1]]
    );
}

#[test]
fn schema_matches_published_file() {
    let project = Project::new("any.yaml", "");
    let output = project.runner(&["schema"]).expect(0);
    assert_eq!(output.err, "");
    let published = fs_err::read_to_string(root().join("workflows/workflow.schema.json"))
        .expect("the schema is published");
    assert_eq!(output.out, published, "fix it with `cargo xtask generate`");
}

#[test]
fn closed_stdout_exits_0() {
    let project = Project::new("any.yaml", "");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = project.command(&["schema"]).stdout(writer).output().expect("the runner starts");
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}
