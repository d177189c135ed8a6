//! Edits of the contract, and what they mean to a workflow beside the examples.

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

fn told(edit: impl FnOnce(&mut Value)) -> (bool, String) {
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
fn nothing_changed() {
    let (breaks, text) = told(|_| {});
    assert!(!breaks);
    let expected =
        "version 1.0.0 as before: nothing changed for callers\n\nworkflows\n  pier.yaml: the same requests\n";
    assert_eq!(text, expected);
}

#[test]
fn a_value_that_a_shot_sends_is_gone() {
    let (breaks, text) = told(|s| s["Resolution"]["enum"] = json!(["480p", "720p"]));
    assert!(breaks);
    assert!(text.contains("pier.yaml: refused now\n    pier.yaml:5:"), "{text}");
    assert!(text.contains("sent by 1 shot: Resolution: the value \"1080p\" is gone"), "{text}");
}

#[test]
fn another_default_concerns_who_leaves_the_field_out() {
    let (breaks, text) = told(|s| {
        s["VideoRequestA"]["properties"]["camera_fixed"]["default"] = json!(true);
        s["VideoRequestA"]["properties"]["watermark"]["default"] = json!(true);
    });
    assert!(!breaks);
    assert!(text.contains("pier.yaml: the same requests\n"), "{text}");
    assert!(
        text.contains("left out by 2 shots: VideoRequestA.camera_fixed: default false becomes true"),
        "{text}"
    );
    assert!(!text.contains("shots: VideoRequestA.watermark"), "{text}");
}

#[test]
fn frames_that_go_elsewhere_move_requests() {
    let (_, text) = told(|s| {
        s["VideoRequestB"]["x-inputs"]["first_frame"] = json!({ "field": "input_reference" });
    });
    assert!(text.contains("pier.yaml: other requests\n    dusk: `/image` null is not sent any more; `/input_reference` null is sent too"), "{text}");
}

#[test]
fn shorter_videos_are_refused_where_they_are_asked_for() {
    let (breaks, text) = told(|s| {
        s["VideoRequestB"]["properties"]["seconds"]["pattern"] = json!("^([1-9]|10)$");
        s["VideoRequestB"]["properties"]["duration"]["maximum"] = json!(10);
    });
    assert!(breaks);
    assert!(text.contains("pier.yaml: refused now"), "{text}");
    assert!(text.contains("sent by 1 shot: VideoRequestB.seconds: 1 to 15 becomes 1 to 10"), "{text}");
    assert!(!text.contains("VideoRequestB.duration: `maximum` 15 becomes 10\n  pier"), "{text}");
}

#[test]
fn a_field_deep_in_metadata_is_found_in_the_request() {
    let (_, text) = told(|s| {
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
fn a_document_that_does_not_hold_together_is_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("old.yaml");
    fs_err::write(&file, "openapi: 3.1.0\n").unwrap();
    let refused = super::document::read(&file).unwrap_err();
    assert!(
        refused.contains("old.yaml") && refused.contains("at /openapi") && refused.contains("3.0.3"),
        "{refused}"
    );
    fs_err::write(&file, "openapi: 3.0.3\nopenapi: 3.0.3\n").unwrap();
    assert!(super::document::read(&file).unwrap_err().contains("not valid YAML"));
}
