//! `services` and `schema`.

use contract::Contract;
use serde_json::Value;

use crate::support::program::root;
use crate::support::{Project, cli_snapshot};

#[test]
fn models_table() {
    let project = Project::new("any.yaml", "");
    insta::assert_snapshot!(project.runner(&["services", "show"]).expect(0).transcript());
}

#[test]
fn models_json_and_ndjson() {
    let project = Project::new("any.yaml", "");
    let document: Value =
        serde_json::from_str(&project.runner(&["services", "show", "--format", "json"]).expect(0).out)
            .expect("one document");
    let lines = project.runner(&["services", "show", "--format", "ndjson"]).expect(0).out;
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
fn services_are_listed_and_shown() {
    let project = Project::new("any.yaml", "");
    cli_snapshot!("services_list", project.runner(&["services", "list"]).expect(0));
    cli_snapshot!("services_show_any_model", project.runner(&["services", "show", "new-api"]).expect(0));
    cli_snapshot!("services_show_unknown", project.runner(&["services", "show", "arc"]).expect(2));
}

/// What a description reads from an answer is seen before a cent is spent.
#[test]
fn saved_answer_is_read() {
    let project = Project::new("any.yaml", "");
    let read = |service: &str, status: &str, answer: &str| {
        fs_err::write(project.file("saved.json"), answer).expect("a writable folder");
        let check = ["services", "check", service, "--answer", "saved.json", "--status", status];
        project.runner(&check).expect(0).out
    };
    let done = r#"{"id":"cgt-1","status":"succeeded","content":{"video_url":"https://t/v.mp4"}}"#;
    let refused = r#"{"code":"c","error":"Prompt rejected by content moderation."}"#;
    let lost = "<html>upstream failed</html>";
    let all = [read("ark", "200", done), read("xai", "422", refused), read("ark", "502", lost)].join("\n");
    insta::assert_snapshot!("saved_answers", all);
}

#[test]
fn description_is_checked_with_place_and_remedy() {
    let project = Project::new("any.yaml", "");
    let sound = fs_err::read_to_string(root().join("services/xai.yaml")).expect("a description");
    let edited = sound.replace("/duration", "/length");
    assert_ne!(edited, sound);
    fs_err::write(project.file("mine.yaml"), sound).expect("a writable folder");
    fs_err::write(project.file("broken.yaml"), edited).expect("a writable folder");
    cli_snapshot!("services_check_sound", project.runner(&["services", "check", "mine.yaml"]).expect(0));
    cli_snapshot!("services_check_broken", project.runner(&["services", "check", "broken.yaml"]).expect(2));
}

#[test]
fn descriptions_are_compared() {
    let workflow = "version: 1\nname: sea\nservice: xai\nshots:\n  \
                    - {id: sea, model: grok-imagine-video, seconds: 12, ratio: \"16:9\", prompt: a quiet sea}\n";
    let project = Project::new("sea.yaml", workflow);
    let old = fs_err::read_to_string(root().join("services/xai.yaml")).expect("a description");
    let new = old.replace("maximum: 15", "maximum: 10").replace("default: 480p", "default: 720p");
    fs_err::write(project.file("new.yaml"), new).expect("a writable folder");
    fs_err::write(project.file("twice.yaml"), "openapi: 3.0.3\nopenapi: 3.0.3\n").expect("a writable folder");
    let plain = "openapi: 3.0.3\ninfo: {title: t, version: '1'}\npaths:\n  /clips:\n    post: {responses: {'200': {description: a task}}}\n";
    for (name, text) in [
        ("plain.yaml", plain.to_owned()),
        ("plainer.yaml", plain.replace("post", "put")),
        ("newer.yaml", plain.replace("3.0.3", "3.1.0")),
    ] {
        fs_err::write(project.file(name), text).expect("a writable folder");
    }
    for (name, exit, arguments) in [
        ("services_diff_compatible", 0, &["new.yaml", "xai"][..]),
        ("services_diff_breaking", 1, &["xai", "new.yaml", "--workflow", "sea.yaml"]),
        ("services_diff_invalid", 2, &["xai", "twice.yaml"]),
        ("services_diff_plain", 1, &["plain.yaml", "plainer.yaml"]),
        ("services_diff_plain_of_3_1", 2, &["plain.yaml", "newer.yaml"]),
        ("services_diff_plain_with_workflow", 2, &["plain.yaml", "xai", "--workflow", "sea.yaml"]),
        ("services_diff_missing_workflow", 2, &["xai", "new.yaml", "--workflow", "dune.yaml"]),
    ] {
        cli_snapshot!(name, project.runner(&[&["services", "diff"], arguments].concat()).expect(exit));
    }
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
