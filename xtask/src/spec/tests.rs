//! Edits of the contract and their reported impact on a workflow.

use contract::Contract;
use serde_json::{Value, json};

use super::report;

const WORKFLOW: &str = r#"version: 1
name: pier
defaults: { seconds: 12, watermark: false }
shots:
  - { id: dawn, model: modela-video-2-0-260128, prompt: the pier, resolution: 1080p, ratio: "16:9" }
  - { id: noon, model: modela-video-2-0-260128, prompt: the pier at noon, continues: dawn, ratio: "16:9" }
  - { id: dusk, model: modelb-video-480p, prompt: the pier again, continues: noon, size: 854x480 }
"#;

fn diff_report(edit: impl FnOnce(&mut Value)) -> (bool, String) {
    let mut document = Contract::embedded().document().clone();
    edit(&mut document["components"]["schemas"]);
    let new = Contract::from_document(document).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pier.yaml");
    fs_err::write(&file, WORKFLOW).unwrap();
    let report = report(Contract::embedded(), &new, folder.path(), &[file]).unwrap();
    (report.breaks(), report.to_text())
}

#[test]
fn unchanged_contract_has_no_impact() {
    let (breaks, text) = diff_report(|_| {});
    assert!(!breaks);
    let expected = "version 1.0.0 as before: nothing changed for callers\n\nworkflows\n  pier.yaml: unchanged requests\n";
    assert_eq!(text, expected);
}

#[test]
fn removed_enum_value_invalidates_workflow() {
    let (breaks, text) = diff_report(|s| s["Resolution"]["enum"] = json!(["480p", "720p"]));
    assert!(breaks);
    assert!(text.contains("pier.yaml: now invalid\n    pier.yaml:5:"), "{text}");
    assert!(text.contains("sent by 1 shot: Resolution: the value \"1080p\" is gone"), "{text}");
}

#[test]
fn changed_default_is_relevant_where_field_is_omitted() {
    let (breaks, text) = diff_report(|s| {
        s["VideoRequestA"]["properties"]["camera_fixed"]["default"] = json!(true);
        s["VideoRequestA"]["properties"]["watermark"]["default"] = json!(true);
    });
    assert!(!breaks);
    assert!(text.contains("pier.yaml: unchanged requests\n"), "{text}");
    assert!(
        text.contains("omitted by 2 shots: VideoRequestA.camera_fixed: default false becomes true"),
        "{text}"
    );
    assert!(!text.contains("shots: VideoRequestA.watermark"), "{text}");
}

#[test]
fn changed_frame_field_changes_requests() {
    let (_, text) = diff_report(|s| {
        s["VideoRequestB"]["x-inputs"]["first_frame"] =
            json!({ "at": "/input_reference", "accepts": ["url"] });
    });
    assert!(text.contains("pier.yaml: changed requests\n    dusk: `/image` null is removed; `/input_reference` null is added"), "{text}");
}

#[test]
fn narrowed_duration_invalidates_workflow() {
    let (breaks, text) = diff_report(|s| {
        s["VideoRequestB"]["properties"]["seconds"]["pattern"] = json!("^([1-9]|10)$");
        s["VideoRequestB"]["properties"]["duration"]["maximum"] = json!(10);
    });
    assert!(breaks);
    assert!(text.contains("pier.yaml: now invalid"), "{text}");
    assert!(text.contains("sent by 1 shot: VideoRequestB.seconds: 1 to 15 becomes 1 to 10"), "{text}");
    assert!(!text.contains("VideoRequestB.duration: `maximum` 15 becomes 10\n  pier"), "{text}");
}

#[test]
fn change_of_nested_field_is_relevant() {
    let (_, text) = diff_report(|s| {
        s["ContentItem"]["properties"]["role"]["enum"]
            .as_array_mut()
            .unwrap()
            .retain(|role| role != "reference_audio");
        s["MediaUrl"]["properties"]["url"]["maxLength"] = json!(2000);
    });
    assert!(text.contains("sent by 1 shot: ContentItem.role"), "{text}");
    assert!(text.contains("sent by 1 shot: MediaUrl.url"), "{text}");
}

#[test]
fn invalid_document_is_rejected_with_location() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("old.yaml");
    fs_err::write(&file, "openapi: 3.1.0\n").unwrap();
    let error = super::document::read(&file).unwrap_err();
    assert!(
        error.contains("old.yaml") && error.contains("at /openapi") && error.contains("3.0.3"),
        "{error}"
    );
    fs_err::write(&file, "openapi: 3.0.3\nopenapi: 3.0.3\n").unwrap();
    assert!(super::document::read(&file).unwrap_err().contains("invalid YAML"));
}
